// SPDX-License-Identifier: Apache-2.0
// The writers, one for each way of a CellPlan.
#include <algorithm>

#include "kernels/move.hpp"
#include "kernels/stream.hpp"
#include "tiling/blend_writer.hpp"

namespace patchfold::tiling {
namespace {

class FillWriter final : public CellWriter {
 public:
  FillWriter(const CellPlan& plan, std::int64_t piece) : CellWriter(plan, piece) {}

 private:
  void write(std::int64_t, std::int64_t begin, std::int64_t count) noexcept override {
    const Rules& rules = plan_.rules;
    const std::int64_t step = plan_.rows.step, element = rules.output_element;
    kernels::fill_row(dst_ + begin * step, step, rules.fill.data(), element, count, element);
  }
};

/// Copies rows of one tile, and prefetches the next rows: rows of tiles are short and far apart, so the processor does not predict
/// their addresses.
class CopyWriter final : public CellWriter {
 public:
  CopyWriter(const CellPlan& plan, std::int64_t piece) : CellWriter(plan, piece) { most_rows_ = any_rows; }

 private:
  void write(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept override {
    const std::int64_t element = plan_.rules.element;
    const std::int64_t from = plan_.rows.steps[0].bytes, to = plan_.rows.step;
    std::byte* dst = dst_ + begin * to;
    const std::byte* src = src_[0] + begin * from;
    if (from != element || to != element) {
      for (std::int64_t r = 0; r < rows; ++r)
        kernels::copy_row(dst + r * pitch(), to, src + r * pitch(0), from, count, element);
      return;
    }
    const std::int64_t bytes = count * element;
    kernels::Ahead ahead;
    if (!plan_.rows.outer.empty())
      ahead = {.group = src + rows * pitch(0),
               .row_lines = bytes / kernels::line_bytes + 1,
               .rows = rows,
               .pitch = pitch(0),
               .rate = 280};
    kernels::copy_rows(dst, pitch(), src, pitch(0), bytes, rows, plan_.rules.store, ahead);
  }
};

/// Blends with products: a row's weights along `run`, from AxisWeights, times one factor for the row in each source.
class ProductWriter final : public BlendWriter {
 public:
  ProductWriter(const CellPlan& plan, std::int64_t piece, const ProductWeights& products)
      : BlendWriter(plan, piece, most_rows(plan, products)), products_(products) {
    if (products.is_late) late_ = numbers(sources());
  }

 private:
  /// Returns the most rows in one call. If rows differ in their index along a tiled axis, each row has its own factor. The kernel
  /// takes a list of factors only for the axis that is multiplied last.
  static std::int64_t most_rows(const CellPlan& plan, const ProductWeights& products) {
    if (products.is_late) return 0;
    return !plan.rows.outer.empty() && plan.rows.outer.back().tiled >= 0 && products.factor < 0 ? 1 : any_rows;
  }

  void weigh(std::int64_t, std::int64_t begin, std::int64_t count) noexcept override {
    const std::int64_t parts = plan_.rules.parts;
    const int rank = plan_.extents.size(), run = plan_.rows.run, factor = products_.factor;
    for (std::size_t s = 0; s < sources(); ++s) {
      const double* const* along = products_.along.data() + s * static_cast<std::size_t>(rank);
      kernels::BlendTerm& term = terms_[s];
      term.scale = 1;
      for (int i = 0; i < (products_.is_late ? run : rank); ++i)
        if (i != run && i != factor) term.scale *= along[i][tiled_at(i)];
      term.scales = factor >= 0 ? along[factor] + tiled_at(factor) : nullptr;
      term.weights = products_.rows[s].weights + begin * parts;
      if (products_.is_late)
        multiply_late(s, along, count * parts);
      else if (products_.rows[s].rough != nullptr)
        term.rough = products_.rows[s].rough + begin * parts;
    }
  }

  /// Multiplies the weights along the row by the weights of the axes after `run`, in the order of the axes.
  void multiply_late(std::size_t source, const double* const* along, std::int64_t count) noexcept {
    kernels::BlendTerm& term = terms_[source];
    double* weights = late_.get() + static_cast<std::int64_t>(source) * part_ * plan_.rules.parts;
    for (std::int64_t j = 0; j < count; ++j) weights[j] = term.scale * term.weights[j];
    for (int i = plan_.rows.run + 1; i < plan_.extents.size(); ++i) {
      const double factor = along[i][tiled_at(i)];
      for (std::int64_t j = 0; j < count; ++j) weights[j] *= factor;
    }
    term.weights = weights;
    term.scale = 1;
  }

  const ProductWeights& products_;
  std::unique_ptr<double[]> late_{};
};

/// Blends with given weights: reads them in place, or gathers them if they do not lie side by side, and normalises them for means.
class GivenWriter final : public BlendWriter {
 public:
  GivenWriter(const CellPlan& plan, std::int64_t piece, const GivenWeights& given)
      : BlendWriter(plan, piece, most_rows(plan, given)), given_(given), is_beside_(are_beside(plan, given)) {
    raw_.resize(given.sources.size());
    if (!is_beside_) gathered_ = numbers(given.sources.size());
    if (is_short_)
      inverses_ = numbers(given.sources.size() > sources() ? 1 : 0);
    else if (plan.rules.reduce == Reduce::mean)
      normalised_ = numbers(sources());
  }

 private:
  /// The most elements, of all sources together, whose weights are normalised at a time: their values, given weights and normalised
  /// weights fit into the first-level cache.
  static constexpr std::int64_t most_elements = 1536;

  /// Returns whether the weights of a row lie side by side in all sources.
  static bool are_beside(const CellPlan& plan, const GivenWeights& given) {
    const CellRows& rows = plan.rows;
    if (plan.rules.parts > 1) return false;
    if (rows.run < 0)
      return std::all_of(rows.steps.begin(), rows.steps.end(), [](const CellRows::Step& step) { return step.weights == 1; });
    const auto axis = static_cast<int>(plan.rules.axes[rows.run]);
    return rows.repeat == 1 && std::all_of(given.sources.begin(), given.sources.end(),
                                           [&](const GivenWeights::Source& source) { return source.strides[axis] == 1; });
  }
  static std::int64_t most_rows(const CellPlan& plan, const GivenWeights& given) {
    if (plan.has_zeros || !are_beside(plan, given)) return 0;
    return most_elements / static_cast<std::int64_t>(given.sources.size()) / plan.rows.count;
  }

  void weigh(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept override {
    const std::int64_t numbers = count * plan_.rules.parts;
    for (std::size_t s = 0; s < raw_.size(); ++s) {
      const std::int64_t pitch = rows == 1 ? 0 : given_.sources[s].strides[plan_.rows.outer.back().axis];
      raw_[s] = {row_of(s, begin, count), pitch};
      if (s >= sources()) continue;
      terms_[s].weights = raw_[s].from;
      terms_[s].weights_pitch = pitch;
    }
    if (plan_.rules.reduce != Reduce::mean) return;
    // Rows that differ only in their channel have the same weights.
    const bool are_same = std::all_of(raw_.begin(), raw_.end(), [](const auto& term) { return term.pitch == 0; });
    const std::int64_t made = are_same ? 1 : rows;
    const std::int64_t term_pitch = made * numbers;
    if (is_short_) return invert(made, numbers);
    if (raw_.size() > sources())
      multiply(made, numbers);
    else
      kernels::normalise({raw_.data(), static_cast<std::int64_t>(sources()), made, numbers, normalised_.get(), term_pitch});
    for (std::size_t s = 0; s < sources(); ++s) {
      terms_[s].weights = normalised_.get() + static_cast<std::int64_t>(s) * term_pitch;
      terms_[s].weights_pitch = are_same ? 0 : numbers;
    }
  }

  /// Computes 1 / the sum of the weights of all tiles of the cell, whose terms lie in raw_ behind those of the sources.
  void invert(std::int64_t rows, std::int64_t numbers) noexcept {
    if (raw_.size() == sources()) return;
    double* to = inverses_.get();
    for (std::int64_t r = 0; r < rows; ++r, to += numbers) {
      std::fill_n(to, numbers, 0.0);
      for (std::size_t s = sources(); s < raw_.size(); ++s)
        for (std::int64_t j = 0; j < numbers; ++j) to[j] += raw_[s].from[r * raw_[s].pitch + j];
      for (std::int64_t j = 0; j < numbers; ++j) to[j] = 1 / to[j];
    }
    inverse_ = {inverses_.get(), rows == 1 ? 0 : numbers};
  }

  /// Multiplies the weights by the inverse of the sum of all tiles' weights, the last term of raw_.
  void multiply(std::int64_t rows, std::int64_t numbers) noexcept {
    const kernels::RawWeights::Term& inverse = raw_.back();
    double* to = normalised_.get();
    for (std::size_t s = 0; s < sources(); ++s)
      for (std::int64_t r = 0; r < rows; ++r, to += numbers)
        for (std::int64_t j = 0; j < numbers; ++j)
          to[j] = raw_[s].from[r * raw_[s].pitch + j] * inverse.from[r * inverse.pitch + j];
  }

  /// Returns the weights of elements [begin, begin + count) of the next row, side by side.
  const double* row_of(std::size_t source, std::int64_t begin, std::int64_t count) noexcept {
    const GivenWeights::Source& given = given_.sources[source];
    const double* row = given.first + row_offset(given.strides);
    if (is_beside_) return row + begin;
    const CellRows& rows = plan_.rows;
    const std::int64_t parts = plan_.rules.parts;
    const std::int64_t stride = rows.run < 0 ? 0 : given.strides[static_cast<int>(plan_.rules.axes[rows.run])];
    const std::int64_t step = source < rows.steps.size() ? rows.steps[source].weights : 0;
    double* to = gathered_.get() + static_cast<std::int64_t>(source) * part_ * parts;
    std::int64_t place = begin / rows.repeat, within = begin % rows.repeat;
    for (std::int64_t j = 0; j < count; ++j) {
      std::fill_n(to + j * parts, parts, row[place * stride + within * step]);
      if (++within == rows.repeat) within = 0, ++place;
    }
    return to;
  }

  const GivenWeights& given_;
  const bool is_beside_;
  const bool is_short_ = plan_.folding && plan_.rules.low_bytes < 4;
  std::unique_ptr<double[]> inverses_{};
  std::unique_ptr<double[]> gathered_{};
  std::unique_ptr<double[]> normalised_{};
};

/// Blends with weights that are computed as Pairs for each element, so that each is rounded once.
class PairWriter final : public BlendWriter {
 public:
  PairWriter(const CellPlan& plan, std::int64_t piece, const PairWeights& weights)
      : BlendWriter(plan, piece, 0), insides_(weights.insides), pairs_(sources()), weights_(numbers(sources())) {
    if (plan.has_zeros) highs_ = numbers(sources());
    if (plan.rules.find_nans != nullptr)
      are_nan_ = std::make_unique_for_overwrite<bool[]>(sources() * static_cast<std::size_t>(part_));
  }

 private:
  void weigh(std::int64_t, std::int64_t begin, std::int64_t count) noexcept override {
    const Rules& rules = plan_.rules;
    const std::int64_t term_pitch = part_ * rules.parts;
    if (are_nan_)
      for (std::size_t s = 0; s < sources(); ++s) rules.find_nans(terms_[s].elements, count, nans_of(s));
    Dims at;
    for (int i = 0; i < plan_.extents.size(); ++i) at.push_back(tiled_at(i));
    for (std::int64_t j = 0; j < count; ++j) {
      if (plan_.rows.run >= 0) at[plan_.rows.run] = (begin + j) / plan_.rows.repeat;
      Pair sum{};
      for (std::size_t s = 0; s < sources(); ++s) {
        pairs_[s] = rules.weights.at(insides_[s], at);
        if (plan_.sources.factors(s).first != nullptr) pairs_[s] = pairs_[s] * own_weight(s, begin + j);
        if (are_nan_ && nans_of(s)[j]) pairs_[s] = {};
        sum = sum + pairs_[s];
      }
      for (std::size_t s = 0; s < sources(); ++s) {
        const std::int64_t place = static_cast<std::int64_t>(s) * term_pitch + j * rules.parts;
        const bool is_normalised = rules.reduce == Reduce::mean && sum.high > 0;
        std::fill_n(weights_.get() + place, rules.parts, is_normalised ? quotient(pairs_[s], sum) : pairs_[s].high);
        if (highs_) highs_[static_cast<std::size_t>(place)] = pairs_[s].high;
      }
    }
    for (std::size_t s = 0; s < sources(); ++s)
      terms_[s].weights = weights_.get() + static_cast<std::int64_t>(s) * term_pitch;
    for (std::size_t s = 0; s < raw_.size(); ++s) raw_[s].from = highs_.get() + static_cast<std::int64_t>(s) * term_pitch;
  }

  /// Returns the tile's own weight of element j of the row.
  double own_weight(std::size_t source, std::int64_t j) const noexcept {
    const Factors& own = plan_.sources.factors(source);
    const int run = plan_.rows.run;
    const std::int64_t stride = run < 0 ? 0 : own.stride(static_cast<int>(plan_.rules.axes[run]));
    const std::int64_t repeat = plan_.rows.repeat;
    return own.first[row_offset(own.of->strides) + j / repeat * stride + j % repeat * plan_.rows.steps[source].weights];
  }

  /// Returns whether elements of a source are NaN, for the elements of a part.
  bool* nans_of(std::size_t source) const noexcept { return are_nan_.get() + static_cast<std::int64_t>(source) * part_; }

  const std::vector<Dims>& insides_;
  std::vector<Pair> pairs_;              ///< the weights of one element, one for each source
  std::unique_ptr<bool[]> are_nan_{};    ///< see nans_of(); null if NaNs take part
  std::unique_ptr<double[]> weights_;
  std::unique_ptr<double[]> highs_{};  ///< for each weight in weights_, `high` of its Pair before it was normalised
};

/// Returns the writer for the way of a plan; called by std::visit.
struct MakeWriter {
  const CellPlan& plan;
  std::int64_t piece;

  using Made = std::unique_ptr<CellWriter>;
  Made operator()(const Fill&) const { return std::make_unique<FillWriter>(plan, piece); }
  Made operator()(const Copy&) const { return std::make_unique<CopyWriter>(plan, piece); }
  Made operator()(const Unweighted&) const { return std::make_unique<BlendWriter>(plan, piece); }
  Made operator()(const ProductWeights& way) const { return std::make_unique<ProductWriter>(plan, piece, way); }
  Made operator()(const GivenWeights& way) const { return std::make_unique<GivenWriter>(plan, piece, way); }
  Made operator()(const PairWeights& way) const { return std::make_unique<PairWriter>(plan, piece, way); }
};

}  // namespace

std::unique_ptr<CellWriter> writer_of(const CellPlan& plan, std::int64_t piece) {
  return std::visit(MakeWriter{plan, piece}, plan.way);
}

}  // namespace patchfold::tiling
