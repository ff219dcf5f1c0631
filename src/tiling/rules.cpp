// SPDX-License-Identifier: Apache-2.0
#include "tiling/rules.hpp"

#include <algorithm>

#include "engine/machine.hpp"
#include "ops/operands.hpp"
#include "tensor/checked.hpp"
#include "tensor/encode.hpp"
#include "tensor/fail.hpp"

namespace patchfold::tiling {
namespace {

bool is_complex(DType dtype) {
  return dtype == DType::complex64 || dtype == DType::complex128;
}
bool is_integer64(DType dtype) {
  return dtype == DType::int64 || dtype == DType::uint64;
}
DType part_of(DType dtype) {
  return dtype == DType::complex64 ? DType::float32 : dtype == DType::complex128 ? DType::float64 : dtype;
}
bool is_selecting(Reduce reduce) {
  return reduce == Reduce::first || reduce == Reduce::last || reduce == Reduce::center;
}

std::string name_with(Reduce reduce) {
  return "for the reduction " + std::string(name_of(reduce));
}

kernels::BlendRow row_for(Reduce reduce, DType dtype, DType output, bool is_ones) {
  if (is_selecting(reduce)) return nullptr;
  if (reduce == Reduce::max || reduce == Reduce::min) {
    const auto row = is_complex(dtype) ? nullptr : kernels::extreme_row(dtype, reduce == Reduce::max);
    if (row == nullptr)
      fail(ErrorCode::dtype, op_merge, "dtype", "must be a type of real numbers " + name_with(reduce), dtype);
    return row;
  }
  if (is_integer64(dtype)) {
    if (!is_ones)
      fail(ErrorCode::dtype, op_merge, "window", "must be ones for 64-bit integers, which float64 does not hold", dtype,
           "the window ones, or another reduction");
    if (output == dtype)
      return kernels::integer64_row(dtype, reduce == Reduce::mean ? kernels::Integers64::mean : kernels::Integers64::sum);
  }
  const auto row =
      is_integer64(dtype) ? nullptr : kernels::weighted_row(part_of(dtype), part_of(output), reduce == Reduce::mean);
  if (row == nullptr)
    fail(ErrorCode::dtype, op_merge, "dtype", "must be numbers " + name_with(reduce),
         text(dtype) + (output == dtype ? "" : " to " + text(output)),
         output == dtype ? "numbers, or one of the reductions first, last and center" : "the tiles' type");
  return row;
}

}  // namespace

Rules::Rules(const Tiling& tiling, const MergeSpec& spec)
    : reduce(spec.reduce),
      weights(tiling, spec.window),
      cells(tiling, spec.reduce, is_selecting(spec.reduce) && !weights.has_zero(), spec.mask),
      channels(spec.channels),
      dtype(spec.dtype),
      output_dtype(spec.output_dtype.value_or(spec.dtype)),
      element(static_cast<std::int64_t>(spec.element_size)) {
  if (spec.reduce > Reduce::center) fail(ErrorCode::value, op_merge, "reduce", "must be a reduction");
  if (dtype != DType::opaque && element != static_cast<std::int64_t>(size_of(dtype)))
    fail(ErrorCode::value, op_merge, "dtype", "the element size must be that of the type", element, size_of(dtype));
  if (element < 1) fail(ErrorCode::value, op_merge, "dtype", "the element size must be at least 1", element);
  const bool converts = output_dtype != dtype;
  if (converts && ((reduce != Reduce::mean && reduce != Reduce::sum) || is_complex(dtype) ||
                   (output_dtype != DType::float32 && output_dtype != DType::float64)))
    fail(ErrorCode::dtype, op_merge, "output dtype",
         "must be the tiles' type, or a float for means and sums of real numbers",
         text(output_dtype) + " " + name_with(reduce), text(dtype));
  output_element = converts ? static_cast<std::int64_t>(size_of(output_dtype)) : element;
  row = row_for(reduce, dtype, output_dtype, weights.is_ones());
  is_weighted = (reduce == Reduce::mean || reduce == Reduce::sum) && !is_integer64(dtype);
  parts = is_complex(dtype) ? 2 : 1;
  axes = tiling.axes_in(rank_of(channels, tiling));
  ops::check_shape(op_merge, "output", tiling.output_shape(channels));
  check_bytes();
  has_fill = spec.fill.has_value();
  if (has_fill)
    fill = encode(*spec.fill, output_dtype, op_merge, "fill");
  else
    check_holes();
  const double bytes =
      2.0 * static_cast<double>(element_count(tiling.output_shape(channels))) * static_cast<double>(output_element);
  store = engine::store_of(bytes / 2, bytes / 2);
  if (is_weighted && !converts && store == kernels::Store::past_cache)
    lines = kernels::weighted_lines(part_of(dtype), reduce == Reduce::mean);
}

/// The output, and all tiles together, in bytes, so that sums of what waits never leave 63 bits.
void Rules::check_bytes() const {
  const auto check = [](std::string_view what, Checked bytes, const Dims& shape) {
    if (!checked_product(shape, bytes).is_below())
      fail(ErrorCode::overflow, op_merge, what, "sizes in bytes must stay below 2^60", shape);
  };
  const Tiling& tiling = cells.tiling();
  check("channels", std::max(element, output_element), channels);
  if (tiling.size() == 0) return;
  check("output", output_element, tiling.output_shape(channels));
  Dims longest;  // the first tile of an axis is
  for (int i = 0; i < tiling.grid().size(); ++i) longest.push_back(tiling.span(i, 0).result);
  check("tiles", Checked(element) * tiling.size(), box(longest));
}

int Rules::rank_of(const Dims& channels, const Tiling& tiling) {
  return channels.size() + tiling.grid().size();
}

int Rules::tiled(int axis) const noexcept {
  for (int i = 0; i < axes.size(); ++i)
    if (axes[i] == axis) return i;
  return -1;
}

void Rules::check_holes() const {
  const auto refuse = [](const Dims& at, std::string_view why) {
    fail(ErrorCode::value, op_merge, "tiling", "must give every element of the output, or a fill must be given",
         "no " + std::string(why) + " for element " + text(at) + " of the tiled axes");
  };
  Dims segments;
  const auto first_of = [&] {
    Dims at;
    for (int i = 0; i < segments.size(); ++i) at.push_back(cells.segment(i, segments[i]).span.begin);
    return at;
  };
  if (cells.find_hole(segments)) refuse(first_of(), "tile");
  if (!weights.has_zero() || element_count(cells.tiling().output()) == 0) return;
  for (std::int64_t slab = 0; slab < cells.slabs(); ++slab)
    for (std::int64_t inner = 0; inner < cells.cells_in_slab(); ++inner) {
      segments = cells.segments_of({slab, inner});
      const auto tiles = cells.contributors(segments);
      std::vector<Dims> inside;
      for (const std::int64_t tile : tiles) inside.push_back(inside_tile(tile, segments));
      Dims at = Dims::filled(segments.size(), 0);
      while (true) {
        if (std::none_of(inside.begin(), inside.end(), [&](const Dims& begin) { return weights.at(begin, at).high > 0; })) {
          Dims where = first_of();
          for (int i = 0; i < at.size(); ++i) where[i] += at[i];
          refuse(where, "weight above 0");
        }
        int axis = at.size() - 1;
        while (axis >= 0 && ++at[axis] == cells.segment(axis, segments[axis]).span.size()) at[axis--] = 0;
        if (axis < 0) break;
      }
    }
}

Dims Rules::inside_tile(std::int64_t tile, const Dims& segments) const {
  const Dims position = cells.position_of(tile);
  Dims inside;
  for (int i = 0; i < segments.size(); ++i)
    inside.push_back(cells.segment(i, segments[i]).span.begin - cells.tiling().span(i, position[i]).start);
  return inside;
}

}  // namespace patchfold::tiling
