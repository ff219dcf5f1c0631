// SPDX-License-Identifier: Apache-2.0
// A merge in progress: tiles that wait, rows that are being filled, and the way from the arrival of a tile to work for
// threads.
#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "engine/parallel_rows.hpp"
#include "ops/operands.hpp"
#include "tensor/fail.hpp"
#include "tiling/gather_rows.hpp"
#include "tiling/ledger.hpp"
#include "tiling/names.hpp"
#include "tiling/rules.hpp"

namespace patchfold {

using namespace tiling;

RowSink::~RowSink() = default;

namespace {

using Memory = std::unique_ptr<std::byte[]>;

Memory allocate(std::int64_t bytes, std::string_view what) {
  Memory memory(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
  if (!memory) fail(ErrorCode::out_of_memory, op_merge, what, "memory could not be had", text(bytes) + " bytes");
  return memory;
}

Sizes sizes_of(const Rules& rules, bool copy, bool to_sink) {
  const std::int64_t channels = element_count(rules.channels);
  return {channels * rules.element, to_sink ? channels * rules.output_element : 0, copy};
}

/// "17 at position [2, 5]".
std::string tile_text(const Tiling& tiling, std::int64_t tile) {
  return text(tile) + " at position " + text(tiling[tile].position);
}

/// A tile some of whose cells miss other tiles.
struct Held {
  ConstTensorView view{};
  std::shared_ptr<const void> owner{};
  std::map<Cell, Memory> pieces{};  ///< in place of the view, if copied
};

}  // namespace

struct Merger::State {
  State(const Tiling& tiling, const MergeSpec& spec, Executor& executor, bool to_sink)
      : rules(tiling, spec),
        ledger(rules.cells, sizes_of(rules, spec.copy, to_sink)),
        executor(executor),
        copy(spec.copy),
        limit(spec.memory_limit) {
    while (next_tile < tiling.size() && rules.cells.is_masked(next_tile)) ++next_tile;
    if (!limit) return;
    in_order = merge_memory(tiling, spec, to_sink).most;
    if (in_order > *limit)
      fail(ErrorCode::out_of_memory, op_merge, "memory_limit", "is less than what waits if tiles come in order", *limit,
           "at least " + text(in_order) + " bytes");
  }

  const Tiling& tiling() const { return rules.cells.tiling(); }
  /// Returns the tile with strides that are 0 where they do not matter.
  ConstTensorView checked(std::int64_t index, const ConstTensorView& tile) const;
  void add(std::int64_t index, const ConstTensorView& given, const std::shared_ptr<const void>& owner,
           std::map<std::int64_t, Held>& done);
  void hold_rows(std::int64_t slab, std::vector<Gather>& work);
  Source source_of(std::int64_t tile, const ConstTensorView& view, const Dims& segments) const;
  Source held_source(std::int64_t tile, Cell cell, const Dims& segments) const;
  Gather gather_cell(Cell cell, std::int64_t arriving, const ConstTensorView& tile);
  Gather gather_into(Cell cell, const Dims& segments, std::vector<Source> sources);
  void run(const std::vector<Gather>& work);
  void send_rows();
  Dims band_shape(std::int64_t slab) const;
  std::int64_t early_bytes_of(const Arrival& arrival) const;
  void check_room(const Arrival& arrival) const;
  template <class F>
  void or_close(std::string_view what, F&& f);
  void close(std::string_view what, std::string_view why) noexcept;

  mutable std::mutex mutex{};
  Rules rules;
  Ledger ledger;
  Executor& executor;
  bool copy;
  std::optional<std::int64_t> limit;
  std::int64_t in_order = 0;                     ///< bytes at the peak if tiles come in order; for a limit
  std::int64_t next_tile = 0;                    ///< all before it have come
  std::map<std::int64_t, std::int64_t> early{};  ///< bytes kept free for tiles that came before their turn; for a limit
  TensorView output{};                           ///< without a sink
  engine::ByteRange output_range{};
  RowSink* sink = nullptr;
  std::map<std::int64_t, Memory> rows{};  ///< for a sink: slabs that are held
  std::map<std::int64_t, Held> held{};    ///< tiles
  bool has_failed = false;                ///< no more tiles are taken
  std::string failure{};                  ///< why, if there was memory to say so
};

ConstTensorView Merger::State::checked(std::int64_t index, const ConstTensorView& tile) const {
  if (has_failed) fail(ErrorCode::value, op_merge, "tile", "cannot be taken any more", failure);
  if (index < 0 || index >= tiling().size())
    fail(ErrorCode::value, op_merge, "tile", "must be the index of a tile", index, "0 to " + text(tiling().size() - 1));
  const std::string name = "tile " + tile_text(tiling(), index);
  if (rules.cells.is_masked(index)) fail(ErrorCode::value, op_merge, name, "must not come: the mask leaves it out");
  if (ledger.has_come(index)) fail(ErrorCode::value, op_merge, name, "must not come twice");
  const Dims shape = tiling().result_shape(index, rules.channels);
  if (!(tile.shape == shape))
    fail(ErrorCode::shape, op_merge, name, "must have the shape of the tile's result", tile.shape, shape);
  if (tile.dtype != rules.dtype || static_cast<std::int64_t>(tile.element_size) != rules.element)
    fail(ErrorCode::dtype, op_merge, name, "must have the type of the merge",
         text(tile.dtype) + " of " + text(tile.element_size) + " bytes",
         text(rules.dtype) + " of " + text(rules.element) + " bytes");
  if (tile.data == nullptr && element_count(shape) > 0)
    fail(ErrorCode::null_data, op_merge, name, "has elements, but no data");
  const ops::Sound sound = ops::check_view(op_merge, name, tile);
  if (sink == nullptr && engine::overlap(static_cast<const std::byte*>(tile.data), sound.range,
                                         static_cast<const std::byte*>(output.data), output_range))
    fail(ErrorCode::overlap, op_merge, name, "must not share memory with the output");
  return {tile.data, tile.shape, sound.strides, tile.dtype, tile.element_size};
}

Source Merger::State::source_of(std::int64_t tile, const ConstTensorView& view, const Dims& segments) const {
  Source source{tile, static_cast<const std::byte*>(view.data), view.strides};
  const Dims inside = rules.inside_tile(tile, segments);
  for (int i = 0; i < inside.size(); ++i) source.data += inside[i] * view.strides[static_cast<int>(rules.axes[i])];
  return source;
}

Source Merger::State::held_source(std::int64_t tile, Cell cell, const Dims& segments) const {
  const Held& one = held.at(tile);
  if (!copy) return source_of(tile, one.view, segments);
  Dims extents;
  for (int i = 0; i < segments.size(); ++i) extents.push_back(rules.cells.segment(i, segments[i]).span.size());
  return {tile, one.pieces.at(cell).get(), contiguous_strides(rules.box(extents), static_cast<std::size_t>(rules.element))};
}

/// Work that writes the cell to where its rows are held.
Gather Merger::State::gather_into(Cell cell, const Dims& segments, std::vector<Source> sources) {
  std::byte* to = nullptr;
  Dims strides = output.strides;
  if (sink == nullptr) {
    to = static_cast<std::byte*>(output.data) +
         rules.cells.segment(0, cell.slab).span.begin * strides[static_cast<int>(rules.axes[0])];
  } else {
    to = rows.at(cell.slab).get();
    strides = contiguous_strides(band_shape(cell.slab), static_cast<std::size_t>(rules.output_element));
  }
  for (int i = 1; i < segments.size(); ++i)
    to += rules.cells.segment(i, segments[i]).span.begin * strides[static_cast<int>(rules.axes[i])];
  return Gather(rules, segments, std::move(sources), to, strides);
}

Gather Merger::State::gather_cell(Cell cell, std::int64_t arriving, const ConstTensorView& tile) {
  const Dims segments = rules.cells.segments_of(cell);
  std::vector<Source> sources;
  for (const std::int64_t from : rules.cells.contributors(segments))
    sources.push_back(from == arriving ? source_of(from, tile, segments) : held_source(from, cell, segments));
  return gather_into(cell, segments, std::move(sources));
}

Dims Merger::State::band_shape(std::int64_t slab) const {
  Dims extents = tiling().output();
  extents[0] = rules.cells.segment(0, slab).span.size();
  return rules.box(extents);
}

/// Gets memory for a slab, and fills what no tile gives.
void Merger::State::hold_rows(std::int64_t slab, std::vector<Gather>& work) {
  if (sink != nullptr) rows[slab] = allocate(ledger.slab_bytes(slab), "rows");
  if (!rules.has_fill) return;
  for (std::int64_t inner = 0; inner < rules.cells.cells_in_slab(); ++inner) {
    const Cell cell{slab, inner};
    const Dims segments = rules.cells.segments_of(cell);
    if (rules.cells.contributor_count(segments) == 0) work.push_back(gather_into(cell, segments, {}));
  }
}

void Merger::State::run(const std::vector<Gather>& work) {
  // Groups of cells beside each other share their rows.
  std::vector<std::size_t> begins;
  std::vector<std::int64_t> row_begins = {0};
  double bytes = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    bytes += work[i].bytes();
    if (i > 0 && work[i].continues(work[i - 1])) continue;
    begins.push_back(i);
    row_begins.push_back(row_begins.back() + work[i].rows());
  }
  begins.push_back(work.size());
  std::atomic<bool> had_memory = true;
  const auto make_group = [&](std::size_t group, std::int64_t first, std::int64_t last) {
    std::vector<GatherRows> cells;
    cells.reserve(begins[group + 1] - begins[group]);
    for (std::size_t i = begins[group]; i < begins[group + 1]; ++i)
      if (!cells.emplace_back(work[i]).seek(first)) throw std::bad_alloc();
    for (std::int64_t row = first; row < last; ++row)
      for (GatherRows& cell : cells) cell.make_row();
  };
  auto rows_of_work = [&](std::int64_t first, std::int64_t last) noexcept {
    auto group =
        static_cast<std::size_t>(std::upper_bound(row_begins.begin(), row_begins.end(), first) - row_begins.begin()) - 1;
    try {
      for (; first < last; ++group) {
        const std::int64_t end = std::min(last, row_begins[group + 1]);
        if (first < end) make_group(group, first - row_begins[group], end - row_begins[group]);
        first = end;
      }
    } catch (const std::bad_alloc&) {
      had_memory = false;
    }
    kernels::finish_stores();
  };
  throw_if_failed(engine::parallel_rows(row_begins.back(), bytes, rows_of_work, executor), op_merge);
  if (!had_memory) throw std::bad_alloc();
}

/// Sends finished rows on their way, in order.
void Merger::State::send_rows() {
  bool is_held = false;
  while (ledger.next_is_finished(is_held)) {
    const std::int64_t slab = ledger.next();
    if (!is_held) {  // no tile gives anything to these rows
      std::vector<Gather> work;
      hold_rows(slab, work);
      ledger.hold_next();
      run(work);
    }
    if (sink != nullptr) {
      const Dims shape = band_shape(slab);
      const ConstTensorView band{rows.at(slab).get(), shape,
                                 contiguous_strides(shape, static_cast<std::size_t>(rules.output_element)),
                                 rules.output_dtype, static_cast<std::size_t>(rules.output_element)};
      sink->write(rules.cells.segment(0, slab).span, band);
      rows.erase(slab);
    }
    ledger.next_left();
  }
}

/// Calls f; if it throws, no more tiles are taken.
template <class F>
void Merger::State::or_close(std::string_view what, F&& f) {
  try {
    f();
  } catch (const std::bad_alloc&) {
    close(what, "out of memory");
    throw;
  } catch (const std::exception& error) {
    close(what, error.what());
    throw;
  } catch (...) {
    close(what, "");
    throw;
  }
}

void Merger::State::close(std::string_view what, std::string_view why) noexcept {
  has_failed = true;
  try {
    failure.append(what).append(why.empty() ? " failed" : " failed: ").append(why);
  } catch (const std::bad_alloc&) {
    failure.clear();
  }
}

/// Bytes that a tile which comes early may take until its turn: its own, and those of all rows that it helps to finish.
std::int64_t Merger::State::early_bytes_of(const Arrival& arrival) const {
  std::int64_t bytes = arrival.tile_bytes;
  std::int64_t last = -1;
  for (const Cell cell : rules.cells.cells_of(arrival.tile))
    if (std::exchange(last, cell.slab) != cell.slab) bytes += ledger.slab_bytes(cell.slab);
  return bytes;
}

/// The next tile in order always has room. One that comes early must leave it: what waits in order and what waits early
/// add up to no more than the limit.
void Merger::State::check_room(const Arrival& arrival) const {
  if (arrival.tile == next_tile) return;
  std::int64_t bytes = in_order + early_bytes_of(arrival);
  for (const auto& [tile, taken] : early) bytes += taken;
  if (bytes > *limit)
    fail(ErrorCode::out_of_memory, op_merge, "tile " + tile_text(tiling(), arrival.tile),
         "comes too early: memory_limit would leave no room for the tiles before it", text(*limit) + " bytes",
         "tile " + text(next_tile) + " next, or " + text(bytes) + " bytes");
}

/// Tiles that nobody waits for any more go to `done`.
void Merger::State::add(std::int64_t index, const ConstTensorView& given, const std::shared_ptr<const void>& owner,
                        std::map<std::int64_t, Held>& done) {
  const ConstTensorView tile = checked(index, given);
  const std::string name = "tile " + text(index);
  const Arrival arrival = ledger.preview(index);
  if (limit) check_room(arrival);

  try {
    std::vector<Gather> work;
    Held waiting;
    for (const std::int64_t slab : arrival.held) hold_rows(slab, work);
    for (const Cell cell : arrival.finished) work.push_back(gather_cell(cell, index, tile));
    if (copy) {
      for (const Cell cell : arrival.waiting) {
        const Dims segments = rules.cells.segments_of(cell);
        Memory& piece = waiting.pieces[cell] = allocate(rules.cells.volume(segments) * ledger.sizes().tile_element, name);
        work.emplace_back(rules, segments, source_of(index, tile, segments), piece.get());
      }
    } else {
      waiting.view = tile;
      waiting.owner = owner;
    }
    if (!arrival.waiting.empty()) held[index] = std::move(waiting);
    if (limit && index != next_tile) early[index] = early_bytes_of(arrival);
    run(work);
    ledger.accept(arrival);
  } catch (...) {
    // What has been written will be written again.
    early.erase(index);
    held.erase(index);
    for (const std::int64_t slab : arrival.held) rows.erase(slab);
    throw;
  }
  or_close(name, [&] {
    while (next_tile < tiling().size() && (ledger.has_come(next_tile) || rules.cells.is_masked(next_tile)))
      early.erase(next_tile++);
    for (const Cell cell : arrival.finished)
      if (copy)
        for (const std::int64_t from : rules.cells.contributors(rules.cells.segments_of(cell)))
          if (from != index) held.at(from).pieces.erase(cell);
    for (const std::int64_t tile_done : ledger.settle(arrival)) done.insert(held.extract(tile_done));
    send_rows();
  });
}

Merger::Merger(const Tiling& tiling, const MergeSpec& spec, const TensorView& output, Executor& executor)
    : state_(std::make_unique<State>(tiling, spec, executor, false)) {
  const Rules& rules = state_->rules;
  const Dims shape = tiling.output_shape(rules.channels);
  // Its own stand-in for a source: only the output is looked at.
  ConstTensorView like{output.data, shape, Dims::filled(shape.size(), 0), rules.output_dtype,
                       static_cast<std::size_t>(rules.output_element)};
  const ops::Operands operands = ops::check_operands(op_merge, "tiles", like, "output", output, shape);
  if (output.data == nullptr && element_count(shape) > 0)
    fail(ErrorCode::null_data, op_merge, "output", "has elements, but no data");
  state_->output = output;
  state_->output.strides = operands.dst_strides;
  state_->output_range = operands.problem.dst_range;
}

Merger::Merger(const Tiling& tiling, const MergeSpec& spec, RowSink& sink, Executor& executor)
    : state_(std::make_unique<State>(tiling, spec, executor, true)) {
  state_->sink = &sink;
}

Merger::Merger(Merger&&) noexcept = default;
Merger& Merger::operator=(Merger&&) noexcept = default;
Merger::~Merger() = default;

void Merger::add(std::int64_t index, const ConstTensorView& tile, std::shared_ptr<const void> owner) {
  // Owners are let go when nothing is locked any more: what they do then may call the merger.
  std::map<std::int64_t, Held> done;
  const std::lock_guard lock(state_->mutex);
  state_->add(index, tile, owner, done);
}

void Merger::finish() {
  const std::lock_guard lock(state_->mutex);
  if (state_->has_failed) fail(ErrorCode::value, op_merge, "finish", "cannot be done any more", state_->failure);
  std::int64_t count = 0;
  std::string names;
  for (const std::int64_t tile : state_->ledger.missing(3, count))
    names += (names.empty() ? "" : ", ") + tile_text(state_->tiling(), tile);
  if (count > 0)
    fail(ErrorCode::missing, op_merge, "tile", "must all have come",
         text(count) + " missing: " + names + (count > 3 ? ", .." : ""), text(state_->tiling().size()) + " tiles");
  state_->or_close("the last rows", [&] { state_->send_rows(); });
}

std::int64_t Merger::waiting_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->ledger.bytes();
}

std::int64_t Merger::peak_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->ledger.peak().most;
}

MergeMemory merge_memory(const Tiling& tiling, const MergeSpec& spec, bool to_sink) {
  const Rules rules(tiling, spec);
  Ledger ledger(rules.cells, sizes_of(rules, spec.copy, to_sink));
  const auto send_rows = [&ledger] {
    bool is_held = false;
    while (ledger.next_is_finished(is_held)) {
      if (!is_held) ledger.hold_next();
      ledger.next_left();
    }
  };
  for (std::int64_t tile = 0; tile < tiling.size(); ++tile) {
    if (rules.cells.is_masked(tile)) continue;
    const Arrival arrival = ledger.preview(tile);
    ledger.accept(arrival);
    ledger.settle(arrival);
    send_rows();
  }
  send_rows();
  return ledger.peak();
}

}  // namespace patchfold
