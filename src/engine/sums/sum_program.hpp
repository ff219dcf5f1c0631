// SPDX-License-Identifier: Apache-2.0
// Writes the programs of kernels/sum_map.hpp.
//
// A program makes a sorted map, one phase after another. A phase holds the elements whose coordinates have the same residues modulo
// the strides, in the order of the positions. If all strides are 1, the sorted map is the map itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/map_walk.hpp"
#include "kernels/sum_map.hpp"

namespace patchfold::engine {

/// The order in which the columns of a map are read.
///   in_order  for columns in memory, which is fastest to read from its first byte to its last: tap by tap
///   together  for columns in a cache, or in pieces that lie far apart: a few taps at a time, so that sums are loaded less often
enum class Reads : std::uint8_t { in_order, together };

/// A program with its lists; it holds no pointers into tensors, since offsets count from the map's columns and from its sums.
struct SumPlan {
  /// Elements of a map of means to which no tap points.
  struct Hole {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  std::vector<kernels::SumStep> steps{};
  std::vector<kernels::SumRun> runs{};
  std::vector<kernels::SumTerm> terms{};
  std::vector<std::uint8_t> masks{};
  std::vector<double> counts{};  ///< for means
  std::vector<Hole> holes{};
  std::int64_t elements = 0;  ///< number of elements of the sorted map
  std::int64_t lanes = 0;
  std::vector<int> order{};  ///< windows of a phase, from the outermost to the innermost

  kernels::SumProgram program() const noexcept { return {steps, runs, terms.data(), masks.data(), lanes, counts.data()}; }
};

/// Returns the program of a map with these windows; nothing if the program would have too many terms. The positions of one
/// window must lie side by side in memory.
std::optional<SumPlan> plan_sums(const std::vector<Window>& windows, const kernels::SumMapKernel& kernel,
                                 std::int64_t element_size, Reads reads, bool is_mean);

}  // namespace patchfold::engine
