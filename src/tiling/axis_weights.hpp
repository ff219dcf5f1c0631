// SPDX-License-Identifier: Apache-2.0
// The weights of the tiles of a segment along one axis, normalised over these tiles.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// Lists of weights along single axes. Most segments of an axis lie in their tiles as others do, and share a list: nearly
/// all cells of a merge find theirs made. The Merger keeps one of these; CellPlans point to its lists.
class AxisWeights {
 public:
  /// For each tile of the segment the weights of the segment's elements, one tile after the other.
  struct List {
    std::vector<double> weights{};
    std::vector<float> rough{};  ///< the same in float32, for means that begin with sums of float32; else empty
  };

  explicit AxisWeights(const Rules& rules) : rules_(rules) {}
  /// The list of a segment, with each weight `repeat` times. Means have weights that add up to 1 over the tiles.
  const List& of(int axis, std::int64_t segment, std::int64_t repeat);
  /// A list of `count` weights of 1.
  const List& ones(std::int64_t count);

 private:
  /// The axis, or -1 for weights of 1; the extent; the number of tiles; where the segment begins in its first and in its
  /// last tile; the repeat. Only the last tile of an axis may lie out of step, so these two say where all others begin.
  using Key = std::tuple<int, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  List made(int axis, const Segment& segment, std::int64_t repeat) const;
  List with_rough(std::vector<double> weights) const;

  const Rules& rules_;
  std::map<Key, List> lists_{};
};

}  // namespace patchfold::tiling
