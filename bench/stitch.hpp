// SPDX-License-Identifier: Apache-2.0
// Measures the merging of tiles, in the same way as an operator.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bench/measure.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::bench {

/// A merge of tiles: "merge f32 8192x8192x3 tile=512 overlap=64 window=hann axes=0,1" merges tiles to an array of that shape.
struct Stitching {
  std::string text{};
  TilingSpec tiling{};
  MergeSpec merge{};
};

/// Returns the merge that a text describes, or nothing if the text does not begin with "merge". Throws Error(usage).
std::optional<Stitching> parse_stitching(std::string_view text);

/// Measures a merge, with each tile in memory of its own. Counts each byte of a tile as read once and each byte of the output as
/// written once. Runs on the library's own threads, and sets their number.
Measurement measure(const Stitching& stitching, int threads, const Settings& settings);

}  // namespace patchfold::bench
