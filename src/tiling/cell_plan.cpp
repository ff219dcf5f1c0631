// SPDX-License-Identifier: Apache-2.0
#include "tiling/cell_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/checked.hpp"
#include "base/index.hpp"
#include "kernels/stream.hpp"

namespace patchfold::tiling {
namespace {

/// The bytes of the output in a piece of a long row: enough work for one thread at a time.
constexpr std::int64_t piece_bytes = 64 * 1024;

/// Returns the rows of a box of the output, whose elements have `element` bytes each.
CellRows rows_of(const Rules& rules, const Sources& sources, const Dims& box, const Dims& output_strides,
                 std::int64_t element) {
  CellRows rows;
  for (int axis = 0; axis < box.size(); ++axis) {
    rows.number *= box[axis];  // 0 if a channel axis is empty
    if (box[axis] > 1) rows.outer.push_back({box[axis], output_strides[axis], rules.tiled(axis), axis});
  }
  std::stable_sort(rows.outer.begin(), rows.outer.end(),
                   [](const CellRows::Axis& a, const CellRows::Axis& b) { return std::abs(a.stride) > std::abs(b.stride); });
  rows.step = element;
  rows.steps.assign(sources.size(), {rules.element});
  // An axis, from the innermost on, becomes part of the row if it continues the row in equal steps, both in the output and
  // in all sources.
  const auto continues = [&](const CellRows::Axis& axis) {
    if (axis.tiled >= 0 && rows.run >= 0) return false;
    if (rows.count == 1) return true;
    if (rows.run >= 0 || axis.stride != rows.step * rows.count) return false;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      if (sources.stride(s, axis.axis) != rows.steps[s].bytes * rows.count) return false;
      const Factors& own = sources.factors(s);
      if (axis.tiled < 0 && own.first && own.stride(axis.axis) != rows.steps[s].weights * rows.count) return false;
    }
    return true;
  };
  while (!rows.outer.empty() && rows.number > 0 && continues(rows.outer.back())) {
    const CellRows::Axis axis = rows.outer.back();
    rows.outer.pop_back();
    if (rows.count == 1) {
      rows.step = axis.stride;
      for (std::size_t s = 0; s < sources.size(); ++s) {
        rows.steps[s].bytes = sources.stride(s, axis.axis);
        if (const Factors& own = sources.factors(s); own.first && axis.tiled < 0)
          rows.steps[s].weights = own.stride(axis.axis);
      }
    }
    if (axis.tiled >= 0) {
      rows.run = axis.tiled;
      rows.repeat = rows.count;
    }
    rows.count *= axis.extent;
    rows.number /= axis.extent;
  }
  if (rows.run < 0) rows.repeat = rows.count;
  // A piece is whole cache lines for every element type, so each piece begins a line if its row begins a line.
  const std::int64_t wanted = std::max<std::int64_t>(1, rows.count / std::max<std::int64_t>(1, piece_bytes / element));
  rows.piece_count =
      wanted == 1 ? rows.count : ceil_div(ceil_div(rows.count, wanted), kernels::line_bytes) * kernels::line_bytes;
  rows.pieces = ceil_div(rows.count, rows.piece_count);
  return rows;
}

/// Returns the strides of gapless memory for the elements of `box`, of `element` bytes each, with its axes nested as in the
/// output.
Dims strides_beside(const Dims& box, const Dims& output_strides, std::int64_t element) {
  std::vector<int> order;
  for (int axis = 0; axis < box.size(); ++axis) order.push_back(axis);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(output_strides[a]) < std::abs(output_strides[b]); });
  Dims strides = Dims::filled(box.size(), 0);
  std::int64_t stride = element;
  for (const int axis : order) {
    strides[axis] = stride;
    stride *= box[axis];
  }
  return strides;
}

ProductWeights product_weights(const CellPlan& plan, AxisWeights& weights) {
  const CellRows& rows = plan.rows;
  const int rank = plan.segments.size();
  const int last = rank - 1;
  ProductWeights products;
  // With two axes there are only two factors, whose order does not matter.
  products.is_late = rows.run >= 0 && rows.run < last && rank > 2;
  if (!products.is_late && !rows.outer.empty() && rows.outer.back().tiled == (rows.run == last ? last - 1 : last))
    products.factor = rows.outer.back().tiled;

  std::vector<const AxisWeights::List*> lists;
  Dims tiles;
  Dims lengths;  // the number of weights of one tile in a list, for each axis
  for (int i = 0; i < rank; ++i) {
    const std::int64_t repeat = i == rows.run ? rows.repeat * plan.rules.parts : 1;
    lists.push_back(&weights.of(i, plan.segments[i], repeat));
    tiles.push_back(plan.rules.cells.segment(i, plan.segments[i]).tiles.size());
    lengths.push_back(plan.extents[i] * repeat);
  }
  const AxisWeights::List& row =
      rows.run < 0 ? weights.ones(rows.count * plan.rules.parts) : *lists[static_cast<std::size_t>(rows.run)];
  products.rows.reserve(plan.sources.size());
  products.along.reserve(plan.sources.size() * lists.size());
  // The number, along each axis, of a source's tile among the tiles of the segment.
  Dims number = index_at(plan.folding ? plan.folding->first : 0, tiles);
  do {
    for (int i = 0; i < rank; ++i)
      products.along.push_back(lists[static_cast<std::size_t>(i)]->weights.data() + number[i] * lengths[i]);
    const std::int64_t first = rows.run < 0 ? 0 : number[rows.run] * lengths[rows.run];
    products.rows.push_back({row.weights.data() + first, row.rough.empty() ? nullptr : row.rough.data() + first});
  } while (advance(number, tiles) && products.rows.size() < plan.sources.size());
  return products;
}

GivenWeights given_weights(const CellPlan& plan) {
  static constexpr double one = 1;
  const Rules& rules = plan.rules;
  const Dims none = Dims::filled(rules.box(plan.extents).size(), 0);
  GivenWeights given;
  given.sources.reserve(plan.sources.size());
  for (std::size_t s = 0; s < plan.sources.size(); ++s) {
    const Factors& own = plan.sources.factors(s);
    GivenWeights::Source& source = given.sources.emplace_back(GivenWeights::Source{&one, none});
    if (own.first != nullptr)
      source = {own.first, own.of->strides};
    else if (!rules.weights.is_separable())
      source.first = rules.weights.place(rules.inside_tile(plan.sources.tile(s), plan.segments), rules.axes, source.strides);
  }
  if (plan.folding && rules.low_bytes < 4 && kernels::makes_elements(plan.folding->step)) {
    rules.cells.each_contributor(plan.segments, [&](std::int64_t tile, const Dims&) {
      GivenWeights::Source& source = given.sources.emplace_back(GivenWeights::Source{nullptr, none});
      source.first = rules.weights.place(rules.inside_tile(tile, plan.segments), rules.axes, source.strides);
    });
  }
  if (plan.folding && plan.folding->inverse != nullptr) {
    GivenWeights::Source& inverse = given.sources.emplace_back(GivenWeights::Source{plan.folding->inverse, none});
    std::int64_t stride = 1;
    for (int i = plan.extents.size(); i-- > 0;) {
      inverse.strides[static_cast<int>(rules.axes[i])] = stride;
      stride *= plan.extents[i];
    }
  }
  return given;
}

PairWeights pair_weights(const CellPlan& plan) {
  PairWeights pairs;
  for (std::size_t s = 0; s < plan.sources.size(); ++s)
    pairs.insides.push_back(plan.rules.inside_tile(plan.sources.tile(s), plan.segments));
  return pairs;
}

/// Returns the way for a plan whose other members are set, with all data that the way's writer needs.
CellPlan::Way way_of(const CellPlan& plan, AxisWeights& weights) {
  const Rules& rules = plan.rules;
  const Weights& window = rules.weights;
  const Sources& sources = plan.sources;
  if (sources.size() == 0) return Fill();
  if (plan.folding && window.is_separable()) return product_weights(plan, weights);
  if (plan.folding) return given_weights(plan);
  const bool is_ones = window.is_ones() && !sources.has_factors();
  const bool keeps_values = is_ones || !rules.is_weighted || rules.reduce != Reduce::sum;
  if (sources.size() == 1 && keeps_values && !plan.has_zeros && rules.dtype == rules.output_dtype && rules.classes == 0)
    return Copy();
  if (plan.has_zeros && rules.find_nans != nullptr) return pair_weights(plan);
  if (rules.is_weighted && (sources.has_factors() ? window.is_ones() : !window.is_separable())) return given_weights(plan);
  const auto are_products = [&] {
    return window.is_separable() && !sources.has_factors() && rules.cells.is_whole(plan.segments);
  };
  if (plan.has_zeros || (rules.is_weighted && !are_products())) return pair_weights(plan);
  if (rules.is_weighted) return product_weights(plan, weights);
  return Unweighted();
}

}  // namespace

void write_inverse(const Rules& rules, const Dims& segments, double* to) {
  const Dims extents = rules.cells.extents(segments);
  const std::int64_t volume = element_count(extents), row = extents.back();
  Dims axes;
  for (int i = 0; i < extents.size(); ++i) axes.push_back(i);
  std::fill_n(to, volume, -0.0);  // -0.0 plus the first weight is this weight to the bit, 0.0 included
  rules.cells.each_contributor(segments, [&](std::int64_t tile, const Dims&) {
    Dims strides = Dims::filled(extents.size(), 0);
    const double* first = rules.weights.place(rules.inside_tile(tile, segments), axes, strides);
    Dims at = Dims::filled(extents.size(), 0);
    for (std::int64_t begin = 0; begin < volume; begin += row) {
      std::int64_t offset = 0;
      for (int i = 0; i < at.size(); ++i) offset += at[i] * strides[i];
      for (std::int64_t j = 0; j < row; ++j) to[begin + j] += first[offset + j * strides.back()];
      at.back() = row - 1;
      advance(at, extents);
    }
  });
  for (std::int64_t j = 0; j < volume; ++j) to[j] = 1 / to[j];
}

CellPlan plan_cell(const Rules& rules, AxisWeights& weights, const Dims& segments, Sources sources, std::byte* output,
                   const Dims& output_strides, const std::optional<Folding>& folding) {
  CellPlan plan{rules, segments, rules.cells.extents(segments), std::move(sources), output};
  const bool may_skip = rules.find_nans != nullptr && (rules.has_fill || plan.sources.size() > 1);
  plan.has_zeros = rules.weights.has_zero() || plan.sources.has_zeros() || may_skip;
  plan.rows = rows_of(rules, plan.sources, rules.output_box(plan.extents), output_strides, rules.output_element);
  plan.folding = folding;
  if (folding) plan.folding->strides = strides_beside(rules.box(plan.extents), output_strides, rules.low_bytes);
  plan.way = way_of(plan, weights);
  return plan;
}

CellPlan plan_copy(const Rules& rules, const Dims& segments, Sources source, std::byte* piece) {
  CellPlan plan{rules, segments, rules.cells.extents(segments), std::move(source), piece};
  const Dims box = rules.box(plan.extents);
  plan.rows =
      rows_of(rules, plan.sources, box, contiguous_strides(box, static_cast<std::size_t>(rules.element)), rules.element);
  plan.way = Copy();
  return plan;
}

double CellPlan::bytes() const noexcept {
  const std::int64_t read = static_cast<std::int64_t>(sources.size()) * rules.element * std::max<std::int64_t>(1, rules.classes);
  return static_cast<double>(rows.number) * static_cast<double>(rows.count) *
         static_cast<double>(rules.output_element + read);
}

bool CellPlan::continues(const CellPlan& before) const noexcept {
  if (rows.number != before.rows.number || rows.run < 0 || rows.run != before.rows.run) return false;
  if (rows.outer.size() != before.rows.outer.size() || rows.pieces > 1 || before.rows.pieces > 1) return false;
  for (int i = 0; i < segments.size(); ++i)
    if (i != rows.run && segments[i] != before.segments[i]) return false;
  return true;
}

bool find_uncovered(const CellPlan& plan, Dims& at) {
  const Rules& rules = plan.rules;
  const Dims box = rules.output_box(plan.extents);
  if (!plan.sources.has_zeros() || element_count(box) == 0) return false;
  const PairWeights weights = pair_weights(plan);
  at = Dims::filled(box.size(), 0);
  Dims inside = Dims::filled(plan.segments.size(), 0);
  const auto contributes = [&](std::size_t source) {
    if (!(rules.weights.at(weights.insides[source], inside).high > 0)) return false;
    const Factors& own = plan.sources.factors(source);
    if (!own.first) return true;
    std::int64_t offset = 0;
    for (int axis = 0; axis < at.size(); ++axis) offset += at[axis] * own.stride(axis);
    for (std::int64_t label = 0; label < std::max<std::int64_t>(1, rules.classes); ++label)
      if (own.first[offset + label * own.stride(0)] > 0) return true;
    return false;
  };
  do {
    for (int i = 0; i < inside.size(); ++i) inside[i] = at[static_cast<int>(rules.axes[i])];
    bool is_covered = false;
    for (std::size_t s = 0; s < plan.sources.size() && !is_covered; ++s) is_covered = contributes(s);
    if (is_covered) continue;
    const Dims first = rules.first_of(plan.segments);
    for (int i = 0; i < first.size(); ++i) at[static_cast<int>(rules.axes[i])] += first[i];
    at = rules.without_classes(at);
    return true;
  } while (advance(at, box));
  return false;
}

}  // namespace patchfold::tiling
