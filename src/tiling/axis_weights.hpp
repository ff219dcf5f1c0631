// SPDX-License-Identifier: Apache-2.0
// The weights of the tiles of a segment along one axis, normalised over these tiles.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// Makes and keeps the lists of weights along single axes; a merge has one AxisWeights. Segments of the same length, with
/// equally many tiles and at the same offsets in these tiles, share one list; in a regular tiling nearly all segments do. A
/// list never moves or changes, since CellPlans point to it.
class AxisWeights {
 public:
  /// The weights of a segment's elements in each of its tiles, one tile after the other.
  struct List {
    std::vector<double> weights{};
    std::vector<float> rough{};  ///< the weights in float32, if the kernels may use them (Rules::has_rough_weights); else empty
  };

  explicit AxisWeights(const Rules& rules) : rules_(rules) {}
  /// Returns the list of a segment, with each weight `repeat` times. For means, the weights of an element add up to 1 over the
  /// tiles.
  const List& of(int axis, std::int64_t segment, std::int64_t repeat);
  /// Returns a list of `count` weights of 1.
  const List& ones(std::int64_t count);

 private:
  /// The facts that determine a list: axis (-1 for weights of 1), extent, number of tiles, offsets of the segment in its first and
  /// its last tile, repeat. Only the last tile of an axis may be shifted, so these two offsets determine the offsets in all other
  /// tiles.
  using Key = std::tuple<int, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  List made(int axis, const Segment& segment, std::int64_t repeat) const;
  List with_rough(std::vector<double> weights) const;

  const Rules& rules_;
  std::map<Key, List> lists_{};
};

}  // namespace patchfold::tiling
