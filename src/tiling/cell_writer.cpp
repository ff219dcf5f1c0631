// SPDX-License-Identifier: Apache-2.0
#include "tiling/cell_writer.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "kernels/move.hpp"
#include "kernels/stream.hpp"
#include "tensor/index.hpp"

namespace patchfold::tiling {
namespace {

/// How many elements of all sources together are packed or weighed at a time: so many stay in the first-level cache.
constexpr std::int64_t part_elements = 4096;
/// Rows of several tiles are short and far apart, so the processor does not predict where the next ones lie: they are
/// prefetched while this one is made, a line at a time. Prefetching them all at once, or further ahead, gained nothing.
constexpr std::int64_t rows_ahead = 1;

}  // namespace

CellWriter::CellWriter(const CellPlan& plan) noexcept
    : plan_(plan),
      is_late_(plan.kind_ == CellPlan::Kind::sums && plan.run_ >= 0 && plan.extents_.size() > 2 &&
               plan.run_ + 1 < plan.extents_.size()) {}

bool CellWriter::reserve() noexcept {
  const std::size_t sources = plan_.sources_.size();
  streams_ = plan_.rules_.store == kernels::Store::past_cache && plan_.step_ == plan_.rules_.output_element;
  const bool moves = plan_.kind_ == CellPlan::Kind::fill || plan_.kind_ == CellPlan::Kind::copy;
  const bool in_parts = !moves && (!plan_.is_even() || is_late_ || streams_ || plan_.kind_ == CellPlan::Kind::general);
  // Whole lines of every element type, so that each part of a row begins with a line if the first one does.
  const std::int64_t share =
      part_elements / static_cast<std::int64_t>(sources + 1) / kernels::line_bytes * kernels::line_bytes;
  const std::int64_t part = in_parts ? std::min(plan_.count_, std::max(kernels::line_bytes, share)) : plan_.count_;
  part_ = static_cast<std::size_t>(part);
  const auto parts = static_cast<std::size_t>(plan_.rules_.parts);
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
  const std::size_t elements = take(held * static_cast<std::size_t>(plan_.rules_.element));
  const std::size_t made = take((in_parts ? part_ : 0) * static_cast<std::size_t>(plan_.rules_.output_element));
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

bool CellWriter::seek(std::int64_t row) noexcept {
  if (!memory_ && !reserve()) return false;
  outer_ = {};
  for (const auto& axis : plan_.outer_) outer_.push_back(axis.extent);
  at_ = index_at(row, outer_);
  tiled_at_ = Dims::filled(plan_.extents_.size(), 0);
  place_row();
  return true;
}

void CellWriter::place_row() noexcept {
  dst_ = plan_.output_;
  for (std::size_t s = 0; s < plan_.sources_.size(); ++s) src_[s] = plan_.sources_[s].data;
  for (int i = 0; i < at_.size(); ++i) {
    const auto& axis = plan_.outer_[static_cast<std::size_t>(i)];
    dst_ += at_[i] * axis.stride;
    for (std::size_t s = 0; s < plan_.sources_.size(); ++s) src_[s] += at_[i] * plan_.sources_[s].strides[axis.axis];
    if (axis.tiled >= 0) tiled_at_[axis.tiled] = at_[i];
  }
}

void CellWriter::make_row() noexcept {
  write_row();
  if (at_.empty()) return;
  advance(at_, outer_);
  if (at_.back() == 0) return place_row();  // outer axes have two elements or more, so another axis has moved
  const auto& axis = plan_.outer_.back();
  dst_ += axis.stride;
  for (std::size_t s = 0; s < plan_.sources_.size(); ++s) src_[s] += plan_.sources_[s].strides[axis.axis];
  if (axis.tiled >= 0) ++tiled_at_[axis.tiled];
}

/// Sets the weights of a row of Kind::sums: a factor for the row, and a list along it.
void CellWriter::weigh_row() noexcept {
  for (std::size_t s = 0; s < plan_.sources_.size(); ++s) {
    const Dims& number = plan_.places_[s].number;
    double scale = 1;
    for (int i = 0; i < number.size() && !(is_late_ && i >= plan_.run_); ++i)
      if (i != plan_.run_)
        scale *=
            plan_
                .along_[static_cast<std::size_t>(i)][static_cast<std::size_t>(number[i] * plan_.extents_[i] + tiled_at_[i])];
    terms_[s].scale = scale;
    const std::int64_t numbers = plan_.count_ * plan_.rules_.parts;
    terms_[s].weights = plan_.run_ < 0
                            ? plan_.along_.back().data()
                            : plan_.along_[static_cast<std::size_t>(plan_.run_)].data() + number[plan_.run_] * numbers;
  }
}

/// Multiplies the weights of axes that come after the one along the row. They are multiplied last, in the order of the axes,
/// so that the bits of a weight are the same for every layout.
void CellWriter::weigh_late(std::int64_t begin, std::int64_t count) noexcept {
  const std::int64_t parts = plan_.rules_.parts;
  for (std::size_t s = 0; s < plan_.sources_.size(); ++s) {
    const Dims& number = plan_.places_[s].number;
    double* weights = weights_ + s * part_ * static_cast<std::size_t>(parts);
    for (std::int64_t j = 0; j < count * parts; ++j) weights[j] = terms_[s].scale * terms_[s].weights[begin * parts + j];
    for (int i = plan_.run_ + 1; i < number.size(); ++i) {
      const double factor =
          plan_.along_[static_cast<std::size_t>(i)][static_cast<std::size_t>(number[i] * plan_.extents_[i] + tiled_at_[i])];
      for (std::int64_t j = 0; j < count * parts; ++j) weights[j] *= factor;
    }
    part_terms_[s].weights = weights;
    part_terms_[s].scale = 1;
  }
}

/// Reduces the chosen terms.
void CellWriter::reduce(std::byte* dst, std::int64_t count, std::size_t terms_count) noexcept {
  const Rules& rules = plan_.rules_;
  if (rules.row != nullptr) return rules.row(dst, chosen_, static_cast<std::int64_t>(terms_count), 0, count * rules.parts);
  const std::size_t one = rules.cells.selected({tiles_, terms_count}, plan_.segments_);
  std::memcpy(dst, chosen_[one].elements, static_cast<std::size_t>(count * rules.element));
}

/// Makes elements [begin, begin + count) of a row of Kind::general: their weights first, then one stretch after the other to
/// which the same tiles contribute.
void CellWriter::make_general(std::byte* dst, std::int64_t begin, std::int64_t count) noexcept {
  const Rules& rules = plan_.rules_;
  const std::size_t sources = plan_.sources_.size();
  Dims at = tiled_at_;
  for (std::int64_t j = 0; j < count; ++j) {
    if (plan_.run_ >= 0) at[plan_.run_] = (begin + j) / plan_.repeat_;
    Pair sum{};
    for (std::size_t s = 0; s < sources; ++s) {
      Pair& pair = pairs_[s * part_ + static_cast<std::size_t>(j)];
      pair = rules.weights.at(plan_.places_[s].inside, at);
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
      tiles_[terms_count] = plan_.sources_[s].tile;
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

void CellWriter::make_part(std::int64_t begin, std::int64_t count) noexcept {
  const Rules& rules = plan_.rules_;
  for (std::size_t s = 0; s < plan_.sources_.size(); ++s) {
    const std::byte* from = src_[s] + begin * plan_.source_steps_[s];
    if (plan_.source_steps_[s] != rules.element) {
      std::byte* elements = elements_ + s * part_ * static_cast<std::size_t>(rules.element);
      kernels::copy_row(elements, rules.element, from, plan_.source_steps_[s], count, rules.element);
      from = elements;
    }
    part_terms_[s] = {from, terms_[s].weights + (terms_[s].weights ? begin * rules.parts : 0), terms_[s].scale,
                      plan_.outer_.empty() ? 0 : rows_ahead * plan_.sources_[s].strides[plan_.outer_.back().axis]};
  }
  if (is_late_) weigh_late(begin, count);
  std::byte* dst = dst_ + begin * plan_.step_;
  const bool is_even = plan_.step_ == rules.output_element;
  const auto is_line = [](auto value) { return static_cast<std::int64_t>(value) % kernels::line_bytes == 0; };
  if (rules.lines != nullptr && plan_.kind_ == CellPlan::Kind::sums && is_even && is_line(count * rules.output_element) &&
      is_line(reinterpret_cast<std::uintptr_t>(dst)))
    return rules.lines(dst, part_terms_, static_cast<std::int64_t>(plan_.sources_.size()), 0, count * rules.parts);
  std::byte* to = is_even && !streams_ ? dst : made_;
  if (plan_.kind_ == CellPlan::Kind::general)
    make_general(to, begin, count);
  else
    rules.row(to, part_terms_, static_cast<std::int64_t>(plan_.sources_.size()), 0, count * rules.parts);
  kernels::Ahead nothing;
  if (streams_)
    kernels::copy_rows(dst, 0, to, 0, count * rules.output_element, 1, rules.store, nothing);
  else if (!is_even)
    kernels::copy_row(dst, plan_.step_, to, rules.output_element, count, rules.output_element);
}

void CellWriter::write_row() noexcept {
  const Rules& rules = plan_.rules_;
  if (plan_.kind_ == CellPlan::Kind::fill)
    return kernels::fill_row(dst_, plan_.step_, rules.fill.data(), rules.output_element, plan_.count_, rules.output_element);
  if (plan_.kind_ == CellPlan::Kind::copy) {
    if (!plan_.is_even())
      return kernels::copy_row(dst_, plan_.step_, src_[0], plan_.source_steps_[0], plan_.count_, rules.element);
    const std::int64_t bytes = plan_.count_ * rules.element;
    kernels::Ahead ahead;
    if (!plan_.outer_.empty())
      ahead = {.group = src_[0] + rows_ahead * plan_.sources_[0].strides[plan_.outer_.back().axis],
               .row_lines = bytes / kernels::line_bytes + 1,
               .rows = 1,
               .rate = 280};
    return kernels::copy_rows(dst_, 0, src_[0], 0, bytes, 1, rules.store, ahead);
  }
  if (plan_.kind_ == CellPlan::Kind::sums) weigh_row();
  const auto part = static_cast<std::int64_t>(part_);
  for (std::int64_t begin = 0; begin < plan_.count_; begin += part) make_part(begin, std::min(part, plan_.count_ - begin));
}

}  // namespace patchfold::tiling
