// SPDX-License-Identifier: Apache-2.0
#include "tiling/merger_state.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "tiling/names.hpp"

namespace patchfold {

using namespace tiling;

namespace {

Memory allocate(std::int64_t bytes, std::string_view what) {
  Memory memory(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
  if (!memory) fail(ErrorCode::out_of_memory, op_merge, what, "not enough memory", text(bytes) + " bytes");
  return memory;
}

constexpr TileWords tile_words{.tile = "tile", .index = "index", .index_rule = "must be the index of a tile", .view = {}};

}  // namespace

Merger::State::State(const Tiling& tiling, const MergeSpec& spec, Executor& executor, bool to_sink)
    : rules(tiling, spec, to_sink),
      checks(rules, tile_words),
      weights(rules),
      ledger(rules.cells, sizes_of(rules, spec.copy, to_sink)),
      executor(executor),
      copy(spec.copy),
      limit(spec.memory_limit),
      held(tiling.size()) {
  rules.check_weights();
  while (next_tile < tiling.size() && rules.cells.is_masked(next_tile)) ++next_tile;
  if (!limit) return;
  in_order = forecast(rules.cells, ledger.sizes()).most;
  if (in_order > *limit)
    fail(ErrorCode::out_of_memory, op_merge, "memory_limit", "must be at least what a merge of tiles in order needs", *limit,
         "at least " + text(in_order) + " bytes");
}

ConstTensorView Merger::State::checked(std::int64_t index, const ConstTensorView& tile) const {
  if (has_failed) fail(ErrorCode::value, op_merge, "tile", "must not come after the merger has failed", failure);
  checks.check_index(index);
  if (ledger.has_come(index)) checks.refuse_second(index);
  const Dims shape = rules.box(rules.cells.result_of(index));
  if (!(tile.shape == shape)) refuse_shape(tiles(), op_merge, checks.name(index), index, tile.shape, shape);
  return checks.checked_view(index, tile, output);
}

/// Returns the address, in the tile at grid position `position`, of the element at `place` of the output.
const std::byte* Merger::State::address(const ConstTensorView& tile, const Dims& position, const Dims& place) const {
  return static_cast<const std::byte*>(tile.data) + rules.offset(rules.cells.start_of(position), place, tile.strides);
}

/// Returns the own weights of the tile at grid position `position`, from the element at `place` of the output on.
Factors Merger::State::factors_of(const OwnWeights* own, const Dims& position, const Dims& place) const {
  if (own == nullptr) return {};
  return {own->values.data() + rules.offset(rules.cells.start_of(position), place, own->strides), own};
}

std::byte* Merger::State::place(Cell cell, const Dims& segments, Dims& strides) {
  const Dims begin = rules.first_of(segments);
  Dims origin = Dims::filled(begin.size(), 0);
  if (sink == nullptr) {
    strides = output.strides;
    return output.data + rules.offset(origin, begin, strides);
  }
  origin[0] = rules.cells.band_rows(cell.slab).begin;
  strides = contiguous_strides(band_shape(cell.slab), static_cast<std::size_t>(rules.output_element));
  return rows.at(rules.cells.band(cell.slab).begin).get() + rules.offset(origin, begin, strides);
}

/// Returns the plan to write a cell to its place.
CellPlan Merger::State::plan_into(Cell cell, const Dims& segments, Sources sources, std::optional<Folding> folding) {
  Dims strides;
  std::byte* to = place(cell, segments, strides);
  return plan_cell(rules, weights, segments, std::move(sources), to, strides, folding);
}

/// Returns the plan of a step of a cell. The step's tiles are the arriving tile and waiting tiles. If the step begins the cell's
/// running sums, allocates the memory of their lower parts.
CellPlan Merger::State::plan_step(const Step& step, std::int64_t arriving, const ConstTensorView& tile,
                                  const OwnWeights* own) {
  const Dims segments = rules.cells.segments_of(step.cell);
  const std::int64_t all = rules.cells.contributor_count(segments);
  const bool is_last = step.end == all;
  Sources sources(tile.shape.size(), static_cast<std::size_t>(step.end - step.begin + 1));
  const Dims begin = rules.first_of(segments);
  Dims piece_strides;
  if (copy)
    piece_strides = contiguous_strides(rules.box(rules.cells.extents(segments)), static_cast<std::size_t>(rules.element));
  std::int64_t next = 0;
  rules.cells.each_contributor(segments, [&](std::int64_t from, const Dims& position) {
    const std::int64_t number = next++;
    if (number >= step.end || (number < step.begin && step.begin > 1)) return;
    if (number < step.begin) {
      Dims strides;
      const std::byte* there = place(step.cell, segments, strides);
      return sources.push_back(from, there, strides);
    }
    if (from == arriving)
      return sources.push_back(from, address(tile, position, begin), tile.strides, factors_of(own, position, begin));
    const Held& one = *held[from];
    const Factors factors = factors_of(one.weights.get(), position, begin);
    if (copy) return sources.push_back(from, one.pieces.at(step.cell).get(), piece_strides, factors);
    sources.push_back(from, address(one.view, position, begin), one.view.strides, factors);
  });
  // Elements of short sums have the same bits if all tiles come at once.
  const bool is_short = rules.low_bytes == 2 && ledger.has_running_sums(segments);
  if (step.begin == 0 && (step.end == 1 || (is_last && !is_short)))
    return plan_into(step.cell, segments, std::move(sources));
  Folding folding;
  if (step.begin < 2) {
    folding.step = is_last ? kernels::Fold::whole : kernels::Fold::begin;
  } else {
    folding.step = is_last ? kernels::Fold::finish : kernels::Fold::add;
    folding.first = step.begin;
  }
  if (folding.step == kernels::Fold::whole) return plan_into(step.cell, segments, std::move(sources), folding);
  const std::int64_t volume = rules.cells.volume(segments);
  Memory& memory = sums[step.cell];
  const bool has_inverse = !is_short && !rules.weights.is_separable();
  if (folding.step == kernels::Fold::begin) {
    memory = allocate(volume * ledger.sizes().sums, "sums");
    if (has_inverse) write_inverse(rules, segments, reinterpret_cast<double*>(memory.get()));
  }
  folding.low = memory.get();
  if (has_inverse) {
    folding.inverse = reinterpret_cast<const double*>(memory.get());
    folding.low += volume * static_cast<std::int64_t>(sizeof(double));
  }
  return plan_into(step.cell, segments, std::move(sources), folding);
}

/// Throws if an element of the cell has only weights of 0. Cells without a tile are refused before any tile is added.
void Merger::State::check_covered(const CellPlan& cell) const {
  Dims at;
  if (!rules.has_fill && find_uncovered(cell, at))
    fail(ErrorCode::value, op_merge, "weight", "must be above 0 in at least one tile of each element unless a fill is given",
         ErrorValue("0 in all tiles of element ", at));
}

/// Returns the shape of the band that holds a slab, with the axes of a result.
Dims Merger::State::band_shape(std::int64_t slab) const {
  Dims extents = tiles().output();
  extents[0] = rules.cells.band_rows(slab).size();
  return rules.output_box(extents);
}

/// Allocates the memory of a slab's band if there is none, and adds plans to `work` that fill the cells without contributing tiles.
void Merger::State::hold_rows(std::int64_t slab, std::vector<CellPlan>& work) {
  if (sink != nullptr) {
    Memory& memory = rows[rules.cells.band(slab).begin];
    if (!memory) memory = allocate(ledger.band_bytes(slab), "rows");
  }
  if (!rules.has_fill) return;
  for (std::int64_t inner = 0; inner < rules.cells.cells_in_slab(); ++inner) {
    const Cell cell{slab, inner};
    const Dims segments = rules.cells.segments_of(cell);
    if (rules.cells.contributor_count(segments) == 0) work.push_back(plan_into(cell, segments, Sources()));
  }
}

void Merger::State::send_rows() {
  bool is_held = false;
  while (ledger.next_is_finished(is_held)) {
    const std::int64_t slab = ledger.next();
    if (!is_held) {  // no tile contributes to this slab
      std::vector<CellPlan> work;
      hold_rows(slab, work);
      ledger.hold_next();
      run_cells(work, executor);
    }
    if (const Span slabs = rules.cells.band(slab); sink != nullptr && slab + 1 == slabs.end) {
      const Dims shape = band_shape(slab);
      const ConstTensorView band{rows.at(slabs.begin).get(), shape,
                                 contiguous_strides(shape, static_cast<std::size_t>(rules.output_element)),
                                 rules.output_dtype, static_cast<std::size_t>(rules.output_element)};
      sink->write(rules.cells.band_rows(slab), {band.data, rules.without_classes(shape), rules.without_classes(band.strides),
                                                band.dtype, band.element_size});
      rows.erase(slabs.begin);
    }
    ledger.next_left();
  }
}

/// Returns the most bytes that a tile which comes before its turn may take until its turn: its own bytes, and the bytes of
/// all bands to which it contributes.
std::int64_t Merger::State::early_bytes_of(const Arrival& arrival) const {
  std::int64_t bytes = arrival.tile_bytes;
  std::int64_t last = -1;
  for (const Cell cell : rules.cells.cells_of(arrival.tile))
    if (const std::int64_t band = rules.cells.band(cell.slab).begin; std::exchange(last, band) != band)
      bytes += ledger.band_bytes(cell.slab);
  return bytes;
}

/// Throws if a tile that comes before its turn, or that has weights of its own, would leave too little memory for earlier tiles.
void Merger::State::check_room(const Arrival& arrival) const {
  const bool is_early = arrival.tile != next_tile;
  if (!is_early && arrival.weight_bytes == 0) return;
  std::int64_t bytes = in_order + ledger.weight_bytes() + arrival.weight_bytes + (is_early ? early_bytes_of(arrival) : 0);
  for (const auto& [tile, taken] : early) bytes += taken;
  if (bytes > *limit && !is_early)
    checks.refuse(arrival.tile, ErrorCode::out_of_memory, "has weights for which memory_limit leaves no room",
                  text(*limit) + " bytes", "a number as weight, or " + text(bytes) + " bytes");
  if (bytes > *limit)
    checks.refuse(arrival.tile, ErrorCode::out_of_memory,
                  "comes too early: memory_limit would leave no room for the tiles before it", text(*limit) + " bytes",
                  "tile " + text(next_tile) + " next, or " + text(bytes) + " bytes");
}

void Merger::State::add(std::int64_t index, const ConstTensorView& given, const TileWeights& given_weights,
                        const std::shared_ptr<const void>& owner, std::vector<std::unique_ptr<Held>>& done) {
  const ConstTensorView tile = checked(index, given);
  std::unique_ptr<const OwnWeights> own;
  if (given_weights.array || given_weights.number != 1)
    own = own_weights(rules, given_weights, tile.shape, checks.name(index));
  if (own && rules.low_bytes > 0)
    checks.refuse(index, ErrorCode::value, "must have no weights of its own in running sums", "weights",
                  "no weights, or a merge without `running_sums`");
  Arrival arrival = ledger.preview(index);
  if (own && !arrival.waiting.empty()) arrival.weight_bytes = own->bytes();
  if (limit) check_room(arrival);

  const auto name = [index] { return "tile " + text(index); };
  try {
    std::vector<CellPlan> work;
    auto waiting = std::make_unique<Held>();
    for (const std::int64_t slab : arrival.held) hold_rows(slab, work);
    work.reserve(work.size() + arrival.finished.size() + arrival.summed.size() + (copy ? arrival.waiting.size() : 0));
    for (const Step& step : arrival.finished) check_covered(work.emplace_back(plan_step(step, index, tile, own.get())));
    for (const Step& step : arrival.summed) work.push_back(plan_step(step, index, tile, nullptr));
    if (copy) {
      for (const Cell cell : arrival.waiting) {
        const Dims segments = rules.cells.segments_of(cell);
        Memory& piece = waiting->pieces[cell] =
            allocate(rules.cells.volume(segments) * ledger.sizes().tile_element, "tiles");
        Sources source(tile.shape.size(), 1);
        source.push_back(index, address(tile, rules.cells.position_of(index), rules.first_of(segments)), tile.strides);
        work.push_back(plan_copy(rules, segments, std::move(source), piece.get()));
      }
    } else {
      waiting->view = tile;
      waiting->owner = owner;
    }
    waiting->weights = std::move(own);  // moving keeps the address of the values, to which the plans of cells point
    if (!arrival.waiting.empty()) held.set(index, std::move(waiting));
    if (limit && index != next_tile) early[index] = early_bytes_of(arrival);
    // Elements that are already written are written again when the tile is added again. Sums in the output cannot be made again, so
    // a failure while adding to them closes the merger.
    const auto is_added = [](const Step& step) { return step.begin > 0; };
    if (std::any_of(arrival.finished.begin(), arrival.finished.end(), is_added) ||
        std::any_of(arrival.summed.begin(), arrival.summed.end(), is_added))
      or_close(name, [&] { run_cells(work, executor); });
    else
      run_cells(work, executor);
    ledger.accept(arrival);
  } catch (...) {
    early.erase(index);
    for (const Step& step : arrival.summed)
      if (step.begin < 2) sums.erase(step.cell);
    held.take(index);
    for (const std::int64_t slab : arrival.held)
      if (!ledger.is_band_held(slab)) rows.erase(rules.cells.band(slab).begin);
    throw;
  }
  or_close(name, [&] {
    while (next_tile < tiles().size() && (ledger.has_come(next_tile) || rules.cells.is_masked(next_tile)))
      early.erase(next_tile++);
    for (const auto* steps : {&arrival.finished, &arrival.summed})
      for (const Step& step : *steps) {
        if (steps == &arrival.finished) sums.erase(step.cell);
        if (!copy) continue;
        const std::vector<std::int64_t> from = rules.cells.contributors(rules.cells.segments_of(step.cell));
        for (std::int64_t i = step.begin; i < step.end; ++i)
          if (const std::int64_t other = from[static_cast<std::size_t>(i)]; other != index)
            held[other]->pieces.erase(step.cell);
      }
    const std::vector<std::int64_t> tiles_done = ledger.settle(arrival);
    done.reserve(tiles_done.size());
    for (const std::int64_t tile_done : tiles_done) done.push_back(held.take(tile_done));
    send_rows();
  });
}

}  // namespace patchfold
