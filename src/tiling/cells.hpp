// SPDX-License-Identifier: Apache-2.0
// The output of a merge cut into cells: boxes whose elements all come from the same tiles. Along each tiled axis the ends of
// tiles cut the output into segments; a cell is one segment of each axis.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "patchfold/tiling.hpp"

namespace patchfold::tiling {

/// A stretch of one axis of the output.
struct Segment {
  Span span{};
  Span tiles{};             ///< that cover it, by their number along the axis
  std::int64_t centre = 0;  ///< of these, the one whose middle is nearest
};

/// A cell: its segment of the stream axis, and the row-major index of its segments of the others.
struct Cell {
  std::int64_t slab = 0;
  std::int64_t inner = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

class Cells {
 public:
  /// `selects`: one tile gives each element (first, last, center).
  Cells(const Tiling& tiling, Reduce reduce, bool selects, const std::vector<std::uint8_t>& mask);

  const Tiling& tiling() const noexcept { return tiling_; }
  /// Segments of the stream axis.
  std::int64_t slabs() const noexcept { return static_cast<std::int64_t>(axes_[0].size()); }
  std::int64_t cells_in_slab() const noexcept { return inner_; }
  bool is_masked(std::int64_t tile) const noexcept { return !mask_.empty() && mask_[static_cast<std::size_t>(tile)] == 0; }

  /// The segment numbers of a cell along the tiled axes.
  Dims segments_of(Cell cell) const;
  const Segment& segment(int axis, std::int64_t number) const {
    return axes_[static_cast<std::size_t>(axis)][static_cast<std::size_t>(number)];
  }
  /// A tile's number along each tiled axis.
  Dims position_of(std::int64_t tile) const noexcept;
  /// Elements along the tiled axes.
  std::int64_t volume(const Dims& segments) const;

  /// The tiles that give the cell's elements, ascending.
  std::vector<std::int64_t> contributors(const Dims& segments) const;
  std::int64_t contributor_count(const Dims& segments) const;
  /// Whether all combinations of the tiles along the axes give the cell's elements.
  bool is_whole(const Dims& segments) const;
  /// Which of these tiles, ascending, to take for center, first or last.
  std::size_t selected(std::span<const std::int64_t> tiles, const Dims& segments) const noexcept;

  /// The cells that the tile gives elements to.
  std::vector<Cell> cells_of(std::int64_t tile) const;
  /// A cell that no tile gives, if there is one.
  bool find_hole(Dims& segments) const;

 private:
  Cell cell_at(const Dims& segments) const;
  std::int64_t preferred(const Dims& segments) const noexcept;
  template <class F>
  void each_tile(const Dims& segments, F f) const;

  Tiling tiling_;
  Reduce reduce_;
  bool selects_;
  std::vector<std::uint8_t> mask_;
  std::vector<std::vector<Segment>> axes_{};
  std::vector<std::vector<Span>> covered_{};  ///< for each axis and tile along it: its segments
  std::int64_t inner_ = 1;
};

}  // namespace patchfold::tiling
