// SPDX-License-Identifier: Apache-2.0
#include "tiling/cell_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "engine/floats.hpp"

namespace patchfold::tiling {

CellPlan::CellPlan(const Rules& rules, const Dims& segments, std::vector<Source> sources, std::byte* output,
                   const Dims& output_strides)
    : rules_(rules), segments_(segments), sources_(std::move(sources)), output_(output) {
  const bool keeps_values = !(rules.reduce == Reduce::sum && rules.is_weighted && !rules.weights.is_ones());
  const bool is_product = rules.weights.is_separable() && rules.cells.is_whole(segments);
  if (sources_.empty())
    kind_ = Kind::fill;
  else if (rules.weights.has_zero())
    kind_ = Kind::general;
  else if (sources_.size() == 1 && keeps_values && rules.dtype == rules.output_dtype)
    kind_ = Kind::copy;
  else if (rules.is_weighted)
    kind_ = is_product ? Kind::sums : Kind::general;
  else
    kind_ = Kind::plain;
  lay_out(output_strides, rules.output_element);
  if (kind_ == Kind::general || kind_ == Kind::sums) place();
  if (kind_ == Kind::sums) weigh();
}

CellPlan::CellPlan(const Rules& rules, const Dims& segments, const Source& source, std::byte* piece)
    : rules_(rules), segments_(segments), sources_{source}, output_(piece) {
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
  // From the innermost axis on, axes become part of the row while they continue it in the output and in all sources.
  const auto continues = [&](const Axis& axis) {
    if (axis.tiled >= 0 && run_ >= 0) return false;
    if (count_ == 1) return true;
    if (run_ >= 0 || axis.stride != step_ * count_) return false;
    for (std::size_t i = 0; i < sources_.size(); ++i)
      if (sources_[i].strides[axis.axis] != source_steps_[i] * count_) return false;
    return true;
  };
  while (!outer_.empty() && rows_ > 0 && continues(outer_.back())) {
    const Axis axis = outer_.back();
    outer_.pop_back();
    if (count_ == 1) {
      step_ = axis.stride;
      for (std::size_t i = 0; i < sources_.size(); ++i) source_steps_[i] = sources_[i].strides[axis.axis];
    }
    if (axis.tiled >= 0) {
      run_ = axis.tiled;
      repeat_ = count_;
    }
    count_ *= axis.extent;
    rows_ /= axis.extent;
  }
}

void CellPlan::place() {
  for (const Source& source : sources_) {
    Place place{rules_.cells.position_of(source.tile), rules_.inside_tile(source.tile, segments_)};
    for (int i = 0; i < segments_.size(); ++i) place.number[i] -= rules_.cells.segment(i, segments_[i]).tiles.begin;
    places_.push_back(place);
  }
}

void CellPlan::weigh() {
  const engine::DefaultFloats floats;
  for (int i = 0; i < segments_.size(); ++i) {
    const Segment& segment = rules_.cells.segment(i, segments_[i]);
    const auto extent = static_cast<std::size_t>(extents_[i]);
    const auto tiles = static_cast<std::size_t>(segment.tiles.size());
    std::vector<double> weights(tiles * extent);
    std::vector<double> sums(extent);
    for (std::size_t k = 0; k < tiles; ++k) {
      const std::int64_t start = rules_.cells.tiling().span(i, segment.tiles.begin + static_cast<std::int64_t>(k)).start;
      const double* of_tile = rules_.weights.axis(i).data() + (segment.span.begin - start);
      for (std::size_t y = 0; y < extent; ++y) sums[y] += weights[k * extent + y] = of_tile[y];
    }
    // If the weights along each axis add up to 1, so do their products over all combinations of tiles.
    if (rules_.reduce == Reduce::mean)
      for (std::size_t at = 0; at < weights.size(); ++at) weights[at] /= sums[at % extent];
    const auto repeat = static_cast<std::size_t>(i == run_ ? repeat_ * rules_.parts : 1);
    if (repeat > 1) {
      std::vector<double> repeated(weights.size() * repeat);
      for (std::size_t at = 0; at < repeated.size(); ++at) repeated[at] = weights[at / repeat];
      weights = std::move(repeated);
    }
    along_.push_back(std::move(weights));
  }
  if (run_ < 0) along_.emplace_back(static_cast<std::size_t>(count_ * rules_.parts), 1.0);
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
  for (int i = 0; i < segments_.size(); ++i)
    if (i != run_ && segments_[i] != before.segments_[i]) return false;
  return true;
}

}  // namespace patchfold::tiling
