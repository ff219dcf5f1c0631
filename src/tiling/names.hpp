// SPDX-License-Identifier: Apache-2.0
// What the files of this room share.
#pragma once

#include <string>
#include <string_view>

#include "patchfold/tiling.hpp"

namespace patchfold::tiling {

/// As errors name them.
inline constexpr std::string_view op_tiling = "tiling";
inline constexpr std::string_view op_merge = "merge";

/// A tile for messages: "17 at position [2, 5]".
std::string tile_text(const Tiling& tiling, std::int64_t tile);

/// Refuses the shape of the result of a tile. Where it only has another scale, it says which.
[[noreturn]] void refuse_shape(const Tiling& tiling, std::string_view op, std::string_view argument, std::int64_t index,
                               const Dims& given, const Dims& expected);

/// A shape with these extents along the tiled axes and the others in between, in order.
Dims interleaved(const Tiling& tiling, const Dims& channels, const Dims& tiled);

}  // namespace patchfold::tiling
