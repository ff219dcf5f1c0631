// SPDX-License-Identifier: Apache-2.0
// Merging tiles, measured like an operator.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bench/measure.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::bench {

/// "merge f32 8192x8192x3 tile=512 overlap=64 window=hann axes=0,1": tiles of an array of that shape, put together.
struct Stitching {
  std::string text{};
  TilingSpec tiling{};
  MergeSpec merge{};
};

/// Nothing if the text does not begin with "merge". Throws Error(usage).
std::optional<Stitching> parse_stitching(std::string_view text);

/// Each tile in memory of its own, each byte of a tile read once and each byte of the output written once. Runs on the
/// library's own threads, whose number it sets.
Measurement measure(const Stitching& stitching, int threads, const Settings& settings);

}  // namespace patchfold::bench
