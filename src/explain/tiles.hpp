// SPDX-License-Identifier: Apache-2.0
// What an explanation says of the tiles along one axis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "patchfold/tiling.hpp"

namespace patchfold::explaining {

/// A part of an axis of the output that the same tiles give, and how many these are.
struct TileRun {
  Span elements{};
  std::int64_t tiles = 0;
};

/// The runs of [begin, end) in order; `spans` are in ascending order of their beginnings.
std::vector<TileRun> tile_runs(const std::vector<Span>& spans, std::int64_t begin, std::int64_t end);

/// How often the elements of an axis of the output are given.
struct TileCounts {
  std::int64_t least = 0, most = 0;
  double mean = 0;
};
/// Nothing if there are too many tiles to look at each.
std::optional<TileCounts> tile_counts(const Tiling& tiling, int axis);

/// The window and the rule of a merge, in words: "mean, weighted by the window hann".
std::string merge_words(const MergeSpec& merge);
/// The weights of a whole tile's result along an axis; empty where the window has none along single axes, or where the tile
/// is too long to look at each element.
std::vector<double> axis_weights(const Tiling& tiling, const MergeSpec& merge, int axis);

/// What each tile of a list gives to one element of the output.
struct Shares {
  std::vector<double> weights{};  ///< of the window; 0 where a tile does not reach
  std::vector<double> parts{};    ///< of the result
};
/// `tiles`: numbers of tiles along the axis, in ascending order.
Shares shares_at(const Tiling& tiling, const MergeSpec& merge, int axis, const std::vector<double>& weights,
                 const std::vector<std::int64_t>& tiles, std::int64_t element);

/// Lines that say how the tiles of an axis come about.
std::vector<std::string> axis_lines(const Tiling& tiling, int axis);
/// Lines about the number of elements and bytes.
std::vector<std::string> work_lines(const Tiling& tiling, const MergeSpec& merge);

}  // namespace patchfold::explaining
