// SPDX-License-Identifier: Apache-2.0
// A merge in progress.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "tiling/cell_plan.hpp"
#include "tiling/ledger.hpp"
#include "tiling/rules.hpp"
#include "tiling/tile_checks.hpp"

namespace patchfold {

namespace tiling {

using Memory = std::unique_ptr<std::byte[]>;

/// A waiting tile, which some of its cells still need. Its elements are either the given view, which the owner keeps alive, or
/// copies.
struct Held {
  ConstTensorView view{};
  std::shared_ptr<const void> owner{};
  std::map<Cell, Memory> pieces{};              ///< the copies: for each unfinished cell, the tile's elements in it
  std::unique_ptr<const OwnWeights> weights{};  ///< null: all weights are 1
};

}  // namespace tiling

/// Does the work of a Merger: holds the rules, the ledger, the waiting tiles, and the bands that are being filled. `mutex` guards
/// all members: the functions of Merger lock it and call the functions of State, which lock nothing.
///
/// An added tile finishes some cells, which are made at once, and waits until its other cells can be made. `add` first computes and
/// allocates everything, then makes the elements, then lets the ledger accept the tile. If `add` fails before that, nothing has
/// changed but output elements that a later call writes again; but a failure while running sums are continued closes the merger.
/// After the tile is accepted, a failure (of a sink, or of memory) closes the merger, which then takes no more tiles.
///
/// With a memory_limit the next tile in order is always accepted, unless its own weights need too much. Any other tile is accepted
/// only if the limit covers the bytes that it may need until its turn, besides the most bytes that tiles in order need.
struct Merger::State {
  using Cell = tiling::Cell;
  using CellPlan = tiling::CellPlan;
  using Held = tiling::Held;

  State(const Tiling& tiling, const MergeSpec& spec, Executor& executor, bool to_sink);

  /// Adds a tile. Moves waiting tiles that no cell needs any more to `done`, so that the caller releases their owners after
  /// unlocking the mutex.
  void add(std::int64_t index, const ConstTensorView& given, const TileWeights& given_weights,
           const std::shared_ptr<const void>& owner, std::vector<std::unique_ptr<Held>>& done);
  /// Writes the finished slabs that are next in order to the sink.
  void send_rows();
  /// Calls f. If f throws, closes the merger, with what() as the name of the part that failed.
  template <class What, class F>
  void or_close(What&& what, F&& f) {
    const auto close = [&](std::string_view why) noexcept {
      has_failed = true;
      try {
        failure = what();
        failure.append(why.empty() ? " failed" : " failed: ").append(why);
      } catch (const std::bad_alloc&) {
        failure.clear();
      }
    };
    try {
      f();
    } catch (const std::bad_alloc&) {
      close("out of memory");
      throw;
    } catch (const std::exception& error) {
      close(error.what());
      throw;
    } catch (...) {
      close("");
      throw;
    }
  }

  const Tiling& tiles() const { return rules.cells.tiling(); }
  /// Checks a given tile. Returns the tile's view, with strides of 0 along axes of at most one element.
  ConstTensorView checked(std::int64_t index, const ConstTensorView& tile) const;
  void hold_rows(std::int64_t slab, std::vector<CellPlan>& work);
  const std::byte* address(const ConstTensorView& tile, const Dims& position, const Dims& place) const;
  tiling::Factors factors_of(const tiling::OwnWeights* own, const Dims& position, const Dims& place) const;
  CellPlan plan_step(const tiling::Step& step, std::int64_t arriving, const ConstTensorView& tile,
                     const tiling::OwnWeights* own);
  void check_covered(const CellPlan& cell) const;
  CellPlan plan_into(Cell cell, const Dims& segments, tiling::Sources sources, std::optional<tiling::Folding> folding = {});
  /// Returns the address of a cell's first element, in the output or in the memory of its slab's band; `strides` gets the strides
  /// there, for the axes of a result.
  std::byte* place(Cell cell, const Dims& segments, Dims& strides);
  Dims band_shape(std::int64_t slab) const;
  std::int64_t early_bytes_of(const tiling::Arrival& arrival) const;
  void check_room(const tiling::Arrival& arrival) const;

  mutable std::mutex mutex{};
  tiling::Rules rules;
  tiling::TileChecks checks;
  tiling::AxisWeights weights;
  tiling::Ledger ledger;
  Executor& executor;
  bool copy;
  std::optional<std::int64_t> limit;
  std::int64_t in_order = 0;                     ///< with a limit: the most bytes that wait if tiles come in order
  std::int64_t next_tile = 0;                    ///< all tiles before this one have come, or are masked
  std::map<std::int64_t, std::int64_t> early{};  ///< with a limit: bytes reserved for each tile that came before its turn
  tiling::CheckedOutput output{};                ///< without a sink: the output
  RowSink* sink = nullptr;
  std::map<std::int64_t, tiling::Memory> rows{};  ///< with a sink: the memory of each held band, by its first slab
  /// For each cell with running sums of two tiles or more: the lower parts of the sums, after the inverse of the sum of weights if
  /// the window is an array and the sums are float64.
  std::map<Cell, tiling::Memory> sums{};
  tiling::TileTable<std::unique_ptr<Held>> held;  ///< tiles that wait
  bool has_failed = false;                        ///< no more tiles are taken
  std::string failure{};                          ///< the reason; empty if there was no memory for it
};

}  // namespace patchfold
