// SPDX-License-Identifier: Apache-2.0
#include "tiling/cells.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "base/index.hpp"
#include "tiling/names.hpp"

namespace patchfold::tiling {
namespace {

/// The most tiles along one axis, since a list holds the span of each tile.
constexpr std::int64_t most_tiles = std::int64_t{1} << 22;
/// The most entries of all segments of an axis together, one for each tile that covers a segment.
constexpr std::int64_t most_covers = std::int64_t{1} << 28;
/// The most cells of a slab, since the ledger keeps a count for each cell.
constexpr std::int64_t most_cells = std::int64_t{1} << 27;

/// Returns twice the coordinate of a tile's middle.
std::int64_t middle(const TileSpan& span, std::int64_t result) {
  return 2 * span.start + result;
}

/// Returns the segments of one axis of a box. `tiles` are the tiles that touch the box; `covered` gets the segments of each
/// of these tiles. For every end of a segment, the last multiple of `rows` up to this end is the end of a segment too.
std::vector<Segment> cut_axis(const Tiling& tiling, int axis, bool by_middles, Span box, Span tiles, std::int64_t rows,
                              std::vector<Span>& covered) {
  const std::int64_t result = tiling.result()[axis];
  std::vector<TileSpan> spans;
  for (std::int64_t k = tiles.begin; k < tiles.end; ++k) spans.push_back(tiling.span(axis, k));
  std::vector<std::int64_t> cuts = {box.begin, box.end};
  const auto cut_at = [&](std::int64_t place) { cuts.push_back(std::clamp(place, box.begin, box.end)); };
  for (const TileSpan& span : spans) {
    cut_at(span.write.begin);
    cut_at(span.write.end);
  }
  if (by_middles)
    for (std::size_t k = 1; k < spans.size(); ++k)
      // Cuts at the first element y whose middle is nearer to the later tile's middle; twice the coordinate of its middle is 2y +
      // 1.
      cut_at(floor_div(spans[k - 1].start + spans[k].start + result - 1, 2) + 1);
  if (rows > 1)
    for (std::size_t i = cuts.size(); i-- > 0;) cut_at(cuts[i] / rows * rows);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());

  // The beginnings of tiles ascend, and so do the ends, so the tiles of a segment are neighbours.
  std::vector<Segment> segments;
  covered.assign(spans.size(), {});
  const std::int64_t count = tiles.size();
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t covers = 0;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    Segment segment{{cuts[i], cuts[i + 1]}, {}, 0};
    while (first < count && spans[static_cast<std::size_t>(first)].write.end <= segment.span.begin) ++first;
    last = std::max(first, last);
    while (last < count && spans[static_cast<std::size_t>(last)].write.begin <= segment.span.begin) ++last;
    segment.tiles = {tiles.begin + first, tiles.begin + last};
    if ((covers += last - first) > most_covers)
      fail(ErrorCode::limit, op_merge, "tiling", "must have fewer overlapping tiles for a merge", result,
           "shorter results, or a stride above " + text(tiling.stride()[axis]));
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t k = first; k < last; ++k) {
      Span& own = covered[static_cast<std::size_t>(k)];
      if (own.size() == 0) own.begin = static_cast<std::int64_t>(i);
      own.end = static_cast<std::int64_t>(i) + 1;
      const std::int64_t distance =
          std::abs(2 * segment.span.begin + 1 - middle(spans[static_cast<std::size_t>(k)], result));
      if (distance < nearest) segment.centre = tiles.begin + k;
      nearest = std::min(nearest, distance);
    }
    segments.push_back(segment);
  }
  return segments;
}

/// Joins each slab that ends between two multiples of `rows` with the next slab. Returns the band of each slab.
std::vector<Span> bands_of(const std::vector<Segment>& slabs, std::int64_t rows) {
  std::vector<Span> bands;
  const auto count = static_cast<std::int64_t>(slabs.size());
  for (std::int64_t begin = 0, end = 0; begin < count; begin = end) {
    do ++end;
    while (end < count && slabs[static_cast<std::size_t>(end)].span.begin % rows != 0);
    bands.insert(bands.end(), static_cast<std::size_t>(end - begin), {begin, end});
  }
  return bands;
}

}  // namespace

Cells::Cells(const Tiling& tiling, Reduce reduce, bool selects, std::span<const std::uint8_t> mask, const Box& box,
             std::int64_t rows)
    : tiling_(tiling), reduce_(reduce), selects_(selects), mask_(mask), box_(box) {
  if (!mask.empty() && static_cast<std::int64_t>(mask.size()) != tiling.size())
    fail(ErrorCode::length, op_merge, "mask", "must have an entry for each tile", mask.size(), tiling.size());
  for (int axis = 0; axis < tiling.grid().size(); ++axis) {
    const Span tiles = tiles_.emplace_back(tiles_touching(tiling, axis, box[static_cast<std::size_t>(axis)]));
    if (tiles.size() > most_tiles)
      fail(ErrorCode::limit, op_merge, "tiling", "must have at most 2^22 tiles along an axis for a merge", tiles.size());
  }
  Checked inner = 1;
  for (int axis = 0; axis < tiling.grid().size(); ++axis) {
    const Span tiles = tiles_[static_cast<std::size_t>(axis)];
    covered_.emplace_back();
    starts_.emplace_back();
    for (std::int64_t k = tiles.begin; k < tiles.end; ++k) starts_.back().push_back(tiling.span(axis, k).start);
    axes_.push_back(cut_axis(tiling, axis, reduce == Reduce::center, box[static_cast<std::size_t>(axis)], tiles,
                             axis == 0 ? rows : 1, covered_.back()));
    counts_.push_back(axis > 0 ? static_cast<std::int64_t>(axes_.back().size()) : 1);
    inner = inner * counts_.back();
  }
  bands_ = bands_of(axes_[0], rows);
  if (!inner.value() || *inner.value() > most_cells)
    fail(ErrorCode::limit, op_merge, "tiling", "must have fewer tiles across the first tiled axis for a merge",
         tiling.grid());
  inner_ = *inner.value();
}

Dims Cells::box_extents() const noexcept {
  Dims extents;
  for (const Span span : box_) extents.push_back(span.size());
  return extents;
}

bool Cells::touches(std::int64_t tile) const noexcept {
  const Dims position = position_of(tile);
  for (int axis = 0; axis < position.size(); ++axis) {
    const Span tiles = tiles_[static_cast<std::size_t>(axis)];
    if (position[axis] < tiles.begin || position[axis] >= tiles.end) return false;
  }
  return true;
}

Dims Cells::segments_of(Cell cell) const {
  Dims segments = index_at(cell.inner, counts_);
  segments[0] = cell.slab;
  return segments;
}

Cell Cells::cell_at(const Dims& segments) const {
  std::int64_t inner = 0;
  for (int axis = 1; axis < segments.size(); ++axis) inner = inner * counts_[axis] + segments[axis];
  return {segments[0], inner};
}

Dims Cells::position_of(std::int64_t tile) const noexcept {
  return index_at(tile, tiling_.grid());
}

Dims Cells::result_of(std::int64_t tile) const {
  Dims extents = position_of(tile);
  for (int axis = 0; axis < extents.size(); ++axis) extents[axis] = tiling_.span(axis, extents[axis]).result;
  return extents;
}

Dims Cells::extents(const Dims& segments) const {
  Dims extents;
  for (int axis = 0; axis < segments.size(); ++axis) extents.push_back(segment(axis, segments[axis]).span.size());
  return extents;
}

/// Returns the tile that center, first or last selects for a cell without regard to the mask; -1 if the mask leaves this tile
/// out, or if no tile covers the cell.
std::int64_t Cells::preferred(const Dims& segments) const noexcept {
  std::int64_t tile = 0;
  for (int axis = 0; axis < segments.size(); ++axis) {
    const Segment& one = segment(axis, segments[axis]);
    if (one.tiles.size() == 0) return -1;
    const std::int64_t at = reduce_ == Reduce::center  ? one.centre
                            : reduce_ == Reduce::first ? one.tiles.begin
                                                       : one.tiles.end - 1;
    tile = tile * tiling_.grid()[axis] + at;
  }
  return is_masked(tile) ? -1 : tile;
}

std::size_t Cells::selected(std::span<const std::int64_t> tiles, const Dims& segments) const noexcept {
  if (reduce_ != Reduce::center) return reduce_ == Reduce::first ? 0 : tiles.size() - 1;
  // If the nearest tile does not contribute, the contributing tile nearest to it in the grid is selected.
  std::size_t best = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    std::int64_t distance = 0;
    const Dims position = position_of(tiles[i]);
    for (int axis = 0; axis < segments.size(); ++axis)
      distance += std::abs(position[axis] - segment(axis, segments[axis]).centre);
    if (distance < least) best = i;
    least = std::min(least, distance);
  }
  return best;
}

std::vector<std::int64_t> Cells::contributors(const Dims& segments) const {
  if (const std::int64_t one = selects_ ? preferred(segments) : -1; one >= 0) return {one};
  std::vector<std::int64_t> tiles;
  each_tile(segments, [&](std::int64_t tile, const Dims&) {
    tiles.push_back(tile);
    return true;
  });
  if (selects_ && !tiles.empty()) tiles = {tiles[selected(tiles, segments)]};
  return tiles;
}

std::int64_t Cells::contributor_count(const Dims& segments) const {
  std::int64_t count = 1;
  if (mask_.empty()) {
    for (int axis = 0; axis < segments.size(); ++axis) count *= segment(axis, segments[axis]).tiles.size();
  } else {
    count = 0;
    each_tile(segments, [&](std::int64_t, const Dims&) {
      ++count;
      return !selects_;
    });
  }
  return selects_ ? std::min<std::int64_t>(count, 1) : count;
}

bool Cells::is_whole(const Dims& segments) const {
  if (mask_.empty()) return true;
  std::int64_t all = 1;
  for (int axis = 0; axis < segments.size(); ++axis) all *= segment(axis, segments[axis]).tiles.size();
  std::int64_t count = 0;
  each_tile(segments, [&](std::int64_t, const Dims&) { return ++count > 0; });
  return count == all;
}

std::vector<Cell> Cells::cells_of(std::int64_t tile) const {
  std::vector<Cell> cells;
  if (is_masked(tile) || !touches(tile)) return cells;
  Dims first;
  Dims end;
  const Dims position = position_of(tile);
  for (int axis = 0; axis < position.size(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const Span own = covered_[i][static_cast<std::size_t>(position[axis] - tiles_[i].begin)];
    first.push_back(own.begin);
    end.push_back(own.end);
  }
  std::int64_t count = 1;
  for (int axis = 0; axis < first.size(); ++axis) count *= end[axis] - first[axis];
  cells.reserve(static_cast<std::size_t>(count));
  Dims segments = first;
  do
    if (!selects_ || contributors(segments).front() == tile) cells.push_back(cell_at(segments));
  while (advance(segments, first, end));
  return cells;
}

bool Cells::find_hole(Dims& segments) const {
  if (element_count(box_extents()) == 0) return false;
  segments = Dims::filled(static_cast<int>(axes_.size()), 0);
  for (int axis = 0; axis < segments.size(); ++axis)
    for (std::size_t i = 0; i < axes_[static_cast<std::size_t>(axis)].size(); ++i)
      if (axes_[static_cast<std::size_t>(axis)][i].tiles.size() == 0) {
        segments[axis] = static_cast<std::int64_t>(i);
        return true;
      }
  if (mask_.empty()) return false;
  for (std::int64_t slab = 0; slab < slabs(); ++slab)
    for (std::int64_t inner = 0; inner < inner_; ++inner) {
      segments = segments_of({slab, inner});
      if (contributor_count(segments) == 0) return true;
    }
  return false;
}

}  // namespace patchfold::tiling
