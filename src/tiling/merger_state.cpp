// SPDX-License-Identifier: Apache-2.0
#include "tiling/merger_state.hpp"

#include <algorithm>
#include <utility>

#include "tensor/fail.hpp"
#include "tiling/names.hpp"

namespace patchfold {

using namespace tiling;

namespace {

Memory allocate(std::int64_t bytes, std::string_view what) {
  Memory memory(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
  if (!memory) fail(ErrorCode::out_of_memory, op_merge, what, "not enough memory", text(bytes) + " bytes");
  return memory;
}

/// "tile 17 at position [2, 5]".
std::string tile_name(const Tiling& tiling, std::int64_t tile) {
  return "tile " + tile_text(tiling, tile);
}

}  // namespace

Merger::State::State(const Tiling& tiling, const MergeSpec& spec, Executor& executor, bool to_sink)
    : rules(tiling, spec, to_sink),
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
  if (index < 0 || index >= tiles().size())
    fail(ErrorCode::value, op_merge, "index", "must be the index of a tile", index,
         tiles().size() == 0 ? "none: there are no tiles" : "0 to " + text(tiles().size() - 1));
  const auto refuse = [&](ErrorCode code, std::string_view rule, const auto&... given) {
    fail(code, op_merge, tile_name(tiles(), index), rule, given...);
  };
  if (rules.cells.is_masked(index)) refuse(ErrorCode::value, "must not come: the mask leaves it out");
  if (ledger.has_come(index)) refuse(ErrorCode::value, "must not come twice");
  const Dims shape = rules.box(rules.cells.result_of(index));
  if (!(tile.shape == shape)) refuse_shape(tiles(), op_merge, tile_name(tiles(), index), index, tile.shape, shape);
  if (tile.dtype != rules.dtype || static_cast<std::int64_t>(tile.element_size) != rules.element)
    refuse(ErrorCode::dtype, "must have the type of the merge",
           text(tile.dtype) + " of " + text(tile.element_size) + " bytes",
           text(rules.dtype) + " of " + text(rules.element) + " bytes");
  if (tile.data == nullptr && element_count(shape) > 0) refuse(ErrorCode::null_data, "has elements, but no data");
  const ops::Sound sound = sound_view(index, tile);
  if (sink == nullptr && engine::overlap(static_cast<const std::byte*>(tile.data), sound.range,
                                         static_cast<const std::byte*>(output.data), output_range))
    refuse(ErrorCode::overlap, "must not share memory with the output");
  return {tile.data, tile.shape, sound.strides, tile.dtype, tile.element_size};
}

/// The tile's name takes time to write, so it is written only for an error.
ops::Sound Merger::State::sound_view(std::int64_t index, const ConstTensorView& tile) const {
  try {
    return ops::check_view(op_merge, "tile", tile);
  } catch (const Error& error) {
    Error::Parts parts = error.parts();
    parts.argument = tile_name(tiles(), index);
    throw Error(std::move(parts));
  }
}

/// The first element of a cell that begins at `begin` of the output, in a tile at that position.
const std::byte* Merger::State::first_of(const ConstTensorView& tile, const Dims& position, const Dims& begin) const {
  const auto* data = static_cast<const std::byte*>(tile.data);
  for (int i = 0; i < begin.size(); ++i)
    data += (begin[i] - rules.cells.start(i, position[i])) * tile.strides[static_cast<int>(rules.axes[i])];
  return data;
}

/// The weights from an element of the output on that a tile at that position gives itself.
Factors Merger::State::factors_of(const OwnWeights* own, const Dims& position, const Dims& begin) const {
  if (own == nullptr) return {};
  const double* first = own->values.data();
  for (int i = 0; i < begin.size(); ++i)
    first += (begin[i] - rules.cells.start(i, position[i])) * own->strides[static_cast<int>(rules.axes[i])];
  return {first, own};
}

/// The plan that writes a cell to the output, or to the memory of its slab.
CellPlan Merger::State::plan_into(Cell cell, const Dims& segments, Sources sources) {
  std::byte* to = nullptr;
  Dims strides = output.strides;
  std::int64_t row = rules.cells.segment(0, cell.slab).span.begin;
  if (sink == nullptr) {
    to = static_cast<std::byte*>(output.data);
  } else {
    to = rows.at(rules.cells.band(cell.slab).begin).get();
    row -= rules.cells.band_rows(cell.slab).begin;
    strides = contiguous_strides(band_shape(cell.slab), static_cast<std::size_t>(rules.output_element));
  }
  to += row * strides[static_cast<int>(rules.axes[0])];
  for (int i = 1; i < segments.size(); ++i)
    to += rules.cells.segment(i, segments[i]).span.begin * strides[static_cast<int>(rules.axes[i])];
  return CellPlan(rules, weights, segments, std::move(sources), to, strides);
}

CellPlan Merger::State::plan_cell(Cell cell, std::int64_t arriving, const ConstTensorView& tile, const OwnWeights* own) {
  const Dims segments = rules.cells.segments_of(cell);
  Sources sources(tile.shape.size(), static_cast<std::size_t>(rules.cells.contributor_count(segments)));
  const Dims begin = rules.first_of(segments);
  Dims piece_strides;
  if (copy)
    piece_strides = contiguous_strides(rules.box(rules.cells.extents(segments)), static_cast<std::size_t>(rules.element));
  rules.cells.each_contributor(segments, [&](std::int64_t from, const Dims& position) {
    if (from == arriving)
      return sources.push_back(from, first_of(tile, position, begin), tile.strides, factors_of(own, position, begin));
    const Held& one = *held[from];
    const Factors factors = factors_of(one.weights.get(), position, begin);
    if (copy) return sources.push_back(from, one.pieces.at(cell).get(), piece_strides, factors);
    sources.push_back(from, first_of(one.view, position, begin), one.view.strides, factors);
  });
  return plan_into(cell, segments, std::move(sources));
}

/// Refuses a cell that holds elements to which no tile contributes. Cells without a tile are refused before any tile comes.
void Merger::State::check_covered(const CellPlan& cell) const {
  Dims at;
  if (!rules.has_fill && cell.find_uncovered(at))
    fail(ErrorCode::value, op_merge, "weight", "must be above 0 in at least one tile of each element unless a fill is given",
         ErrorValue("0 in all tiles of element ", at));
}

/// The shape of the band that holds a slab.
Dims Merger::State::band_shape(std::int64_t slab) const {
  Dims extents = tiles().output();
  extents[0] = rules.cells.band_rows(slab).size();
  return rules.box(extents);
}

/// Allocates the memory of a slab's band, unless another slab has, and plans to fill the cells that no tile contributes to.
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
      sink->write(rules.cells.band_rows(slab), band);
      rows.erase(slabs.begin);
    }
    ledger.next_left();
  }
}

/// The most bytes that a tile which comes early may take until its turn: its own, and those of all bands that it contributes
/// to.
std::int64_t Merger::State::early_bytes_of(const Arrival& arrival) const {
  std::int64_t bytes = arrival.tile_bytes;
  std::int64_t last = -1;
  for (const Cell cell : rules.cells.cells_of(arrival.tile))
    if (const std::int64_t band = rules.cells.band(cell.slab).begin; std::exchange(last, band) != band)
      bytes += ledger.band_bytes(cell.slab);
  return bytes;
}

/// Refuses a tile that would leave too little room for the tiles before it: one that comes early, or whose weights take
/// room.
void Merger::State::check_room(const Arrival& arrival) const {
  const bool is_early = arrival.tile != next_tile;
  if (!is_early && arrival.weight_bytes == 0) return;
  std::int64_t bytes = in_order + ledger.weight_bytes() + arrival.weight_bytes + (is_early ? early_bytes_of(arrival) : 0);
  for (const auto& [tile, taken] : early) bytes += taken;
  if (bytes > *limit && !is_early)
    fail(ErrorCode::out_of_memory, op_merge, tile_name(tiles(), arrival.tile),
         "has weights for which memory_limit leaves no room", text(*limit) + " bytes",
         "a number as weight, or " + text(bytes) + " bytes");
  if (bytes > *limit)
    fail(ErrorCode::out_of_memory, op_merge, tile_name(tiles(), arrival.tile),
         "comes too early: memory_limit would leave no room for the tiles before it", text(*limit) + " bytes",
         "tile " + text(next_tile) + " next, or " + text(bytes) + " bytes");
}

void Merger::State::add(std::int64_t index, const ConstTensorView& given, const TileWeights& given_weights,
                        const std::shared_ptr<const void>& owner, std::vector<std::unique_ptr<Held>>& done) {
  const ConstTensorView tile = checked(index, given);
  std::unique_ptr<const OwnWeights> own;
  if (given_weights.array || given_weights.number != 1)
    own = own_weights(rules, given_weights, tile.shape, tile_name(tiles(), index));
  Arrival arrival = ledger.preview(index);
  if (own && !arrival.waiting.empty()) arrival.weight_bytes = own->bytes();
  if (limit) check_room(arrival);

  try {
    std::vector<CellPlan> work;
    auto waiting = std::make_unique<Held>();
    for (const std::int64_t slab : arrival.held) hold_rows(slab, work);
    work.reserve(work.size() + arrival.finished.size() + (copy ? arrival.waiting.size() : 0));
    for (const Cell cell : arrival.finished) check_covered(work.emplace_back(plan_cell(cell, index, tile, own.get())));
    if (copy) {
      for (const Cell cell : arrival.waiting) {
        const Dims segments = rules.cells.segments_of(cell);
        Memory& piece = waiting->pieces[cell] =
            allocate(rules.cells.volume(segments) * ledger.sizes().tile_element, "tiles");
        Sources source(tile.shape.size(), 1);
        source.push_back(index, first_of(tile, rules.cells.position_of(index), rules.first_of(segments)), tile.strides);
        work.emplace_back(rules, segments, std::move(source), piece.get());
      }
    } else {
      waiting->view = tile;
      waiting->owner = owner;
    }
    waiting->weights = std::move(own);  // its values stay where the plans of cells point to
    if (!arrival.waiting.empty()) held.set(index, std::move(waiting));
    if (limit && index != next_tile) early[index] = early_bytes_of(arrival);
    run_cells(work, executor);
    ledger.accept(arrival);
  } catch (...) {
    // What has been written to the output is written again when the tile comes again.
    early.erase(index);
    held.take(index);
    for (const std::int64_t slab : arrival.held)
      if (!ledger.is_band_held(slab)) rows.erase(rules.cells.band(slab).begin);
    throw;
  }
  const auto name = [index] { return "tile " + text(index); };
  or_close(name, [&] {
    while (next_tile < tiles().size() && (ledger.has_come(next_tile) || rules.cells.is_masked(next_tile)))
      early.erase(next_tile++);
    for (const Cell cell : arrival.finished)
      if (copy)
        for (const std::int64_t from : rules.cells.contributors(rules.cells.segments_of(cell)))
          if (from != index) held[from]->pieces.erase(cell);
    const std::vector<std::int64_t> tiles_done = ledger.settle(arrival);
    done.reserve(tiles_done.size());
    for (const std::int64_t tile_done : tiles_done) done.push_back(held.take(tile_done));
    send_rows();
  });
}

}  // namespace patchfold
