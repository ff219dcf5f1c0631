// SPDX-License-Identifier: Apache-2.0
// Cuts the output of a merge into cells: boxes whose elements all come from the same tiles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/index.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::tiling {

/// A range of one tiled axis of the output whose elements are covered by the same tiles.
struct Segment {
  Span span{};
  Span tiles{};             ///< tiles that cover the span, by their numbers along this axis; they are neighbours
  std::int64_t centre = 0;  ///< for Reduce::center: the number along this axis of the tile with the nearest middle
};

/// The identity of a cell. Cells with the same segment of the stream axis form a slab. `inner` is the row-major number of the
/// cell's segments along the other axes, from 0 to Cells::cells_in_slab() - 1.
struct Cell {
  std::int64_t slab = 0;
  std::int64_t inner = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

/// Cuts the output of a merge, or a box of it, into cells. Along each tiled axis the ends of the tiles cut the output into
/// segments; a cell is one segment of each axis. For Reduce::center the output is also cut at the middles between neighbouring
/// tiles, so that all elements of a cell have the same nearest tile. Cells never change.
///
/// With cells, overlaps need no special code: only the list of a cell's tiles differs where tiles cross, where the last tile is
/// moved back, or where a mask leaves tiles out. An accumulator with an array of weights for the whole output was rejected: each
/// element would be written several times, and rounding would depend on the order of the tiles.
///
/// The cells of a box are the cells of the whole output, cut to the box, since the value of an element depends only on its cell.
/// Nothing is stored for tiles that do not touch the box, but all tiles keep their numbers in the tiling.
///
/// Only the segments of each axis are stored; facts about a cell are computed from the numbers of its segments (`Dims segments`,
/// one for each tiled axis). Rules makes the Cells of a merge, the Ledger counts the tiles of each cell, and a CellPlan makes its
/// elements.
class Cells {
 public:
  /// Cuts a checked box. `selects`: the value of an element comes from one tile (first, last, center). The mask must outlive the
  /// Cells. `rows`: each band but the last ends at a multiple of `rows` along the stream axis.
  Cells(const Tiling& tiling, Reduce reduce, bool selects, std::span<const std::uint8_t> mask, const Box& box,
        std::int64_t rows = 1);

  const Tiling& tiling() const noexcept { return tiling_; }
  const Box& box() const noexcept { return box_; }
  /// Returns the extents of the box along the tiled axes.
  Dims box_extents() const noexcept;
  /// Returns the number of segments of the stream axis.
  std::int64_t slabs() const noexcept { return segments(0); }
  /// Returns the number of segments of a tiled axis.
  std::int64_t segments(int axis) const noexcept {
    return static_cast<std::int64_t>(axes_[static_cast<std::size_t>(axis)].size());
  }
  std::int64_t cells_in_slab() const noexcept { return inner_; }
  /// Returns the band that holds a slab: slabs [begin, end), which are written to a sink together. Most bands are one slab.
  Span band(std::int64_t slab) const noexcept { return bands_[static_cast<std::size_t>(slab)]; }
  /// Returns the elements [begin, end) of the stream axis in the band that holds a slab.
  Span band_rows(std::int64_t slab) const noexcept {
    return {segment(0, band(slab).begin).span.begin, segment(0, band(slab).end - 1).span.end};
  }
  bool is_masked(std::int64_t tile) const noexcept { return !mask_.empty() && mask_[static_cast<std::size_t>(tile)] == 0; }

  /// Returns the number of the cell's segment along each tiled axis.
  Dims segments_of(Cell cell) const;
  const Segment& segment(int axis, std::int64_t number) const {
    return axes_[static_cast<std::size_t>(axis)][static_cast<std::size_t>(number)];
  }
  /// Returns where tile k of an axis begins, as Tiling::span(axis, k).start, from a list.
  std::int64_t start(int axis, std::int64_t k) const {
    return starts_[static_cast<std::size_t>(axis)]
                  [static_cast<std::size_t>(k - tiles_[static_cast<std::size_t>(axis)].begin)];
  }
  /// Returns the element of the output at which the result of the tile at a position begins, along each tiled axis.
  Dims start_of(const Dims& position) const {
    Dims start;
    for (int axis = 0; axis < position.size(); ++axis) start.push_back(this->start(axis, position[axis]));
    return start;
  }
  /// Returns whether the tile's result has an element in the box.
  bool touches(std::int64_t tile) const noexcept;
  /// Returns a tile's number along each tiled axis.
  Dims position_of(std::int64_t tile) const noexcept;
  /// Returns the extents of a tile's result along the tiled axes.
  Dims result_of(std::int64_t tile) const;
  /// Returns a cell's extents along the tiled axes.
  Dims extents(const Dims& segments) const;
  /// Returns the product of a cell's extents.
  std::int64_t volume(const Dims& segments) const { return element_count(extents(segments)); }

  /// Returns the tiles that contribute to a cell, in ascending order; at most one tile for first, last and center.
  std::vector<std::int64_t> contributors(const Dims& segments) const;
  /// Calls f(tile, position) for each tile that contributes to a cell; `position` is the tile's number along each tiled axis.
  template <class F>
  void each_contributor(const Dims& segments, F f) const {
    if (selects_) {
      for (const std::int64_t tile : contributors(segments)) f(tile, position_of(tile));
      return;
    }
    each_tile(segments, [&f](std::int64_t tile, const Dims& position) {
      f(tile, position);
      return true;
    });
  }
  std::int64_t contributor_count(const Dims& segments) const;
  /// Returns whether the mask keeps all of a cell's tiles, so that every combination of tiles along the axes contributes.
  bool is_whole(const Dims& segments) const;
  /// Returns the index in `tiles`, which must ascend, of the tile that gives a cell's elements under center, first or last.
  std::size_t selected(std::span<const std::int64_t> tiles, const Dims& segments) const noexcept;

  /// Returns the cells to which a tile contributes.
  std::vector<Cell> cells_of(std::int64_t tile) const;
  /// Finds a cell to which no tile contributes; `segments` gets its segments. Returns false if every cell has a contributing
  /// tile.
  bool find_hole(Dims& segments) const;

 private:
  Cell cell_at(const Dims& segments) const;
  std::int64_t preferred(const Dims& segments) const noexcept;
  /// Calls f(tile, position) for each unmasked tile that covers a cell, in ascending order, until f returns false.
  template <class F>
  void each_tile(const Dims& segments, F f) const {
    Dims first;
    Dims end;
    for (int axis = 0; axis < segments.size(); ++axis) {
      const Span tiles = segment(axis, segments[axis]).tiles;
      if (tiles.size() == 0) return;
      first.push_back(tiles.begin);
      end.push_back(tiles.end);
    }
    Dims position = first;
    do {
      const std::int64_t tile = number_at(position, tiling_.grid());
      if (!is_masked(tile) && !f(tile, position)) return;
    } while (advance(position, first, end));
  }

  Tiling tiling_;
  Reduce reduce_;
  bool selects_;
  std::span<const std::uint8_t> mask_;
  Box box_;
  std::vector<Span> tiles_{};  ///< tiles that touch the box, along each axis
  std::vector<std::vector<Segment>> axes_{};
  std::vector<std::vector<Span>> covered_{};  ///< for each axis and each of its `tiles_`: the tile's segments
  std::vector<std::vector<std::int64_t>> starts_{};
  std::vector<Span> bands_{};  ///< for each slab, its band
  Dims counts_{};              ///< the number of segments of each axis; 1 for the stream axis, which `inner` does not count
  std::int64_t inner_ = 1;
};

}  // namespace patchfold::tiling
