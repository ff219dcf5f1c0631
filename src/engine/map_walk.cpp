// SPDX-License-Identifier: Apache-2.0
#include "engine/map_walk.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "base/checked.hpp"

namespace patchfold::engine {

std::vector<int> walk_order(const std::vector<Window>& windows, std::int64_t element_size) {
  std::vector<int> order(windows.size());
  std::iota(order.begin(), order.end(), 0);
  // The stride of an axis with one position is never used, so it may be any number.
  const auto step = [&](int i) -> std::int64_t {
    const Window& w = windows[static_cast<std::size_t>(i)];
    if (w.position_stride == element_size) return w.positions > 1 ? 0 : 1;
    if (w.positions <= 1) return std::numeric_limits<std::int64_t>::max();
    return std::max<std::int64_t>(2, std::abs(w.position_stride));
  };
  std::ranges::stable_sort(order, std::ranges::greater(), step);
  return order;
}

MapWalk::MapWalk(const std::vector<WalkAxis>& axes, const std::vector<int>& order, Vectors vectors,
                 std::int64_t element_size)
    : vectors_(vectors), place_(axes.size()), parts_(element_size / vectors.lane_size) {
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto i = static_cast<std::size_t>(order[k]);
    place_[i] = k;
    axes_.push_back(axes[i]);
  }
  flat_ = axes_.size() - 1;
  for (std::int64_t run = element_size; flat_ > 0; --flat_) {
    const WalkAxis& inner = axes_[flat_];
    if (inner.length != inner.far_length || inner.far_stride != run) break;
    run *= inner.length;
    if (axes_[flat_ - 1].far_stride != run) break;
  }
  row_ = parts_;
  for (std::size_t k = flat_; k < axes_.size(); ++k) row_ *= axes_[k].length;
}

MapWalk::Taps MapWalk::taps() const {
  Taps taps;
  for (const WalkAxis& axis : axes_) taps.push_back(axis.taps);
  return taps;
}

std::int64_t MapWalk::phase_of(const Met& met) const noexcept {
  std::int64_t phase = 0;
  for (std::size_t k = 0; k < size(); ++k) phase = phase * axes_[k].phases + met.taps[k].phase;
  return phase;
}

Dims MapWalk::rows() const {
  Dims lengths;
  for (std::size_t k = 0; k < flat_; ++k) lengths.push_back(axes_[k].length);
  return lengths;
}

std::optional<std::int64_t> MapWalk::row_offset(const Dims& row, const Met& met) const {
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < flat_; ++k) {
    const std::int64_t element = row[static_cast<int>(k)];
    if (element < met.taps[k].from || element >= met.taps[k].to) return std::nullopt;
    offset += element * axes_[k].far_stride;
  }
  return offset;
}

MapWalk::Masks MapWalk::add_masks(const std::vector<const Met*>& terms, std::int64_t lane, std::int64_t vectors) {
  Masks added{std::ssize(masks_), 0};
  const std::int64_t lanes = vectors_.lanes, pitch = std::ssize(terms) * vectors_.mask_bytes;
  masks_.resize(masks_.size() + static_cast<std::size_t>(vectors * pitch));
  const std::int64_t inner = axes_.back().length * parts_, end = std::min(row_, lane + vectors * lanes);
  const int shift = std::countr_zero(static_cast<std::uint64_t>(lanes));
  for (std::size_t t = 0; t < terms.size(); ++t) {
    std::uint8_t* const first = masks_.data() + added.at + static_cast<std::int64_t>(t) * vectors_.mask_bytes;
    const WalkTap& tap = terms[t]->taps.back();
    for (std::int64_t r = lane / inner; r * inner < end; ++r) {
      if (!ties_row(*terms[t], r)) continue;
      const std::int64_t from = std::max(lane, r * inner + tap.from * parts_) - lane;
      const std::int64_t to = std::min(end, r * inner + tap.to * parts_) - lane;
      added.lanes += std::max<std::int64_t>(0, to - from);
      for (std::int64_t i = from, bits; i < to; i += bits) {
        const std::int64_t within = i & (lanes - 1), bit = within % 8;
        std::uint8_t* const mask = first + (i >> shift) * pitch;
        bits = std::min(to - i, lanes - within);
        if (bits == lanes) {
          std::memset(mask, lanes < 8 ? (1 << lanes) - 1 : 0xff, static_cast<std::size_t>(vectors_.mask_bytes));
          continue;
        }
        bits = std::min(bits, 8 - bit);
        mask[within / 8] |= static_cast<std::uint8_t>(((1 << bits) - 1) << bit);
      }
    }
  }
  return added;
}

std::int64_t MapWalk::shared_masks(const std::vector<const Met*>& terms, std::int64_t lane, std::int64_t vectors) {
  std::vector<std::int64_t> key{lane, vectors};
  for (const Met* met : terms)
    for (std::size_t k = flat_; k < size(); ++k) key.insert(key.end(), {met->taps[k].from, met->taps[k].to});
  const auto [known, is_new] = known_.try_emplace(std::move(key), -1);
  if (is_new) {
    const Masks masks = add_masks(terms, lane, vectors);
    if (masks.lanes == vectors * std::ssize(terms) * vectors_.lanes)
      forget(masks);
    else
      known->second = masks.at;
  }
  return known->second;
}

std::vector<std::uint8_t> MapWalk::take_masks() {
  masks_.resize(masks_.size() + 8);
  return std::move(masks_);
}

/// Returns whether the taps tie the part of a row with the number `row`. Such a part lies along the innermost axis, so the
/// taps of the row's other axes decide.
bool MapWalk::ties_row(const Met& met, std::int64_t row) const noexcept {
  for (std::size_t k = size() - 1; k-- > flat_;) {
    const std::int64_t element = row % axes_[k].length;
    row /= axes_[k].length;
    if (element < met.taps[k].from || element >= met.taps[k].to) return false;
  }
  return true;
}

}  // namespace patchfold::engine
