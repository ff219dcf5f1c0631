// SPDX-License-Identifier: Apache-2.0
#include "tiling/cell_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "kernels/stream.hpp"
#include "tensor/checked.hpp"
#include "tensor/index.hpp"

namespace patchfold::tiling {
namespace {

/// Bytes of the output in a piece of a long row: as much work as is worth handing to another thread.
constexpr std::int64_t piece_bytes = 64 * 1024;

}  // namespace

CellPlan::CellPlan(const Rules& rules, AxisWeights& weights, const Dims& segments, Sources sources, std::byte* output,
                   const Dims& output_strides)
    : rules_(rules), segments_(segments), sources_(std::move(sources)), output_(output) {
  const bool is_ones = rules.weights.is_ones() && !sources_.has_factors();
  const bool keeps_values = !(rules.reduce == Reduce::sum && rules.is_weighted && !is_ones);
  has_zeros_ = rules.weights.has_zero() || sources_.has_zeros();
  // One array for each source: that of the window, or the tile's own where the window is ones.
  const bool are_given =
      rules.is_weighted && (sources_.has_factors() ? rules.weights.is_ones() : !rules.weights.is_separable());
  if (sources_.size() == 0)
    kind_ = Kind::fill;
  else if (has_zeros_)
    kind_ = are_given ? Kind::given : Kind::general;
  else if (sources_.size() == 1 && keeps_values && rules.dtype == rules.output_dtype)
    kind_ = Kind::copy;
  else if (are_given)
    kind_ = Kind::given;
  else if (rules.is_weighted)
    kind_ = rules.weights.is_separable() && !sources_.has_factors() && rules.cells.is_whole(segments) ? Kind::sums
                                                                                                      : Kind::general;
  else
    kind_ = Kind::plain;
  lay_out(output_strides, rules.output_element);
  if (kind_ == Kind::general || kind_ == Kind::given)
    for (std::size_t s = 0; s < sources_.size(); ++s) insides_.push_back(rules_.inside_tile(sources_.tile(s), segments_));
  if (kind_ == Kind::given) take_given();
  if (kind_ == Kind::sums) weigh(weights);
}

CellPlan::CellPlan(const Rules& rules, const Dims& segments, Sources source, std::byte* piece)
    : rules_(rules), segments_(segments), sources_(std::move(source)), output_(piece) {
  const Dims box = rules.box(rules.cells.extents(segments));
  lay_out(contiguous_strides(box, static_cast<std::size_t>(rules.element)), rules.element);
}

void CellPlan::lay_out(const Dims& output_strides, std::int64_t output_element) {
  extents_ = rules_.cells.extents(segments_);
  const Dims box = rules_.box(extents_);
  for (int axis = 0; axis < box.size(); ++axis) {
    rows_ *= box[axis];  // 0 if a channel axis is empty
    if (box[axis] > 1) outer_.push_back({box[axis], output_strides[axis], rules_.tiled(axis), axis});
  }
  std::stable_sort(outer_.begin(), outer_.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.stride) > std::abs(b.stride); });
  step_ = output_element;
  source_steps_.assign(sources_.size(), rules_.element);
  factor_steps_.assign(sources_.size(), 0);
  // From the innermost axis on, axes become part of the row while they continue it in the output and in all sources.
  const auto continues = [&](const Axis& axis) {
    if (axis.tiled >= 0 && run_ >= 0) return false;
    if (count_ == 1) return true;
    if (run_ >= 0 || axis.stride != step_ * count_) return false;
    for (std::size_t i = 0; i < sources_.size(); ++i)
      if (sources_.stride(i, axis.axis) != source_steps_[i] * count_) return false;
    for (std::size_t i = 0; axis.tiled < 0 && i < sources_.size(); ++i)
      if (const Factors& own = sources_.factors(i); own.first && own.stride(axis.axis) != factor_steps_[i] * count_)
        return false;
    return true;
  };
  while (!outer_.empty() && rows_ > 0 && continues(outer_.back())) {
    const Axis axis = outer_.back();
    outer_.pop_back();
    if (count_ == 1) {
      step_ = axis.stride;
      for (std::size_t i = 0; i < sources_.size(); ++i) {
        source_steps_[i] = sources_.stride(i, axis.axis);
        if (const Factors& own = sources_.factors(i); own.first && axis.tiled < 0) factor_steps_[i] = own.stride(axis.axis);
      }
    }
    if (axis.tiled >= 0) {
      run_ = axis.tiled;
      repeat_ = count_;
    }
    count_ *= axis.extent;
    rows_ /= axis.extent;
  }
  // Pieces are whole lines of every element type, so that each begins a line if the row does.
  const std::int64_t wanted = std::max<std::int64_t>(1, count_ / std::max<std::int64_t>(1, piece_bytes / output_element));
  piece_count_ = wanted == 1 ? count_ : ceil_div(ceil_div(count_, wanted), kernels::line_bytes) * kernels::line_bytes;
  row_pieces_ = ceil_div(count_, piece_count_);
}

void CellPlan::weigh(AxisWeights& weights) {
  for (int i = 0; i < segments_.size(); ++i)
    along_.push_back(&weights.of(i, segments_[i], i == run_ ? repeat_ * rules_.parts : 1));
  if (run_ < 0) along_.push_back(&weights.ones(count_ * rules_.parts));
  Dims tiles;
  for (int i = 0; i < segments_.size(); ++i) tiles.push_back(rules_.cells.segment(i, segments_[i]).tiles.size());
  Dims number = Dims::filled(tiles.size(), 0);
  numbers_.resize(sources_.size() * static_cast<std::size_t>(tiles.size()));
  std::int64_t* next = numbers_.data();
  do next = std::copy(number.begin(), number.end(), next);
  while (advance(number, tiles));
}

void CellPlan::take_given() {
  static constexpr double one = 1;
  const Dims none = Dims::filled(rules_.box(extents_).size(), 0);
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    const Factors& own = sources_.factors(s);
    Given given{&one, none};
    if (own.first != nullptr)
      given = {own.first, own.of->strides};
    else if (!rules_.weights.is_separable())
      given.first = rules_.weights.place(insides_[s], rules_.axes, given.strides);
    given_.push_back(given);
  }
}

bool CellPlan::are_beside() const noexcept {
  if (rules_.parts > 1) return false;
  if (run_ < 0) return std::all_of(factor_steps_.begin(), factor_steps_.end(), [](std::int64_t step) { return step == 1; });
  const auto axis = static_cast<int>(rules_.axes[run_]);
  return repeat_ == 1 &&
         std::all_of(given_.begin(), given_.end(), [&](const Given& given) { return given.strides[axis] == 1; });
}

bool CellPlan::find_uncovered(Dims& at) const {
  const Dims box = rules_.box(extents_);
  if ((kind_ != Kind::general && kind_ != Kind::given) || !sources_.has_zeros() || element_count(box) == 0) return false;
  at = Dims::filled(box.size(), 0);
  Dims inside = Dims::filled(segments_.size(), 0);
  const auto contributes = [&](std::size_t source) {
    if (!(rules_.weights.at(insides_[source], inside).high > 0)) return false;
    const Factors& own = sources_.factors(source);
    if (!own.first) return true;
    std::int64_t offset = 0;
    for (int axis = 0; axis < at.size(); ++axis) offset += at[axis] * own.stride(axis);
    return own.first[offset] > 0;
  };
  do {
    for (int i = 0; i < inside.size(); ++i) inside[i] = at[static_cast<int>(rules_.axes[i])];
    bool is_covered = false;
    for (std::size_t s = 0; s < sources_.size() && !is_covered; ++s) is_covered = contributes(s);
    if (is_covered) continue;
    const Dims first = rules_.first_of(segments_);
    for (int i = 0; i < first.size(); ++i) at[static_cast<int>(rules_.axes[i])] += first[i];
    return true;
  } while (advance(at, box));
  return false;
}

bool CellPlan::is_even() const noexcept {
  return step_ == rules_.output_element &&
         std::all_of(source_steps_.begin(), source_steps_.end(), [&](std::int64_t step) { return step == rules_.element; });
}

double CellPlan::bytes() const noexcept {
  return static_cast<double>(rows_) * static_cast<double>(count_) *
         static_cast<double>(rules_.output_element + static_cast<std::int64_t>(sources_.size()) * rules_.element);
}

bool CellPlan::continues(const CellPlan& before) const noexcept {
  if (rows_ != before.rows_ || run_ < 0 || run_ != before.run_ || outer_.size() != before.outer_.size()) return false;
  if (row_pieces_ > 1 || before.row_pieces_ > 1) return false;
  for (int i = 0; i < segments_.size(); ++i)
    if (i != run_ && segments_[i] != before.segments_[i]) return false;
  return true;
}

}  // namespace patchfold::tiling
