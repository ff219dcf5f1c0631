// SPDX-License-Identifier: Apache-2.0
// The bookkeeping of a merge: the tiles that are added, the cells that still need tiles, and the waiting bytes.
#pragma once

#include <map>
#include <vector>

#include "tiling/cells.hpp"
#include "tiling/tile_table.hpp"

namespace patchfold::tiling {

/// The sizes in bytes with which a Ledger counts.
struct Sizes {
  std::int64_t tile_element = 0;    ///< of all channels at one place of a tile
  std::int64_t output_element = 0;  ///< of all channels at one place of the output; 0 if the merge holds no rows
  bool copy = false;                ///< a waiting tile is kept as copies of its parts, cell by cell; else the whole tile is kept
  /// The bytes that the running sums of all channels at one place need besides the output; 0: there are no running sums.
  /// These bytes hold the lower parts of the sums, and, for sums of float64 whose window is an array, the inverse of the sum of
  /// weights.
  std::int64_t sums = 0;
};

/// The tiles of a cell that are merged together when one of them arrives: the cell's contributors [begin, end), in ascending
/// order. Contributors before `begin` are in the output already: a single one as its elements, several as their sums.
struct Step {
  Cell cell{};
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The changes that the arrival of a tile makes. The Ledger computes an Arrival (preview) and counts it later (accept, settle); the
/// Merger makes the changes.
struct Arrival {
  std::int64_t tile = 0;
  std::vector<Step> finished{};  ///< cells of the tile whose tiles have now all come
  std::vector<Step> summed{};    ///< cells that still miss later tiles; their tiles so far are added up in the output
  std::vector<Cell> waiting{};   ///< cells of the tile that still miss another tile, and for which this tile waits
  std::vector<std::int64_t> held{};  ///< slabs whose first cell is written now: their bands need memory from now on
  std::int64_t tile_bytes = 0;       ///< bytes that begin to wait: of the tile, or of the lower parts of sums
  std::int64_t row_bytes = 0;        ///< bytes of the bands that begin to be held
  std::int64_t weight_bytes = 0;     ///< bytes of the tile's own weights, if it begins to wait; set by the Merger
};

/// Counts the missing tiles of each cell, and adds up the waiting bytes. The Merger asks the Ledger for the next steps and computes
/// the elements; the Ledger holds no elements. merge_memory() runs all arrivals through a Ledger without a Merger, so it returns
/// exactly the memory of a real merge.
///
/// Waiting bytes are bytes of tiles, of sums or of bands. A tile and its weights wait until each of its cells is finished or
/// has added the tile to its sums. A band waits from the first written cell of its slabs until its last slab is written to
/// the sink; slabs are written in ascending order.
///
/// For each tile the Merger calls preview, which changes nothing. It calls accept once the elements of the finished cells are made,
/// and then settle, which releases the tiles that no cell needs any more. Then it calls next_left() while next_is_finished(). Only
/// one thread at a time may use a Ledger.
class Ledger {
 public:
  Ledger(const Cells& cells, const Sizes& sizes);

  const Sizes& sizes() const noexcept { return sizes_; }
  bool has_come(std::int64_t tile) const { return come_[static_cast<std::size_t>(tile)]; }
  /// Returns whether the tiles of a cell are added up in the output, in ascending order, before all of them have arrived.
  bool has_running_sums(const Dims& segments) const;
  /// Returns the changes that the arrival of a tile would make, without making them.
  Arrival preview(std::int64_t tile) const;
  /// Counts the tile as added. Changes nothing if it throws.
  void accept(const Arrival& arrival);
  /// Counts the steps of the arrival as made. Returns the tiles that no cell needs any more.
  std::vector<std::int64_t> settle(const Arrival& arrival);
  /// Returns whether every cell of the next slab is finished. `is_held` gets whether the slab has memory; a slab without
  /// contributing tiles has none yet.
  bool next_is_finished(bool& is_held);
  /// Counts the memory of the next slab. The last next_is_finished() must have set `is_held` to false.
  void hold_next();
  /// Counts the next slab as written to the sink. After the last slab of a band, counts the band's memory as freed.
  void next_left();

  std::int64_t next() const noexcept { return next_; }  ///< the slab to be written next; cells.slabs() after the last one
  /// Returns the bytes of the band that holds a slab.
  std::int64_t band_bytes(std::int64_t slab) const;
  /// Returns whether the band that holds a slab has memory.
  bool is_band_held(std::int64_t slab) const { return held_bands_[static_cast<std::size_t>(cells_.band(slab).begin)]; }
  /// Returns the number of waiting bytes.
  std::int64_t bytes() const noexcept { return tile_bytes_ + row_bytes_; }
  /// Returns the waiting bytes that are weights of tiles.
  std::int64_t weight_bytes() const noexcept { return weight_bytes_; }
  const MergeMemory& peak() const noexcept { return peak_; }
  /// Returns the first missing tiles, `most` of them at most; `count` gets the number of all missing tiles.
  std::vector<std::int64_t> missing(std::size_t most, std::int64_t& count) const;

 private:
  struct Slab {
    std::vector<std::int64_t> missing{};  ///< for each cell, the number of missing tiles; empty until a tile arrives
    std::int64_t unfinished = 0;          ///< the number of cells with contributing tiles that are not finished
    bool is_held = false;                 ///< the slab, and so its band, has memory
  };
  Slab counted(std::int64_t slab) const;
  Step step_of(Cell cell, std::int64_t arriving) const;
  void let_go(std::int64_t tile, std::int64_t piece_bytes, std::vector<std::int64_t>& released);
  std::int64_t whole_bytes(std::int64_t tile) const;
  void count_peak() noexcept;
  void hold(std::int64_t slab);

  const Cells& cells_;
  Sizes sizes_;
  std::vector<Slab> slabs_;
  std::vector<bool> held_bands_;  ///< for each band, at the index of its first slab: whether it has memory
  std::vector<bool> come_;
  TileTable<std::int64_t> waiting_;  ///< for each waiting tile, the number of cells that still need it
  std::int64_t next_ = 0;
  std::int64_t tile_bytes_ = 0;
  std::int64_t row_bytes_ = 0;
  std::map<std::int64_t, std::int64_t> weights_{};  ///< bytes of weights, for each waiting tile that has weights
  std::int64_t weight_bytes_ = 0;
  MergeMemory peak_{};
};

/// Returns the largest number of waiting bytes in a merge whose tiles are added in ascending order.
MergeMemory forecast(const Cells& cells, const Sizes& sizes);

}  // namespace patchfold::tiling
