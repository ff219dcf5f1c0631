// SPDX-License-Identifier: Apache-2.0
// Facts about the tiles along one axis, for explanations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "patchfold/tiling.hpp"

namespace patchfold::explaining {

/// Returns "512 x 256".
std::string extents_text(const Dims& extents);

/// A part of an axis of the output whose elements come from the same tiles, and the number of these tiles.
struct TileRun {
  Span elements{};
  std::int64_t tiles = 0;
};

/// Returns the runs of [begin, end) in order; `spans` are in ascending order of their beginnings.
std::vector<TileRun> tile_runs(const std::vector<Span>& spans, std::int64_t begin, std::int64_t end);

/// The smallest, the largest and the mean number of tiles that contribute to an element of an axis of the output.
struct TileCounts {
  std::int64_t least = 0, most = 0;
  double mean = 0;
};
/// Returns the counts; nothing if there are too many tiles to examine each.
std::optional<TileCounts> tile_counts(const Tiling& tiling, int axis);

/// Returns the window and the rule of a merge in words: "mean, weighted by the window hann".
std::string merge_words(const MergeSpec& merge);
/// Returns the weights of a whole tile's result along an axis. The result is empty if the window has no weights along single axes,
/// or if the tile is too long to examine each element.
std::vector<double> axis_weights(const Tiling& tiling, const MergeSpec& merge, int axis);

/// The contributions of the tiles of a list to one element of the output.
struct Shares {
  std::vector<double> weights{};  ///< weights of the window; 0 for a tile that does not reach the element
  std::vector<double> parts{};    ///< parts of the result
};
/// Returns the shares of `tiles`, the numbers of tiles along the axis, in ascending order.
Shares shares_at(const Tiling& tiling, const MergeSpec& merge, int axis, const std::vector<double>& weights,
                 const std::vector<std::int64_t>& tiles, std::int64_t element);

/// Returns lines that explain the places of an axis's tiles.
std::vector<std::string> axis_lines(const Tiling& tiling, int axis);
/// Returns lines about the numbers of elements and bytes.
std::vector<std::string> work_lines(const Tiling& tiling, const MergeSpec& merge);

}  // namespace patchfold::explaining
