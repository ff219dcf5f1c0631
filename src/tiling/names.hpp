// SPDX-License-Identifier: Apache-2.0
// Words of errors, and functions for boxes of the output, for all files of src/tiling/.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/fail.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::tiling {

/// The names of the operators in errors.
inline constexpr std::string_view op_tiling = "tiling";
inline constexpr std::string_view op_merge = "merge";

/// Returns a tile's name for messages: "17 at position [2, 5]".
std::string tile_text(const Tiling& tiling, std::int64_t tile);

/// Returns a list of missing tiles for messages: "2 missing: 17 at position [2, 5], ..". `count` is the number of all missing
/// tiles; `first` holds the first three of them, or fewer.
ErrorValue missing_text(const Tiling& tiling, std::span<const std::int64_t> first, std::int64_t count);

/// Throws Error(value) for a tile that is longer than the array along tiled axis i, with a hint. `reach` is the extent of the array
/// with its margins.
[[noreturn]] void refuse_long_tile(const TilingSpec& spec, const Dims& axes, int i, std::int64_t reach);
/// Throws Error(value) for a stride along an axis that is no multiple of `align`; the error proposes the nearest strides, or
/// overlaps and tiles, that are multiples.
[[noreturn]] void refuse_stride(const TilingSpec& spec, std::int64_t axis, std::int64_t tile, std::int64_t stride,
                                std::int64_t align);
/// Throws Error(value) for a number of elements that is no whole number of elements of the output; the error proposes an
/// alignment of the tiles with which it is, if there is one.
[[noreturn]] void refuse_scale(const TilingSpec& spec, const Dims& stride, std::string_view what, std::int64_t value,
                               Ratio scale);
/// Throws Error(shape) for the result of a tile; the error proposes the scale or the border with which the tiling would expect it.
[[noreturn]] void refuse_shape(const Tiling& tiling, std::string_view op, std::string_view argument, std::int64_t index,
                               const Dims& given, const Dims& expected);

/// Returns the box that is the whole output.
Box whole_output(const Tiling& tiling);
/// Throws Error(length, value) unless the box lies in the output.
void check_box(const Tiling& tiling, const Box& box);
/// Returns the tiles along tiled axis i that touch a span of the output. The span is not checked.
Span tiles_touching(const Tiling& tiling, int i, Span span) noexcept;
/// Returns the elements that lie in both spans; an empty span if there are none.
Span shared_part(Span a, Span b) noexcept;

/// Returns a shape with the extents `tiled` along the axes `axes`, and the extents `channels` along the other axes, each in order.
Dims interleaved(const Dims& axes, const Dims& channels, const Dims& tiled);

}  // namespace patchfold::tiling
