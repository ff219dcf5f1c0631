// SPDX-License-Identifier: Apache-2.0
#include "tiling/gather_rows.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "kernels/move.hpp"
#include "kernels/stream.hpp"

namespace patchfold::tiling {
namespace {

/// Elements of all sources together that are gathered, or weighed, at a time: they stay in the first cache.
constexpr std::int64_t part_elements = 4096;
/// Rows of several tiles are short and far apart, so the processor does not foresee where the next ones lie: they are
/// fetched while this one is made, a line at a time. Fetched all at once, or further ahead, they gain nothing.
constexpr std::int64_t rows_ahead = 1;

}  // namespace

GatherRows::GatherRows(const Gather& gather) noexcept
    : g_(gather),
      is_late_(gather.kind_ == Gather::Kind::sums && gather.run_ >= 0 && gather.extents_.size() > 2 &&
               gather.run_ + 1 < gather.extents_.size()) {}

bool GatherRows::reserve() noexcept {
  const std::size_t sources = g_.sources_.size();
  streams_ = g_.rules_.store == kernels::Store::past_cache && g_.step_ == g_.rules_.output_element;
  const bool moves = g_.kind_ == Gather::Kind::fill || g_.kind_ == Gather::Kind::copy;
  const bool in_parts = !moves && (!g_.is_even() || is_late_ || streams_ || g_.kind_ == Gather::Kind::general);
  // Whole lines of every element type, so that each part of a row begins with a line if the first one does.
  const std::int64_t share =
      part_elements / static_cast<std::int64_t>(sources + 1) / kernels::line_bytes * kernels::line_bytes;
  const std::int64_t part = in_parts ? std::min(g_.count_, std::max(kernels::line_bytes, share)) : g_.count_;
  part_ = static_cast<std::size_t>(part);
  const auto parts = static_cast<std::size_t>(g_.rules_.parts);
  std::size_t bytes = 0;
  const auto take = [&](std::size_t size) {
    const std::size_t begin = bytes;
    bytes += (size + 15) / 16 * 16;
    return begin;
  };
  const std::size_t src = take(sources * sizeof(*src_));
  const std::size_t terms = take(sources * sizeof(*terms_));
  const std::size_t chosen = take(sources * sizeof(*chosen_));
  const std::size_t part_terms = take(sources * sizeof(*part_terms_));
  const std::size_t tiles = take(sources * sizeof(*tiles_));
  const std::size_t held = in_parts ? sources * part_ : 0;
  const std::size_t pairs = take(held * sizeof(*pairs_));
  const std::size_t weights = take(held * parts * sizeof(*weights_));
  const std::size_t elements = take(held * static_cast<std::size_t>(g_.rules_.element));
  const std::size_t made = take((in_parts ? part_ : 0) * static_cast<std::size_t>(g_.rules_.output_element));
  memory_.reset(new (std::nothrow) std::byte[bytes + 16]);
  if (!memory_) return false;
  std::byte* base = memory_.get();
  src_ = reinterpret_cast<const std::byte**>(base + src);
  terms_ = reinterpret_cast<kernels::BlendTerm*>(base + terms);
  chosen_ = reinterpret_cast<kernels::BlendTerm*>(base + chosen);
  part_terms_ = reinterpret_cast<kernels::BlendTerm*>(base + part_terms);
  tiles_ = reinterpret_cast<std::int64_t*>(base + tiles);
  pairs_ = reinterpret_cast<Pair*>(base + pairs);
  weights_ = reinterpret_cast<double*>(base + weights);
  elements_ = base + elements;
  made_ = base + made;
  for (std::size_t s = 0; s < sources; ++s) terms_[s] = {};
  return true;
}

bool GatherRows::seek(std::int64_t row) noexcept {
  if (!memory_ && !reserve()) return false;
  at_ = Dims::filled(static_cast<int>(g_.outer_.size()), 0);
  tiled_at_ = Dims::filled(g_.extents_.size(), 0);
  for (int i = at_.size() - 1; i >= 0; --i) {
    at_[i] = row % g_.outer_[static_cast<std::size_t>(i)].extent;
    row /= g_.outer_[static_cast<std::size_t>(i)].extent;
  }
  place_row();
  return true;
}

void GatherRows::place_row() noexcept {
  dst_ = g_.output_;
  for (std::size_t s = 0; s < g_.sources_.size(); ++s) src_[s] = g_.sources_[s].data;
  for (int i = 0; i < at_.size(); ++i) {
    const auto& axis = g_.outer_[static_cast<std::size_t>(i)];
    dst_ += at_[i] * axis.stride;
    for (std::size_t s = 0; s < g_.sources_.size(); ++s) src_[s] += at_[i] * g_.sources_[s].strides[axis.axis];
    if (axis.tiled >= 0) tiled_at_[axis.tiled] = at_[i];
  }
}

void GatherRows::make_row() noexcept {
  write_row();
  int i = at_.size() - 1;
  if (i < 0) return;
  const auto& axis = g_.outer_.back();
  if (++at_[i] < axis.extent) {
    dst_ += axis.stride;
    for (std::size_t s = 0; s < g_.sources_.size(); ++s) src_[s] += g_.sources_[s].strides[axis.axis];
    if (axis.tiled >= 0) ++tiled_at_[axis.tiled];
    return;
  }
  at_[i--] = 0;
  while (i >= 0 && ++at_[i] == g_.outer_[static_cast<std::size_t>(i)].extent) at_[i--] = 0;
  place_row();
}

/// The weights of a row of sums: a factor for the row, and a list along it.
void GatherRows::weigh_row() noexcept {
  for (std::size_t s = 0; s < g_.sources_.size(); ++s) {
    const Dims& number = g_.places_[s].number;
    double scale = 1;
    for (int i = 0; i < number.size() && !(is_late_ && i >= g_.run_); ++i)
      if (i != g_.run_)
        scale *= g_.along_[static_cast<std::size_t>(i)][static_cast<std::size_t>(number[i] * g_.extents_[i] + tiled_at_[i])];
    terms_[s].scale = scale;
    const std::int64_t numbers = g_.count_ * g_.rules_.parts;
    terms_[s].weights = g_.run_ < 0 ? g_.along_.back().data()
                                    : g_.along_[static_cast<std::size_t>(g_.run_)].data() + number[g_.run_] * numbers;
  }
}

/// Where tiled axes come after the one along the row, the product is made in their order, as it is for every other layout.
void GatherRows::weigh_late(std::int64_t begin, std::int64_t count) noexcept {
  const std::int64_t parts = g_.rules_.parts;
  for (std::size_t s = 0; s < g_.sources_.size(); ++s) {
    const Dims& number = g_.places_[s].number;
    double* weights = weights_ + s * part_ * static_cast<std::size_t>(parts);
    for (std::int64_t j = 0; j < count * parts; ++j) weights[j] = terms_[s].scale * terms_[s].weights[begin * parts + j];
    for (int i = g_.run_ + 1; i < number.size(); ++i) {
      const double factor =
          g_.along_[static_cast<std::size_t>(i)][static_cast<std::size_t>(number[i] * g_.extents_[i] + tiled_at_[i])];
      for (std::int64_t j = 0; j < count * parts; ++j) weights[j] *= factor;
    }
    part_terms_[s].weights = weights;
    part_terms_[s].scale = 1;
  }
}

/// The chosen terms.
void GatherRows::reduce(std::byte* dst, std::int64_t count, std::size_t terms_count) noexcept {
  const Rules& rules = g_.rules_;
  if (rules.row != nullptr) return rules.row(dst, chosen_, static_cast<std::int64_t>(terms_count), count * rules.parts);
  const std::size_t one = rules.cells.selected({tiles_, terms_count}, g_.segments_);
  std::memcpy(dst, chosen_[one].elements, static_cast<std::size_t>(count * rules.element));
}

/// Elements [begin, begin + count) of a row whose weights are made here: stretches to which the same tiles give.
void GatherRows::make_general(std::byte* dst, std::int64_t begin, std::int64_t count) noexcept {
  const Rules& rules = g_.rules_;
  const std::size_t sources = g_.sources_.size();
  Dims at = tiled_at_;
  for (std::int64_t j = 0; j < count; ++j) {
    if (g_.run_ >= 0) at[g_.run_] = (begin + j) / g_.repeat_;
    Pair sum{};
    for (std::size_t s = 0; s < sources; ++s) {
      Pair& pair = pairs_[s * part_ + static_cast<std::size_t>(j)];
      pair = rules.weights.at(g_.places_[s].inside, at);
      sum = sum + pair;
    }
    for (std::size_t s = 0; s < sources; ++s) {
      const Pair pair = pairs_[s * part_ + static_cast<std::size_t>(j)];
      const double weight = rules.reduce == Reduce::mean && sum.high > 0 ? quotient(pair, sum) : pair.high;
      for (int p = 0; p < rules.parts; ++p)
        weights_[(s * part_ + static_cast<std::size_t>(j)) * static_cast<std::size_t>(rules.parts) +
                 static_cast<std::size_t>(p)] = weight;
    }
  }
  std::int64_t first = 0;
  while (first < count) {
    std::int64_t last = first + 1;
    const auto same = [&](std::int64_t j) {
      for (std::size_t s = 0; s < sources; ++s)
        if (takes_part(s, j) != takes_part(s, first)) return false;
      return true;
    };
    while (last < count && same(last)) ++last;
    std::size_t terms_count = 0;
    for (std::size_t s = 0; s < sources; ++s) {
      if (!takes_part(s, first)) continue;
      tiles_[terms_count] = g_.sources_[s].tile;
      chosen_[terms_count++] = {
          part_terms_[s].elements + first * rules.element,
          weights_ + (s * part_ + static_cast<std::size_t>(first)) * static_cast<std::size_t>(rules.parts), 1};
    }
    std::byte* to = dst + first * rules.output_element;
    if (terms_count == 0)
      kernels::fill_row(to, rules.output_element, rules.fill.data(), rules.output_element, last - first,
                        rules.output_element);
    else
      reduce(to, last - first, terms_count);
    first = last;
  }
}

void GatherRows::make_part(std::int64_t begin, std::int64_t count) noexcept {
  const Rules& rules = g_.rules_;
  for (std::size_t s = 0; s < g_.sources_.size(); ++s) {
    const std::byte* from = src_[s] + begin * g_.source_steps_[s];
    if (g_.source_steps_[s] != rules.element) {
      std::byte* elements = elements_ + s * part_ * static_cast<std::size_t>(rules.element);
      kernels::copy_row(elements, rules.element, from, g_.source_steps_[s], count, rules.element);
      from = elements;
    }
    part_terms_[s] = {from, terms_[s].weights + (terms_[s].weights ? begin * rules.parts : 0), terms_[s].scale,
                      g_.outer_.empty() ? 0 : rows_ahead * g_.sources_[s].strides[g_.outer_.back().axis]};
  }
  if (is_late_) weigh_late(begin, count);
  std::byte* dst = dst_ + begin * g_.step_;
  const bool is_even = g_.step_ == rules.output_element;
  const auto is_line = [](auto value) { return static_cast<std::int64_t>(value) % kernels::line_bytes == 0; };
  if (rules.lines != nullptr && g_.kind_ == Gather::Kind::sums && is_even && is_line(count * rules.output_element) &&
      is_line(reinterpret_cast<std::uintptr_t>(dst)))
    return rules.lines(dst, part_terms_, static_cast<std::int64_t>(g_.sources_.size()), count * rules.parts);
  std::byte* to = is_even && !streams_ ? dst : made_;
  if (g_.kind_ == Gather::Kind::general)
    make_general(to, begin, count);
  else
    rules.row(to, part_terms_, static_cast<std::int64_t>(g_.sources_.size()), count * rules.parts);
  kernels::Ahead nothing;
  if (streams_)
    kernels::copy_rows(dst, 0, to, 0, count * rules.output_element, 1, rules.store, nothing);
  else if (!is_even)
    kernels::copy_row(dst, g_.step_, to, rules.output_element, count, rules.output_element);
}

void GatherRows::write_row() noexcept {
  const Rules& rules = g_.rules_;
  if (g_.kind_ == Gather::Kind::fill)
    return kernels::fill_row(dst_, g_.step_, rules.fill.data(), rules.output_element, g_.count_, rules.output_element);
  if (g_.kind_ == Gather::Kind::copy) {
    if (!g_.is_even()) return kernels::copy_row(dst_, g_.step_, src_[0], g_.source_steps_[0], g_.count_, rules.element);
    const std::int64_t bytes = g_.count_ * rules.element;
    kernels::Ahead ahead;
    if (!g_.outer_.empty())
      ahead = {.group = src_[0] + rows_ahead * g_.sources_[0].strides[g_.outer_.back().axis],
               .row_lines = bytes / kernels::line_bytes + 1,
               .rows = 1,
               .rate = 280};
    return kernels::copy_rows(dst_, 0, src_[0], 0, bytes, 1, rules.store, ahead);
  }
  if (g_.kind_ == Gather::Kind::sums) weigh_row();
  const auto part = static_cast<std::int64_t>(part_);
  for (std::int64_t begin = 0; begin < g_.count_; begin += part) make_part(begin, std::min(part, g_.count_ - begin));
}

}  // namespace patchfold::tiling
