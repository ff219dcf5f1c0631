// SPDX-License-Identifier: Apache-2.0
// What the files of this room share.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "patchfold/tiling.hpp"
#include "tensor/fail.hpp"

namespace patchfold::tiling {

/// As errors name them.
inline constexpr std::string_view op_tiling = "tiling";
inline constexpr std::string_view op_merge = "merge";

/// A tile for messages: "17 at position [2, 5]".
std::string tile_text(const Tiling& tiling, std::int64_t tile);

/// Tiles that have not come, for messages: "2 missing: 17 at position [2, 5], ..". `first` are at most three of them.
ErrorValue missing_text(const Tiling& tiling, std::span<const std::int64_t> first, std::int64_t count);

/// Refuses the shape of the result of a tile. Where it only has another scale, it says which.
[[noreturn]] void refuse_shape(const Tiling& tiling, std::string_view op, std::string_view argument, std::int64_t index,
                               const Dims& given, const Dims& expected);

/// The whole output.
Box whole_output(const Tiling& tiling);
/// Throws Error(length, value) unless the box lies in the output.
void check_box(const Tiling& tiling, const Box& box);
/// The tiles along tiled axis i that touch a span of the output, which is not checked.
Span tiles_touching(const Tiling& tiling, int i, Span span) noexcept;
/// What both hold; {begin of a, the same} if nothing.
Span shared_part(Span a, Span b) noexcept;

/// A shape with these extents along the tiled axes and the others in between, in order.
Dims interleaved(const Tiling& tiling, const Dims& channels, const Dims& tiled);

}  // namespace patchfold::tiling
