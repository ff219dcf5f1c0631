// SPDX-License-Identifier: Apache-2.0
// The bookkeeping of a merge: which tiles have come, which cells still miss one, which bytes wait. It holds no elements, so
// the same code tells beforehand what a merge will need.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "tiling/cells.hpp"

namespace patchfold::tiling {

/// Sizes in bytes.
struct Sizes {
  std::int64_t tile_element = 0;    ///< of one element along the tiled axes: all its channels
  std::int64_t output_element = 0;  ///< the same of the output; 0: rows are not held
  bool copy = false;                ///< what waits is copied cell by cell, not held tile by tile
};

/// What the arrival of a tile brings about.
struct Arrival {
  std::int64_t tile = 0;
  std::vector<Cell> finished{};      ///< cells that now have all their tiles
  std::vector<Cell> waiting{};       ///< cells to which the tile gives, and that miss others
  std::vector<std::int64_t> held{};  ///< slabs that get their first elements
  std::int64_t tile_bytes = 0;       ///< that begin to wait
  std::int64_t row_bytes = 0;
};

class Ledger {
 public:
  Ledger(const Cells& cells, const Sizes& sizes);

  const Sizes& sizes() const noexcept { return sizes_; }
  bool has_come(std::int64_t tile) const { return come_[static_cast<std::size_t>(tile)]; }
  /// What would happen; changes nothing.
  Arrival preview(std::int64_t tile) const;
  /// Changes nothing if it throws.
  void accept(const Arrival& arrival);
  /// Takes note that the finished cells are made: returns the tiles that nobody waits for any more.
  std::vector<std::int64_t> settle(const Arrival& arrival);
  /// Whether the next slab, in order, has all its elements. One that no tile gives anything to has not been held.
  bool next_is_finished(bool& is_held);
  /// Takes note that the next slab, to which no tile gives anything, gets memory.
  void hold_next();
  void next_left();

  std::int64_t next() const noexcept { return next_; }  ///< slab; cells.slabs() when all have left
  std::int64_t slab_bytes(std::int64_t slab) const;
  std::int64_t bytes() const noexcept { return tile_bytes_ + row_bytes_; }
  const MergeMemory& peak() const noexcept { return peak_; }
  /// The first tiles that have not come, at most `most`; and how many there are.
  std::vector<std::int64_t> missing(std::size_t most, std::int64_t& count) const;

 private:
  struct Slab {
    std::vector<std::int64_t> missing{};  ///< tiles, for each cell; empty until the first tile comes
    std::int64_t unfinished = 0;          ///< cells
    bool is_held = false;
  };
  Slab counted(std::int64_t slab) const;
  std::int64_t whole_bytes(std::int64_t tile) const;
  void count_peak() noexcept;

  const Cells& cells_;
  Sizes sizes_;
  std::vector<Slab> slabs_;
  std::vector<bool> come_;
  std::map<std::int64_t, std::int64_t> waiting_{};  ///< tile: its cells that are not finished
  std::int64_t next_ = 0;
  std::int64_t tile_bytes_ = 0;
  std::int64_t row_bytes_ = 0;
  MergeMemory peak_{};
};

}  // namespace patchfold::tiling
