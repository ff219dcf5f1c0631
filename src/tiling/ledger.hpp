// SPDX-License-Identifier: Apache-2.0
// The bookkeeping of a merge: which tiles have come, which cells still miss one, and how many bytes wait.
#pragma once

#include <map>
#include <vector>

#include "tiling/cells.hpp"
#include "tiling/tile_table.hpp"

namespace patchfold::tiling {

/// The sizes that a Ledger counts with, in bytes.
struct Sizes {
  std::int64_t tile_element = 0;    ///< of all channels at one place of a tile
  std::int64_t output_element = 0;  ///< of all channels at one place of the output; 0 if the merge holds no rows
  bool copy = false;                ///< the parts of a tile that wait are copied cell by cell; else the whole tile is kept
};

/// Says what the arrival of a tile changes. A Ledger makes it and later counts it; the Merger does what it says.
struct Arrival {
  std::int64_t tile = 0;
  std::vector<Cell> finished{};      ///< cells of the tile that now have all their tiles
  std::vector<Cell> waiting{};       ///< cells of the tile that still miss another one
  std::vector<std::int64_t> held{};  ///< slabs whose first cell is finished: their bands need memory from now on
  std::int64_t tile_bytes = 0;       ///< bytes of the tile that begin to wait
  std::int64_t row_bytes = 0;        ///< bytes of the bands that begin to be held
  std::int64_t weight_bytes = 0;     ///< bytes of the tile's own weights, if it begins to wait; the Merger sets it
};

/// Counts, for each cell, the tiles that have not come yet, and adds up the bytes that wait. The Merger asks it what to do
/// and moves the elements; the Ledger holds none. merge_memory() runs through all arrivals with a Ledger alone, so the
/// memory that it announces cannot differ from what a merge needs.
///
/// Two kinds of bytes wait: tiles with their weights, until every cell that they contribute to is finished, and bands, from
/// the first finished cell of their slabs until the last of these leaves. Slabs leave in ascending order.
///
/// For each tile the Merger calls preview, which says what would happen and changes nothing; accept, once the elements of
/// the finished cells are made; and settle, which releases the tiles that no cell needs any more. Then it calls next_left()
/// while next_is_finished(). Not safe to use from several threads.
class Ledger {
 public:
  Ledger(const Cells& cells, const Sizes& sizes);

  const Sizes& sizes() const noexcept { return sizes_; }
  bool has_come(std::int64_t tile) const { return come_[static_cast<std::size_t>(tile)]; }
  /// Returns what the arrival of a tile would change. Changes nothing.
  Arrival preview(std::int64_t tile) const;
  /// Counts the tile as come. Changes nothing if it throws.
  void accept(const Arrival& arrival);
  /// Counts the finished cells as made. Returns the tiles that no cell needs any more.
  std::vector<std::int64_t> settle(const Arrival& arrival);
  /// Returns whether every cell of the next slab is finished. `is_held` is false for a slab that no tile contributes to: it
  /// has no memory yet.
  bool next_is_finished(bool& is_held);
  /// Counts the memory of the next slab where `is_held` was false.
  void hold_next();
  /// Counts the next slab as gone, with its memory.
  void next_left();

  std::int64_t next() const noexcept { return next_; }  ///< the slab that leaves next; cells.slabs() after the last
  /// Returns the bytes of the band that holds a slab.
  std::int64_t band_bytes(std::int64_t slab) const;
  /// Returns whether the band that holds a slab has memory.
  bool is_band_held(std::int64_t slab) const { return held_bands_[static_cast<std::size_t>(cells_.band(slab).begin)]; }
  /// Returns all bytes that wait.
  std::int64_t bytes() const noexcept { return tile_bytes_ + row_bytes_; }
  /// Returns those of them that are weights of tiles.
  std::int64_t weight_bytes() const noexcept { return weight_bytes_; }
  const MergeMemory& peak() const noexcept { return peak_; }
  /// Returns the first tiles that have not come, at most `most` of them; `count` gets the number of all.
  std::vector<std::int64_t> missing(std::size_t most, std::int64_t& count) const;

 private:
  struct Slab {
    std::vector<std::int64_t> missing{};  ///< for each cell, tiles that have not come; empty until one of them comes
    std::int64_t unfinished = 0;          ///< cells that some tile contributes to and that are not made
    bool is_held = false;                 ///< it, and so its band, has memory
  };
  Slab counted(std::int64_t slab) const;
  std::int64_t whole_bytes(std::int64_t tile) const;
  void count_peak() noexcept;
  void hold(std::int64_t slab);

  const Cells& cells_;
  Sizes sizes_;
  std::vector<Slab> slabs_;
  std::vector<bool> held_bands_;  ///< by their first slabs
  std::vector<bool> come_;
  TileTable<std::int64_t> waiting_;  ///< for each tile that waits, its unfinished cells
  std::int64_t next_ = 0;
  std::int64_t tile_bytes_ = 0;
  std::int64_t row_bytes_ = 0;
  std::map<std::int64_t, std::int64_t> weights_{};  ///< bytes of the weights of tiles that wait and have some
  std::int64_t weight_bytes_ = 0;
  MergeMemory peak_{};
};

/// Returns the most that waits if the tiles come in ascending order.
MergeMemory forecast(const Cells& cells, const Sizes& sizes);

}  // namespace patchfold::tiling
