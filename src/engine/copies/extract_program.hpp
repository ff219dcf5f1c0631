// SPDX-License-Identifier: Apache-2.0
// Writes the programs of kernels/extract_map.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/map_walk.hpp"
#include "kernels/extract_map.hpp"

namespace patchfold::engine {

/// A program with its lists; it holds no pointers into tensors.
struct ExtractPlan {
  std::vector<kernels::ExtractStep> steps{};
  std::vector<std::uint8_t> masks{};
  std::int64_t low = 0;  ///< as in ExtractProgram
  std::int64_t high = 0;
  kernels::ExtractProgram program() const noexcept { return {steps, masks.data(), low, high}; }
};

/// Writes the program of a map whose columns have no gaps: its taps in the order of the windows, and then its positions in the
/// order of walk_order(). The image strides of the windows are those of the map that the program reads. In a sorted map the image
/// stride of the innermost window leads to the next element of a phase, and phases lie `phase_pitch` bytes apart. Returns
/// nothing if the program would have too many steps.
std::optional<ExtractPlan> plan_extract(const std::vector<Window>& windows, const kernels::ExtractMapKernel& kernel,
                                        std::int64_t element_size, std::int64_t phase_pitch);

}  // namespace patchfold::engine
