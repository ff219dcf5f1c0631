// SPDX-License-Identifier: Apache-2.0
#include "tiling/ledger.hpp"

#include <algorithm>

namespace patchfold::tiling {

Ledger::Ledger(const Cells& cells, const Sizes& sizes)
    : cells_(cells),
      sizes_(sizes),
      slabs_(static_cast<std::size_t>(cells.slabs())),
      held_bands_(static_cast<std::size_t>(cells.slabs())),
      come_(static_cast<std::size_t>(cells.tiling().size())),
      waiting_(cells.tiling().size()) {}

Ledger::Slab Ledger::counted(std::int64_t number) const {
  Slab slab;
  slab.missing.resize(static_cast<std::size_t>(cells_.cells_in_slab()));
  for (std::int64_t inner = 0; inner < cells_.cells_in_slab(); ++inner) {
    const std::int64_t count = cells_.contributor_count(cells_.segments_of({number, inner}));
    slab.missing[static_cast<std::size_t>(inner)] = count;
    slab.unfinished += count > 0;
  }
  return slab;
}

std::int64_t Ledger::band_bytes(std::int64_t slab) const {
  std::int64_t elements = cells_.band_rows(slab).size();
  for (int axis = 1; axis < cells_.tiling().output().size(); ++axis) elements *= cells_.tiling().output()[axis];
  return elements * sizes_.output_element;
}

std::int64_t Ledger::whole_bytes(std::int64_t tile) const {
  return element_count(cells_.result_of(tile)) * sizes_.tile_element;
}

bool Ledger::has_running_sums(const Dims& segments) const {
  return sizes_.sums > 0 && cells_.is_whole(segments);
}

/// Returns the tiles of a cell that are merged when `arriving` arrives. With running sums there are no such tiles while a
/// tile before `arriving` is missing.
Step Ledger::step_of(Cell cell, std::int64_t arriving) const {
  const Dims segments = cells_.segments_of(cell);
  Step step{cell};
  if (!has_running_sums(segments)) return {cell, 0, cells_.contributor_count(segments)};
  bool is_behind = false;  // a missing tile comes before this one
  bool has_arrived = false;
  cells_.each_contributor(segments, [&](std::int64_t tile, const Dims&) {
    has_arrived |= tile == arriving;
    is_behind |= tile != arriving && !has_come(tile);
    if (is_behind) return;
    if (!has_arrived) ++step.begin;
    ++step.end;
  });
  return has_arrived && step.begin < step.end ? step : Step{cell};
}

Arrival Ledger::preview(std::int64_t tile) const {
  Arrival arrival{.tile = tile};
  for (const Cell cell : cells_.cells_of(tile)) {
    const Slab& slab = slabs_[static_cast<std::size_t>(cell.slab)];
    const Dims segments = cells_.segments_of(cell);
    const std::int64_t missing =
        slab.missing.empty() ? cells_.contributor_count(segments) : slab.missing[static_cast<std::size_t>(cell.inner)];
    const Step step = step_of(cell, tile);
    const std::int64_t volume = cells_.volume(segments);
    if (missing > 1 && (step.end == 0 || !has_running_sums(segments))) {
      arrival.waiting.push_back(cell);
      if (sizes_.copy) arrival.tile_bytes += volume * sizes_.tile_element;
      continue;
    }
    if (missing > 1) {
      arrival.summed.push_back(step);
      if (step.begin < 2 && step.end > 1) arrival.tile_bytes += volume * sizes_.sums;
    } else {
      arrival.finished.push_back(step);
    }
    if (slab.is_held || (!arrival.held.empty() && arrival.held.back() == cell.slab)) continue;
    const bool begins_band = arrival.held.empty() || cells_.band(arrival.held.back()).begin != cells_.band(cell.slab).begin;
    arrival.held.push_back(cell.slab);
    if (begins_band && !is_band_held(cell.slab)) arrival.row_bytes += band_bytes(cell.slab);
  }
  if (!arrival.waiting.empty() && !sizes_.copy) arrival.tile_bytes = whole_bytes(tile);
  return arrival;
}

void Ledger::count_peak() noexcept {
  peak_.tiles = std::max(peak_.tiles, tile_bytes_);
  peak_.rows = std::max(peak_.rows, row_bytes_);
  peak_.most = std::max(peak_.most, bytes());
}

void Ledger::accept(const Arrival& arrival) {
  const std::vector<Cell> cells = cells_.cells_of(arrival.tile);
  for (const Cell cell : cells) {
    Slab& slab = slabs_[static_cast<std::size_t>(cell.slab)];
    if (slab.missing.empty()) slab = counted(cell.slab);
  }
  weights_.erase(arrival.tile);  // an entry may be left from a call that ran out of memory
  if (arrival.weight_bytes > 0) weights_[arrival.tile] = arrival.weight_bytes;
  if (!arrival.waiting.empty()) waiting_.set(arrival.tile, static_cast<std::int64_t>(arrival.waiting.size()));
  come_[static_cast<std::size_t>(arrival.tile)] = true;
  for (const Cell cell : cells) --slabs_[static_cast<std::size_t>(cell.slab)].missing[static_cast<std::size_t>(cell.inner)];
  for (const std::int64_t slab : arrival.held) hold(slab);
  tile_bytes_ += arrival.tile_bytes + arrival.weight_bytes;
  weight_bytes_ += arrival.weight_bytes;
  row_bytes_ += arrival.row_bytes;
  count_peak();
}

/// Counts that one more cell does not need a waiting tile any more; a tile that no cell needs goes to `released`.
void Ledger::let_go(std::int64_t tile, std::int64_t piece_bytes, std::vector<std::int64_t>& released) {
  tile_bytes_ -= piece_bytes;
  if (std::int64_t& unfinished = waiting_[tile]; unfinished > 1) {
    --unfinished;
    return;
  }
  waiting_.take(tile);
  if (const auto own = weights_.find(tile); own != weights_.end()) {
    tile_bytes_ -= own->second;
    weight_bytes_ -= own->second;
    weights_.erase(own);
  }
  released.push_back(tile);
  if (!sizes_.copy) tile_bytes_ -= whole_bytes(tile);
}

std::vector<std::int64_t> Ledger::settle(const Arrival& arrival) {
  std::vector<std::int64_t> released;
  for (const auto* steps : {&arrival.finished, &arrival.summed})
    for (const Step& step : *steps) {
      const Dims segments = cells_.segments_of(step.cell);
      const std::int64_t piece_bytes = sizes_.copy ? cells_.volume(segments) * sizes_.tile_element : 0;
      std::int64_t i = 0;
      cells_.each_contributor(segments, [&](std::int64_t tile, const Dims&) {
        if (const std::int64_t number = i++; tile == arrival.tile || number < step.begin || number >= step.end) return;
        let_go(tile, piece_bytes, released);
      });
      if (steps == &arrival.summed) continue;
      --slabs_[static_cast<std::size_t>(step.cell.slab)].unfinished;
      if (step.begin > 1) tile_bytes_ -= cells_.volume(segments) * sizes_.sums;
    }
  return released;
}

bool Ledger::next_is_finished(bool& is_held) {
  if (next_ == cells_.slabs()) return false;
  Slab& slab = slabs_[static_cast<std::size_t>(next_)];
  if (slab.missing.empty()) slab = counted(next_);
  is_held = slab.is_held;
  return slab.unfinished == 0;
}

void Ledger::hold(std::int64_t slab) {
  slabs_[static_cast<std::size_t>(slab)].is_held = true;
  held_bands_[static_cast<std::size_t>(cells_.band(slab).begin)] = true;
}

void Ledger::hold_next() {
  if (!is_band_held(next_)) row_bytes_ += band_bytes(next_);
  hold(next_);
  count_peak();
}

void Ledger::next_left() {
  Slab& slab = slabs_[static_cast<std::size_t>(next_)];
  const Span band = cells_.band(next_);
  if (next_ + 1 == band.end && is_band_held(next_)) {
    row_bytes_ -= band_bytes(next_);
    held_bands_[static_cast<std::size_t>(band.begin)] = false;
  }
  slab = {};
  ++next_;
}

std::vector<std::int64_t> Ledger::missing(std::size_t most, std::int64_t& count) const {
  std::vector<std::int64_t> tiles;
  count = 0;
  for (std::int64_t tile = 0; tile < static_cast<std::int64_t>(come_.size()); ++tile) {
    if (has_come(tile) || cells_.is_masked(tile)) continue;
    ++count;
    if (tiles.size() < most) tiles.push_back(tile);
  }
  return tiles;
}

MergeMemory forecast(const Cells& cells, const Sizes& sizes) {
  Ledger ledger(cells, sizes);
  const auto send_slabs = [&ledger] {
    bool is_held = false;
    while (ledger.next_is_finished(is_held)) {
      if (!is_held) ledger.hold_next();
      ledger.next_left();
    }
  };
  for (std::int64_t tile = 0; tile < cells.tiling().size(); ++tile) {
    if (cells.is_masked(tile)) continue;
    const Arrival arrival = ledger.preview(tile);
    ledger.accept(arrival);
    ledger.settle(arrival);
    send_slabs();
  }
  send_slabs();
  return ledger.peak();
}

}  // namespace patchfold::tiling
