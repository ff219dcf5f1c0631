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
/// Elements of all sources together whose given weights are normalised at a time: these stay in that cache beside the
/// elements and the weights as given.
constexpr std::int64_t given_elements = 1536;
/// Bytes of rows that are made in the first-level cache before they leave past it.
constexpr std::int64_t staged_bytes = 8192;
/// Rows of fewer bytes are not written past the cache: most of their lines are shared with other cells.
constexpr std::int64_t least_streamed = 128;

}  // namespace

CellWriter::CellWriter(const CellPlan& plan) noexcept
    : plan_(plan),
      is_late_(plan.kind_ == CellPlan::Kind::sums && plan.run_ >= 0 && plan.extents_.size() > 2 &&
               plan.run_ + 1 < plan.extents_.size()) {}

bool CellWriter::reserve() noexcept {
  const std::size_t sources = plan_.sources_.size();
  const bool moves = plan_.kind_ == CellPlan::Kind::fill || plan_.kind_ == CellPlan::Kind::copy;
  is_even_ = plan_.is_even();
  streams_ = plan_.rules_.store == kernels::Store::past_cache && plan_.step_ == plan_.rules_.output_element &&
             plan_.row_bytes() >= least_streamed;
  const bool is_given = plan_.kind_ == CellPlan::Kind::given;
  is_beside_ = is_given && plan_.are_beside();
  most_rows_ = is_beside_ && !plan_.has_zeros_ ? given_elements / static_cast<std::int64_t>(sources) / plan_.count_ : 0;
  in_parts_ = !moves && (!is_even_ || is_late_ || plan_.kind_ == CellPlan::Kind::general || (is_given && most_rows_ == 0) ||
                         (streams_ && plan_.row_bytes() > staged_bytes));
  is_staged_ = !moves && streams_ && !in_parts_;
  const bool in_parts = in_parts_;
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
  const std::size_t pairs = take(plan_.kind_ == CellPlan::Kind::general ? held * sizeof(*pairs_) : 0);
  const std::size_t raw = take(is_given ? sources * sizeof(*raw_) : 0);
  const std::size_t gathered = take(is_given ? held * parts * sizeof(*gathered_) : 0);
  const std::size_t normal =
      is_given && !in_parts ? sources * static_cast<std::size_t>(most_rows_ * plan_.count_) : held * parts;
  const std::size_t weights = take(normal * sizeof(*weights_));
  const std::size_t elements = take(held * static_cast<std::size_t>(plan_.rules_.element));
  const std::size_t made = take(is_staged_ ? staged_bytes
                                : in_parts ? part_ * static_cast<std::size_t>(plan_.rules_.output_element)
                                           : 0);
  memory_.reset(new (std::nothrow) std::byte[bytes + 16]);
  if (!memory_) return false;
  std::byte* base = memory_.get();
  src_ = reinterpret_cast<const std::byte**>(base + src);
  terms_ = reinterpret_cast<kernels::BlendTerm*>(base + terms);
  chosen_ = reinterpret_cast<kernels::BlendTerm*>(base + chosen);
  part_terms_ = reinterpret_cast<kernels::BlendTerm*>(base + part_terms);
  tiles_ = reinterpret_cast<std::int64_t*>(base + tiles);
  pairs_ = reinterpret_cast<Pair*>(base + pairs);
  raw_ = reinterpret_cast<kernels::RawWeights::Term*>(base + raw);
  gathered_ = reinterpret_cast<double*>(base + gathered);
  weights_ = reinterpret_cast<double*>(base + weights);
  elements_ = base + elements;
  made_ = base + made;
  for (std::size_t s = 0; s < sources; ++s) terms_[s] = {};
  return true;
}

bool CellWriter::seek(std::int64_t piece) noexcept {
  if (!memory_ && !reserve()) return false;
  outer_ = {};
  for (const auto& axis : plan_.outer_) outer_.push_back(axis.extent);
  at_ = index_at(piece / plan_.row_pieces_, outer_);
  piece_ = piece % plan_.row_pieces_;
  tiled_at_ = Dims::filled(plan_.extents_.size(), 0);
  // Weights are multiplied in the order of the axes, so only the last of the factors of a row may be left to the kernel.
  const int last = plan_.extents_.size() - 1;
  if (!plan_.outer_.empty() && plan_.kind_ == CellPlan::Kind::sums &&
      plan_.outer_.back().tiled == (plan_.run_ == last ? last - 1 : last))
    factor_ = plan_.outer_.back().tiled;
  place_row();
  return true;
}

void CellWriter::place_row() noexcept {
  dst_ = plan_.output_;
  for (std::size_t s = 0; s < plan_.sources_.size(); ++s) src_[s] = plan_.sources_.data(s);
  for (int i = 0; i < at_.size(); ++i) {
    const auto& axis = plan_.outer_[static_cast<std::size_t>(i)];
    dst_ += at_[i] * axis.stride;
    for (std::size_t s = 0; s < plan_.sources_.size(); ++s) src_[s] += at_[i] * plan_.sources_.stride(s, axis.axis);
    if (axis.tiled >= 0) tiled_at_[axis.tiled] = at_[i];
  }
}

void CellWriter::advance_by(std::int64_t rows) noexcept {
  if (at_.empty()) return;
  at_.back() += rows - 1;
  advance(at_, outer_);
  if (at_.back() == 0) return place_row();  // outer axes have two elements or more, so another axis has moved
  dst_ += rows * pitch();
  for (std::size_t s = 0; s < plan_.sources_.size(); ++s) src_[s] += rows * pitch(s);
  if (const int tiled = plan_.outer_.back().tiled; tiled >= 0) tiled_at_[tiled] += rows;
}

/// How many of the next rows, `most` of them at most, one call of a kernel makes.
std::int64_t CellWriter::rows_together(std::int64_t most) const noexcept {
  if (at_.empty() || in_parts_ || plan_.kind_ == CellPlan::Kind::fill) return 1;
  const bool is_scaled = plan_.kind_ == CellPlan::Kind::sums && plan_.outer_.back().tiled >= 0;
  if (is_scaled && factor_ < 0) return 1;
  if (is_staged_) most = std::min(most, staged_bytes / plan_.row_bytes());
  if (plan_.kind_ == CellPlan::Kind::given) most = std::min(most, most_rows_);
  return std::min(most, outer_.back() - at_.back());
}

void CellWriter::make(std::int64_t pieces) noexcept {
  if (plan_.row_pieces_ > 1) {
    for (; pieces > 0; --pieces) {
      const std::int64_t begin = piece_ * plan_.piece_count_;
      write_piece(begin, std::min(plan_.piece_count_, plan_.count_ - begin));
      if (++piece_ < plan_.row_pieces_) continue;
      piece_ = 0;
      advance_by(1);
    }
    return;
  }
  while (pieces > 0) {
    const std::int64_t rows = rows_together(pieces);
    write_rows(rows);
    advance_by(rows);
    pieces -= rows;
  }
}

/// Sets the weights of the next rows of Kind::sums: a factor for each row, and a list along it.
void CellWriter::weigh() noexcept {
  for (std::size_t s = 0; s < plan_.sources_.size(); ++s) {
    double scale = 1;
    for (int i = 0; i < plan_.extents_.size() && !(is_late_ && i >= plan_.run_); ++i)
      if (i != plan_.run_ && (i != factor_ || in_parts_)) scale *= plan_.weights_along(s, i)[tiled_at_[i]];
    const AxisWeights::List& list =
        *plan_.along_[plan_.run_ < 0 ? plan_.along_.size() - 1 : static_cast<std::size_t>(plan_.run_)];
    const std::int64_t first = plan_.run_ < 0 ? 0 : plan_.number(s, plan_.run_) * plan_.count_ * plan_.rules_.parts;
    terms_[s].scale = scale;
    terms_[s].scales = factor_ >= 0 && !in_parts_ ? plan_.weights_along(s, factor_) + tiled_at_[factor_] : nullptr;
    terms_[s].weights = list.weights.data() + first;
    terms_[s].rough = list.rough.empty() ? nullptr : list.rough.data() + first;
  }
}

/// Multiplies the weights of axes that come after the one along the row. They are multiplied last, in the order of the axes,
/// so that the bits of a weight are the same for every layout.
void CellWriter::weigh_late(std::int64_t begin, std::int64_t count) noexcept {
  const std::int64_t parts = plan_.rules_.parts;
  for (std::size_t s = 0; s < plan_.sources_.size(); ++s) {
    double* weights = weights_ + s * part_ * static_cast<std::size_t>(parts);
    for (std::int64_t j = 0; j < count * parts; ++j) weights[j] = terms_[s].scale * terms_[s].weights[begin * parts + j];
    for (int i = plan_.run_ + 1; i < plan_.extents_.size(); ++i) {
      const double factor = plan_.weights_along(s, i)[tiled_at_[i]];
      for (std::int64_t j = 0; j < count * parts; ++j) weights[j] *= factor;
    }
    part_terms_[s].weights = weights;
    part_terms_[s].scale = 1;
    part_terms_[s].rough = nullptr;
  }
}

/// Reduces the chosen terms.
void CellWriter::reduce(std::byte* dst, std::int64_t count, std::size_t terms_count) noexcept {
  const Rules& rules = plan_.rules_;
  if (rules.blend != nullptr)
    return rules.blend({dst, 0, chosen_, static_cast<std::int64_t>(terms_count), 1, count * rules.parts});
  const std::size_t one = rules.cells.selected({tiles_, terms_count}, plan_.segments_);
  std::memcpy(dst, chosen_[one].elements, static_cast<std::size_t>(count * rules.element));
}

/// The weight that a source gives element j of the row itself.
double CellWriter::own_weight(std::size_t source, std::int64_t j) const noexcept {
  const Factors& own = plan_.sources_.factors(source);
  std::int64_t offset = 0;
  for (int i = 0; i < at_.size(); ++i) offset += at_[i] * own.stride(plan_.outer_[static_cast<std::size_t>(i)].axis);
  if (plan_.run_ < 0) return own.first[offset + j * plan_.factor_steps_[source]];
  offset += j / plan_.repeat_ * own.stride(static_cast<int>(plan_.rules_.axes[plan_.run_]));
  return own.first[offset + j % plan_.repeat_ * plan_.factor_steps_[source]];
}

/// Makes the weights of elements [begin, begin + count) of a row of Kind::general.
void CellWriter::weigh_general(std::int64_t begin, std::int64_t count) noexcept {
  const Rules& rules = plan_.rules_;
  const std::size_t sources = plan_.sources_.size();
  Dims at = tiled_at_;
  for (std::int64_t j = 0; j < count; ++j) {
    if (plan_.run_ >= 0) at[plan_.run_] = (begin + j) / plan_.repeat_;
    Pair sum{};
    for (std::size_t s = 0; s < sources; ++s) {
      Pair& pair = pairs_[s * part_ + static_cast<std::size_t>(j)];
      pair = rules.weights.at(plan_.insides_[s], at);
      if (plan_.sources_.factors(s).first != nullptr) pair = pair * own_weight(s, begin + j);
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
  for (std::size_t s = 0; s < sources; ++s) {
    part_terms_[s].weights = weights_ + s * part_ * static_cast<std::size_t>(rules.parts);
    part_terms_[s].scale = 1;
  }
}

/// The given weights of a source from element `begin` of the row on. Those that do not lie side by side are gathered.
const double* CellWriter::given_row(std::size_t source, std::int64_t begin, std::int64_t count) noexcept {
  const CellPlan::Given& given = plan_.given_[source];
  const double* row = given.first;
  for (int i = 0; i < at_.size(); ++i) row += at_[i] * given.strides[plan_.outer_[static_cast<std::size_t>(i)].axis];
  if (is_beside_) return row + begin;
  const std::int64_t parts = plan_.rules_.parts, step = plan_.factor_steps_[source];
  const std::int64_t repeat = plan_.run_ < 0 ? plan_.count_ : plan_.repeat_;
  const std::int64_t along = plan_.run_ < 0 ? 0 : given.strides[static_cast<int>(plan_.rules_.axes[plan_.run_])];
  double* to = gathered_ + source * part_ * static_cast<std::size_t>(parts);
  std::int64_t place = begin / repeat, within = begin % repeat;
  for (std::int64_t j = 0; j < count; ++j) {
    std::fill_n(to + j * parts, parts, row[place * along + within * step]);
    if (++within == repeat) within = 0, ++place;
  }
  return to;
}

/// Sets the weights of elements [begin, begin + count) of the next rows of Kind::given.
void CellWriter::weigh_given(kernels::BlendTerm* terms, std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept {
  const std::size_t sources = plan_.sources_.size();
  const std::int64_t numbers = count * plan_.rules_.parts;
  for (std::size_t s = 0; s < sources; ++s) {
    const std::int64_t pitch = rows == 1 ? 0 : plan_.given_[s].strides[plan_.outer_.back().axis];
    raw_[s] = {given_row(s, begin, count), pitch};
    terms[s].weights = raw_[s].from;
    terms[s].weights_pitch = pitch;
    terms[s].scale = 1;
  }
  if (plan_.rules_.reduce != Reduce::mean) return;
  // Rows of other channels have the same weights.
  const bool are_same = std::all_of(raw_, raw_ + sources, [](const auto& term) { return term.pitch == 0; });
  const std::int64_t made = are_same ? 1 : rows;
  kernels::normalise({raw_, static_cast<std::int64_t>(sources), made, numbers, weights_, made * numbers});
  for (std::size_t s = 0; s < sources; ++s) {
    terms[s].weights = weights_ + static_cast<std::int64_t>(s) * made * numbers;
    terms[s].weights_pitch = are_same ? 0 : numbers;
  }
}

/// Makes a part of a row in which some weights are 0: one stretch after the other to which the same tiles contribute.
void CellWriter::make_stretches(std::byte* dst, std::int64_t count) noexcept {
  const Rules& rules = plan_.rules_;
  const std::size_t sources = plan_.sources_.size();
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
      tiles_[terms_count] = plan_.sources_.tile(s);
      chosen_[terms_count++] = {part_terms_[s].elements + first * rules.element,
                                part_terms_[s].weights + first * rules.parts, 1};
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
    part_terms_[s] = terms_[s];
    part_terms_[s].elements = from;
    part_terms_[s].ahead = pitch(s);
    if (terms_[s].weights) part_terms_[s].weights += begin * rules.parts;
    if (terms_[s].rough) part_terms_[s].rough += begin * rules.parts;
  }
  if (is_late_) weigh_late(begin, count);
  if (plan_.kind_ == CellPlan::Kind::given) weigh_given(part_terms_, 1, begin, count);
  if (plan_.kind_ == CellPlan::Kind::general) weigh_general(begin, count);
  // Tiles that a mask leaves out have no sources, so only weights of 0 make stretches.
  const bool has_stretches =
      plan_.has_zeros_ && (plan_.kind_ == CellPlan::Kind::given || plan_.kind_ == CellPlan::Kind::general);
  std::byte* dst = dst_ + begin * plan_.step_;
  const bool is_even = plan_.step_ == rules.output_element;
  const auto is_line = [](auto value) { return static_cast<std::int64_t>(value) % kernels::line_bytes == 0; };
  kernels::BlendRows part{dst, 0, part_terms_, static_cast<std::int64_t>(plan_.sources_.size()), 1, count * rules.parts};
  if (rules.lines != nullptr && plan_.kind_ != CellPlan::Kind::plain && !has_stretches && is_even &&
      is_line(count * rules.output_element) && is_line(reinterpret_cast<std::uintptr_t>(dst)))
    return rules.lines(part);
  if (!is_even || streams_) part.dst = made_;
  if (has_stretches)
    make_stretches(part.dst, count);
  else
    rules.blend(part);
  kernels::Ahead nothing;
  if (streams_)
    kernels::copy_rows(dst, 0, made_, 0, count * rules.output_element, 1, rules.store, nothing);
  else if (!is_even)
    kernels::copy_row(dst, plan_.step_, made_, rules.output_element, count, rules.output_element);
}

/// Copies elements of the next rows. The rows after them are fetched meanwhile: rows of several tiles are short and far
/// apart, so the processor does not predict where the next ones lie.
void CellWriter::copy(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept {
  const std::int64_t element = plan_.rules_.element;
  std::byte* dst = dst_ + begin * plan_.step_;
  const std::byte* src = src_[0] + begin * plan_.source_steps_[0];
  if (!is_even_) {
    for (std::int64_t r = 0; r < rows; ++r)
      kernels::copy_row(dst + r * pitch(), plan_.step_, src + r * pitch(0), plan_.source_steps_[0], count, element);
    return;
  }
  const std::int64_t bytes = count * element;
  kernels::Ahead ahead;
  if (!at_.empty())
    ahead = {.group = src + rows * pitch(0),
             .row_lines = bytes / kernels::line_bytes + 1,
             .rows = rows,
             .pitch = pitch(0),
             .rate = 280};
  kernels::copy_rows(dst, pitch(), src, pitch(0), bytes, rows, plan_.rules_.store, ahead);
}

/// Writes whole rows.
void CellWriter::write_rows(std::int64_t rows) noexcept {
  const Rules& rules = plan_.rules_;
  if (plan_.kind_ == CellPlan::Kind::copy) return copy(rows, 0, plan_.count_);
  if (plan_.kind_ == CellPlan::Kind::fill || in_parts_) return write_piece(0, plan_.count_);
  if (plan_.kind_ == CellPlan::Kind::sums) weigh();
  for (std::size_t s = 0; s < plan_.sources_.size(); ++s) {
    terms_[s].elements = src_[s];
    terms_[s].pitch = pitch(s);
    terms_[s].ahead = rows * pitch(s);
  }
  if (plan_.kind_ == CellPlan::Kind::given) weigh_given(terms_, rows, 0, plan_.count_);
  kernels::BlendRows made{
      dst_, pitch(), terms_, static_cast<std::int64_t>(plan_.sources_.size()), rows, plan_.count_ * rules.parts};
  if (is_staged_) {
    made.dst = made_;
    made.pitch = plan_.row_bytes();
  } else if (rules.store == kernels::Store::past_cache) {
    for (std::int64_t r = rows; r < 2 * rows; ++r)
      for (std::int64_t i = 0; i < plan_.row_bytes(); i += kernels::line_bytes)
        __builtin_prefetch(dst_ + r * pitch() + i, 1);
  }
  rules.blend(made);
  kernels::Ahead nothing;
  if (is_staged_) kernels::copy_rows(dst_, pitch(), made_, plan_.row_bytes(), plan_.row_bytes(), rows, rules.store, nothing);
}

/// Writes elements [begin, begin + count) of the next row.
void CellWriter::write_piece(std::int64_t begin, std::int64_t count) noexcept {
  const Rules& rules = plan_.rules_;
  if (plan_.kind_ == CellPlan::Kind::fill)
    return kernels::fill_row(dst_ + begin * plan_.step_, plan_.step_, rules.fill.data(), rules.output_element, count,
                             rules.output_element);
  if (plan_.kind_ == CellPlan::Kind::copy) return copy(1, begin, count);
  if (plan_.kind_ == CellPlan::Kind::sums) weigh();
  const auto part = static_cast<std::int64_t>(part_);
  for (const std::int64_t end = begin + count; begin < end; begin += part) make_part(begin, std::min(part, end - begin));
}

}  // namespace patchfold::tiling
