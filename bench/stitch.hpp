// SPDX-License-Identifier: Apache-2.0
// Measures merges of tiles in the way operators are measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bench/measure.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::bench {

/// A merge of tiles. The text "merge f32 8192x8192x3 tile=512 overlap=64 window=hann axes=0,1" merges tiles to an array of that
/// shape.
struct Stitching {
  std::string text{};
  TilingSpec tiling{};
  MergeSpec merge{};
};

/// Returns the merge that a text describes; nothing if the text does not begin with "merge". Throws Error(usage).
std::optional<Stitching> parse_stitching(std::string_view text);

/// Returns the measurement of a merge, in which each tile has its own memory. Each byte of a tile counts as read once, each
/// byte of the output as written once. Sets the number of the library's own threads, and runs on these threads.
Measurement measure(const Stitching& stitching, int threads, const Settings& settings);

}  // namespace patchfold::bench
