// SPDX-License-Identifier: Apache-2.0
// Facts about the tiles along one axis, for explanations of tilings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "patchfold/tiling.hpp"

namespace patchfold::explaining {

/// Returns "512 x 256".
std::string extents_text(const Dims& extents);

/// A run of elements of an axis that lie in the same tiles, with the number of these tiles.
struct TileRun {
  Span elements{};
  std::int64_t tiles = 0;
};

/// Returns the runs of [begin, end), in order. `spans` has the elements of each tile.
std::vector<TileRun> tile_runs(const std::vector<Span>& spans, std::int64_t begin, std::int64_t end);

/// The smallest, the largest and the mean number of tiles that contribute to an element along an axis of the output.
struct TileCounts {
  std::int64_t least = 0, most = 0;
  double mean = 0;
};
/// Returns the counts; nothing if there are too many tiles to examine each one.
std::optional<TileCounts> tile_counts(const Tiling& tiling, int axis);

/// Returns the reduction of a merge and its window in words: "mean, weighted by the window hann".
std::string merge_words(const MergeSpec& merge);
/// Returns the weights of a whole tile's result along an axis. The list is empty if the window has no weights along single axes, or
/// if the tile is too long.
std::vector<double> axis_weights(const Tiling& tiling, const MergeSpec& merge, int axis);

/// What each of some tiles contributes to one element along an axis of the output.
struct Shares {
  std::vector<double> weights{};  ///< the window's weights; 0 for a tile that does not reach the element
  std::vector<double> parts{};    ///< each tile's part of the output's element
};
/// Returns the shares at `element`. `tiles` are tiles by their numbers along the axis, in ascending order.
Shares shares_at(const Tiling& tiling, const MergeSpec& merge, int axis, const std::vector<double>& weights,
                 const std::vector<std::int64_t>& tiles, std::int64_t element);

/// Returns lines that explain where the tiles of an axis lie.
std::vector<std::string> axis_lines(const Tiling& tiling, int axis);
/// Returns lines about the number of elements and bytes that tiling and merging move.
std::vector<std::string> work_lines(const Tiling& tiling, const MergeSpec& merge);

}  // namespace patchfold::explaining
