// SPDX-License-Identifier: Apache-2.0
// Writes the programs of kernels/sum_map.hpp.
//
// Along each window the coordinates of one residue modulo the stride form a phase: coordinate m * stride + residue is its
// element m. Neighbouring elements of a phase meet the same taps at neighbouring positions. A program makes the map sorted:
// one phase of all windows after another, each a box of the elements m. Without strides that is the map itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/problem.hpp"
#include "kernels/sum_map.hpp"

namespace patchfold::engine {

/// How the columns of a map reach the processor.
///   in_order  from memory, which is fastest if they are read from the first byte to the last: tap by tap
///   together  from a cache, or in pieces that lie apart: a few taps at a time, so that sums are loaded less often
enum class Reads : std::uint8_t { in_order, together };

/// One axis of a map.
struct MapAxis {
  Window window{};          ///< a dim is a window of one tap whose positions are its elements
  std::int64_t phases = 1;  ///< residues that the image has
  std::int64_t length = 1;  ///< elements of a phase; of the last phases the last one may lie outside of the image
};

/// The windows of a map, in the order of the taps, as axes.
std::vector<MapAxis> map_axes(const std::vector<Window>& windows);

/// A program and what it consists of.
struct SumPlan {
  std::vector<kernels::SumStep> steps{};
  std::vector<kernels::SumRun> runs{};
  std::vector<kernels::SumTerm> terms{};
  std::vector<std::uint8_t> masks{};
  std::int64_t elements = 0;  ///< of the sorted map
  std::int64_t lanes = 0;
  std::vector<int> order{};  ///< of the axes in a phase, from the outermost to the one whose elements are neighbours

  kernels::SumProgram program() const noexcept { return {steps, runs, terms.data(), masks.data(), lanes}; }
};

/// The program of a map whose column elements lie side by side along the axis with the smallest position stride. Nothing if
/// it would be long.
std::optional<SumPlan> plan_sums(const std::vector<MapAxis>& axes, const kernels::SumMapKernel& kernel,
                                 std::int64_t element_size, Reads reads);

}  // namespace patchfold::engine
