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
#include "tiling/run_cells.hpp"
#include "tiling/tile_checks.hpp"

namespace patchfold {

namespace tiling {

using Memory = std::unique_ptr<std::byte[]>;

/// A tile that waits, since some of its cells still miss other tiles. It has its elements either as the view that was given,
/// which the owner keeps alive, or as copies.
struct Held {
  ConstTensorView view{};
  std::shared_ptr<const void> owner{};
  std::map<Cell, Memory> pieces{};              ///< copies: the elements in each unfinished cell
  std::unique_ptr<const OwnWeights> weights{};  ///< null: all 1
};

}  // namespace tiling

/// Does the work of a Merger. It holds the rules of the merge, the ledger, the tiles that wait, and the bands that are being
/// filled. `mutex` guards all of it: Merger's functions lock it and call these, which lock nothing.
///
/// A tile that arrives finishes some cells, which are made at once, and waits for the others. `add` first works out and
/// allocates everything, then makes the elements, then lets the ledger accept the tile; up to there a failure leaves no
/// trace, and what has been written to the output is written again by a later call. After that the tile counts as come, and
/// a failure (of a sink, or of memory) closes the merger: it takes no more tiles.
///
/// With a memory_limit the next tile in order always has room. A tile that comes early is taken only if what it may need
/// until its turn still fits beside the most that tiles in order need.
struct Merger::State {
  using Cell = tiling::Cell;
  using CellPlan = tiling::CellPlan;
  using Held = tiling::Held;

  State(const Tiling& tiling, const MergeSpec& spec, Executor& executor, bool to_sink);

  /// Takes a tile. Held tiles that no cell needs any more go to `done`, so that their owners are released when nothing is
  /// locked.
  void add(std::int64_t index, const ConstTensorView& given, const TileWeights& given_weights,
           const std::shared_ptr<const void>& owner, std::vector<std::unique_ptr<Held>>& done);
  /// Lets finished slabs leave, in order.
  void send_rows();
  /// Calls f; if it throws, no more tiles are taken. `what` gives the name of what failed.
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
  /// Checks a tile that has come. Returns it with strides of 0 along axes of one element or none.
  ConstTensorView checked(std::int64_t index, const ConstTensorView& tile) const;
  void hold_rows(std::int64_t slab, std::vector<CellPlan>& work);
  const std::byte* address(const ConstTensorView& tile, const Dims& position, const Dims& place) const;
  tiling::Factors factors_of(const tiling::OwnWeights* own, const Dims& position, const Dims& place) const;
  CellPlan plan_finished(Cell cell, std::int64_t arriving, const ConstTensorView& tile, const tiling::OwnWeights* own);
  void check_covered(const CellPlan& cell) const;
  CellPlan plan_into(Cell cell, const Dims& segments, tiling::Sources sources);
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
  std::int64_t next_tile = 0;                    ///< every tile before it has come, or is masked
  std::map<std::int64_t, std::int64_t> early{};  ///< with a limit: bytes kept for each tile that came before its turn
  tiling::CheckedOutput output{};                ///< where elements are written, without a sink
  RowSink* sink = nullptr;
  std::map<std::int64_t, tiling::Memory> rows{};  ///< with a sink: the memory of each band that is held, by its first slab
  tiling::TileTable<std::unique_ptr<Held>> held;  ///< tiles that wait
  bool has_failed = false;                        ///< no more tiles are taken
  std::string failure{};                          ///< why; empty if there was no memory to say so
};

}  // namespace patchfold
