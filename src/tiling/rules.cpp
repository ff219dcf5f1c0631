// SPDX-License-Identifier: Apache-2.0
#include "tiling/rules.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <type_traits>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "base/index.hpp"
#include "engine/machine.hpp"
#include "ops/operands.hpp"
#include "tensor/encode.hpp"
#include "tensor/held.hpp"

namespace patchfold::tiling {
namespace {

/// The most tiles of a merge of the whole output, since the ledger keeps some bits for each tile.
constexpr std::int64_t most_tiles_at_all = std::int64_t{1} << 32;
/// The most classes of argmax, whose numbers uint16 holds.
constexpr std::int64_t most_classes = std::int64_t{1} << 16;

bool is_complex(DType dtype) {
  return kind_of(dtype) == ElementKind::complex;
}
bool is_integer64(DType dtype) {
  return visit(dtype, []<class T>(std::type_identity<T>) { return std::integral<T> && sizeof(T) == 8; });
}
/// Returns the type of the real and imaginary parts of a complex type; any other type unchanged.
DType part_of(DType dtype) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (ComplexNumber<T>)
      return *patchfold::detail::dtype_of_type<typename T::value_type>();
    else
      return dtype;
  });
}
bool selects(Reduce reduce) {
  return reduce == Reduce::first || reduce == Reduce::last || reduce == Reduce::center;
}
bool skips_nans(Reduce reduce) {
  return reduce == Reduce::nanmean || reduce == Reduce::nanmax || reduce == Reduce::nanmin;
}
/// Returns the reduction that makes the elements, as Rules::reduce.
Reduce made_by(Reduce reduce) {
  if (makes_means(reduce)) return Reduce::mean;
  return reduce == Reduce::nanmax ? Reduce::max : reduce == Reduce::nanmin ? Reduce::min : reduce;
}
WeightWindow window_of(const MergeSpec& spec) {
  WeightWindow window = spec.window;
  if (window.kind == WeightWindow::Kind::standard)
    window.kind = makes_means(reduction_of(spec)) ? WeightWindow::Kind::hann : WeightWindow::Kind::ones;
  return window;
}

[[noreturn]] void refuse_hole(const Dims& at, std::string_view lacking) {
  fail(ErrorCode::value, op_merge, "tiling", "must cover every element of the output unless a fill is given",
       ErrorValue("no ", lacking, " for element ", at, " of the tiled axes"));
}

std::string name_with(Reduce reduce) {
  return "for the reduction " + std::string(word_of(reduce));
}

/// Returns the kernel for elements that are reduced without weights.
kernels::Blend unweighted_for(Reduce reduce, DType dtype, DType output) {
  const Reduce made = made_by(reduce);
  const auto blend = made == Reduce::median ? kernels::median_rows(dtype, output)
                     : made == Reduce::vote ? kernels::vote_rows(dtype)
                                            : kernels::extreme_rows(dtype, made == Reduce::max);
  if (blend == nullptr && reduce == Reduce::vote)
    fail(ErrorCode::dtype, op_merge, "dtype", "must be integers or booleans " + name_with(reduce), dtype,
         "labels of an integer type, or the reduction median");
  if (blend == nullptr)
    fail(ErrorCode::dtype, op_merge, "dtype", "must be a type of real numbers " + name_with(reduce), dtype);
  return blend;
}

/// Returns the kernel that makes elements of type `output` from several tiles; null if one tile is selected.
kernels::Blend blend_for(Reduce reduce, DType dtype, DType output, bool is_ones) {
  if (selects(reduce)) return nullptr;
  if (reduce == Reduce::argmax && is_complex(dtype))
    fail(ErrorCode::dtype, op_merge, "dtype", "must be a type of real numbers " + name_with(reduce), dtype);
  if (!makes_means(reduce) && reduce != Reduce::sum) return unweighted_for(reduce, dtype, output);
  if (is_integer64(dtype)) {
    if (!is_ones)
      fail(ErrorCode::dtype, op_merge, "window", "must be ones for 64-bit integers, which float64 does not hold", dtype,
           "the window ones, or another reduction");
    if (output == dtype)
      return kernels::integer64_rows(dtype, makes_means(reduce) ? kernels::Integers64::mean : kernels::Integers64::sum);
  }
  const auto blend =
      is_integer64(dtype) ? nullptr : kernels::weighted_rows(part_of(dtype), part_of(output), makes_means(reduce));
  if (blend == nullptr)
    fail(ErrorCode::dtype, op_merge, "dtype", "must be numbers " + name_with(reduce),
         text(dtype) + (output == dtype ? "" : " to " + text(output)),
         output == dtype ? "numbers, or one of the reductions first, last and center" : "the tiles' type");
  return blend;
}

/// Returns the number at whose multiples the bands for a sink end; 1 without a sink.
std::int64_t rows_of(const MergeSpec& spec, bool to_sink) {
  if (spec.sink_rows < 1) fail(ErrorCode::value, op_merge, "sink_rows", "must be at least 1", spec.sink_rows);
  return to_sink ? spec.sink_rows : 1;
}

}  // namespace

TileFacts::TileFacts(const Tiling& tiling, const MergeSpec& spec) : weights(tiling, window_of(spec)), mask(spec.mask) {}

Rules::Rules(const Tiling& tiling, const MergeSpec& spec, bool to_sink)
    : Rules(tiling, spec, std::make_shared<const TileFacts>(tiling, spec), whole_output(tiling), rows_of(spec, to_sink)) {
  if (tiling.size() > most_tiles_at_all)
    fail(ErrorCode::limit, op_merge, "tiling", "must have at most 2^32 tiles for a merge", tiling.size());
}

Rules::Rules(const Tiling& tiling, const MergeSpec& spec, std::shared_ptr<const TileFacts> shared, const Box& box,
             std::int64_t rows)
    : facts(std::move(shared)),
      reduce(made_by(reduction_of(spec))),
      classes(classes_of(tiling, spec)),
      find_nans(skips_nans(reduction_of(spec)) ? kernels::find_nans(spec.dtype) : nullptr),
      weights(facts->weights),
      cells(tiling, reduce, selects(reduce) && !weights.has_zero(), facts->mask, box, rows),
      channels(spec.channels),
      dtype(spec.dtype),
      output_dtype(output_dtype_of(spec, classes)),
      element(static_cast<std::int64_t>(spec.element_size)) {
  if (!is_enumerator(reduce))
    fail(ErrorCode::value, op_merge, "reduce", "must be " + listed_words<Reduce>(), static_cast<int>(reduce));
  if (dtype != DType::opaque && element != static_cast<std::int64_t>(size_of(dtype)))
    fail(ErrorCode::value, op_merge, "dtype", "the element size must be that of the type", element, size_of(dtype));
  if (element < 1) fail(ErrorCode::value, op_merge, "dtype", "the element size must be at least 1", element);
  check_held(op_merge, "dtype", dtype);
  check_held(op_merge, "output dtype", output_dtype);
  const Reduce given = reduction_of(spec);
  const bool converts = output_dtype != dtype || classes > 0;
  const bool may_convert = reduce == Reduce::mean || reduce == Reduce::sum || reduce == Reduce::median;
  if (converts && classes == 0 &&
      (!may_convert || is_complex(dtype) || (output_dtype != DType::float32 && output_dtype != DType::float64)))
    fail(ErrorCode::dtype, op_merge, "output dtype",
         "must be the tiles' type, or a float for means, sums and medians of real numbers",
         text(output_dtype) + " " + name_with(given), text(dtype));
  counts_alike = given == Reduce::median || given == Reduce::vote;
  if (counts_alike && !weights.are_flags())
    fail(ErrorCode::value, op_merge, "window", "must be ones, or hold only 0 and 1, " + name_with(given),
         word_of(window_of(spec).kind), "no window, since tiles count alike");
  output_element = converts ? static_cast<std::int64_t>(size_of(output_dtype)) : element;
  is_selecting = selects(reduce);
  const DType score = is_integer64(dtype) ? dtype : DType::float64;
  made_element = classes > 0 ? static_cast<std::int64_t>(size_of(score)) : output_element;
  blend = blend_for(given, dtype, classes > 0 ? score : output_dtype, weights.is_ones());
  if (classes > 0) rank = kernels::rank_scores(score);
  is_weighted = (reduce == Reduce::mean || reduce == Reduce::sum) && !is_integer64(dtype);
  // Means with weights of 1 are left out: many of them lie in the middle between two integers, where float32 is often too rough.
  has_rough_weights = is_weighted && reduce == Reduce::mean && !converts && element == 1 && !weights.is_ones();
  if (spec.running_sums != RunningSums::none && spec.copy && given == Reduce::mean && dtype == DType::float32 && !converts &&
      !weights.has_zero())
    low_bytes = spec.running_sums == RunningSums::float48 && allows_short_sums() ? 2 : 4;
  parts = is_complex(dtype) ? 2 : 1;
  axes = tiling.axes_in(channels.size() + tiling.grid().size());
  ops::check_shape(op_merge, "output", tiling.output_shape(channels));
  check_bytes();
  has_fill = spec.fill.has_value();
  if (has_fill)
    fill = encode(*spec.fill, output_dtype, op_merge, "fill");
  else
    check_holes();
  if (!has_fill && find_nans != nullptr) fill = encode(std::nan(""), output_dtype, op_merge, "fill");
  const double bytes =
      static_cast<double>(element_count(output_box(cells.box_extents()))) * static_cast<double>(output_element);
  store = engine::store_of(bytes, bytes);
  if (is_weighted && !converts && store == kernels::Store::past_cache)
    lines = kernels::weighted_lines(part_of(dtype), reduce == Reduce::mean);
}

/// Throws if the output, or all tiles together, are so large that a sum of waiting bytes could exceed 63 bits.
void Rules::check_bytes() const {
  const auto check = [](std::string_view what, Checked bytes, const Dims& shape) {
    if (!checked_product(shape, bytes).is_below())
      fail(ErrorCode::overflow, op_merge, what, "sizes in bytes must stay below 2^60", shape);
  };
  const Tiling& tiling = cells.tiling();
  check("channels", std::max(element, output_element), channels);
  if (tiling.size() == 0) return;
  check("output", output_element, tiling.output_shape(channels));
  check("tiles", Checked(element) * tiling.size(), tiling.result_shape(tiling.largest(), channels));
}

/// Returns whether the mean of equal elements in sums of 48 bits has their bits, however many tiles hold an element.
bool Rules::allows_short_sums() const noexcept {
  constexpr double most_tiles = 1024;
  double tiles = 1;
  for (int i = 0; i < cells.tiling().grid().size(); ++i) {
    std::int64_t together = 0;
    for (std::int64_t k = 0; k < cells.segments(i); ++k) together = std::max(together, cells.segment(i, k).tiles.size());
    tiles *= static_cast<double>(together);
  }
  return tiles <= most_tiles;
}

int Rules::tiled(int axis) const noexcept {
  for (int i = 0; i < axes.size(); ++i)
    if (axes[i] == axis) return i;
  return -1;
}

std::int64_t Rules::offset(const Dims& from, const Dims& to, const Dims& strides) const noexcept {
  std::int64_t offset = 0;
  for (int i = 0; i < axes.size(); ++i) offset += (to[i] - from[i]) * strides[static_cast<int>(axes[i])];
  return offset;
}

Dims Rules::output_box(const Dims& tiled_extents) const {
  Dims extents = box(tiled_extents);
  if (classes > 0) extents[0] = 1;
  return extents;
}

Dims Rules::first_of(const Dims& segments) const {
  Dims at;
  for (int i = 0; i < segments.size(); ++i) at.push_back(cells.segment(i, segments[i]).span.begin);
  return at;
}

void Rules::check_holes() const {
  Dims segments;
  if (cells.find_hole(segments)) refuse_hole(first_of(segments), "tile");
}

/// Returns whether the weights along single axes prove that each element of a cell has a weight above 0. If every combination of
/// tiles contributes, one weight above 0 along each axis is proof. False means that these weights prove nothing.
bool Rules::is_covered_along_axes(const Dims& segments) const {
  if (!weights.is_separable() || !cells.is_whole(segments)) return false;
  for (int axis = 0; axis < segments.size(); ++axis) {
    const Segment& segment = cells.segment(axis, segments[axis]);
    for (std::int64_t y = segment.span.begin; y < segment.span.end; ++y) {
      bool is_covered = false;
      for (std::int64_t k = segment.tiles.begin; k < segment.tiles.end && !is_covered; ++k)
        is_covered = weights.axis(axis)[static_cast<std::size_t>(y - cells.start(axis, k))] > 0;
      if (!is_covered) return false;
    }
  }
  return true;
}

void Rules::check_weights() const {
  if (has_fill || !weights.has_zero() || element_count(cells.box_extents()) == 0) return;
  for (std::int64_t slab = 0; slab < cells.slabs(); ++slab)
    for (std::int64_t inner = 0; inner < cells.cells_in_slab(); ++inner) {
      const Dims segments = cells.segments_of({slab, inner});
      if (is_covered_along_axes(segments)) continue;
      std::vector<Dims> inside;
      for (const std::int64_t tile : cells.contributors(segments)) inside.push_back(inside_tile(tile, segments));
      const Dims extents = cells.extents(segments);
      Dims at = Dims::filled(segments.size(), 0);
      do {
        if (std::any_of(inside.begin(), inside.end(), [&](const Dims& begin) { return weights.at(begin, at).high > 0; }))
          continue;
        Dims where = first_of(segments);
        for (int i = 0; i < at.size(); ++i) where[i] += at[i];
        refuse_hole(where, "weight above 0");
      } while (advance(at, extents));
    }
}

Sizes sizes_of(const Rules& rules, bool copy, bool to_sink) {
  const std::int64_t channels = element_count(rules.channels), made = element_count(rules.without_classes(rules.channels));
  const std::int64_t inverse = rules.low_bytes < 4 || rules.weights.is_separable() ? 0 : sizeof(double);
  return {channels * rules.element, to_sink ? made * rules.output_element : 0, copy, channels * rules.low_bytes + inverse};
}

std::int64_t classes_of(const Tiling& tiling, const MergeSpec& spec) {
  if (reduction_of(spec) != Reduce::argmax) return 0;
  const auto refuse = [](ErrorCode code, std::string_view rule, const auto& given, std::string_view expected) {
    fail(code, op_merge, "results", rule, given, expected);
  };
  constexpr std::string_view expected = "results of shape (classes, ..), tiled along later axes";
  if (spec.channels.empty() || tiling.axes_in(spec.channels.size() + tiling.grid().size())[0] == 0)
    refuse(ErrorCode::value, "must have a first axis of classes for the reduction argmax", spec.channels, expected);
  if (spec.channels[0] < 1)
    refuse(ErrorCode::value, "must have at least one class for the reduction argmax", spec.channels, expected);
  if (spec.channels[0] > most_classes)
    refuse(ErrorCode::limit, "must have at most 65536 classes for the reduction argmax", spec.channels, expected);
  return spec.channels[0];
}

DType output_dtype_of(const MergeSpec& spec, std::int64_t classes) {
  if (classes == 0) return spec.output_dtype.value_or(spec.dtype);
  const DType smallest = classes <= 256 ? DType::uint8 : DType::uint16;
  const DType dtype = spec.output_dtype.value_or(smallest);
  if (dtype != smallest && dtype != DType::uint16)
    fail(ErrorCode::dtype, op_merge, "output dtype", "must hold the labels of the reduction argmax", dtype,
         classes <= 256 ? "uint8 or uint16" : "uint16");
  return dtype;
}

Dims Rules::inside_tile(std::int64_t tile, const Dims& segments) const {
  Dims inside = first_of(segments);
  const Dims start = cells.start_of(cells.position_of(tile));
  for (int i = 0; i < inside.size(); ++i) inside[i] -= start[i];
  return inside;
}

}  // namespace patchfold::tiling
