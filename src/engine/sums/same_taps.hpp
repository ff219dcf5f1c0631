// SPDX-License-Identifier: Apache-2.0
// Which coordinates of a window meet the same taps. Away from the borders, coordinates a stride apart do, each at the next
// position.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/problem.hpp"
#include "engine/window.hpp"

namespace patchfold::engine {

/// A run of coordinates first, first + stride, .. that meet the same taps, each one position further than the one before.
/// One panel sums all of them with one list of terms.
struct SameTaps {
  std::int64_t first = 0;
  std::int64_t count = 0;
  Taps taps{};  ///< of the first coordinate
};

/// How many runs the coordinates of all residues form at most.
inline std::int64_t count_runs(const Window& w) noexcept {
  const std::int64_t low = (w.kernel - 1) * w.dilation - w.pad_begin, high = (w.positions - 1) * w.stride - w.pad_begin;
  return std::min(w.stride, w.extent) + std::clamp<std::int64_t>(low, 0, w.extent) +
         std::clamp<std::int64_t>(w.extent - 1 - high, 0, w.extent);
}

/// The coordinates of one residue, in ascending order. There are as many runs as coordinates near the borders, and one more.
inline std::vector<SameTaps> rows_of(const Window& w, const TapSolver& solver, std::int64_t residue) {
  std::vector<SameTaps> runs;
  // Between these no tap is lost at either border.
  const std::int64_t low = (w.kernel - 1) * w.dilation - w.pad_begin, high = (w.positions - 1) * w.stride - w.pad_begin;
  for (std::int64_t c = residue; c < w.extent;) {
    std::int64_t count = 1;
    const std::int64_t last = std::min(high, w.extent - 1);
    if (c >= low && c <= last) count = (last - c) / w.stride + 1;
    runs.push_back({c, count, solver.at(c)});
    c += count * w.stride;
  }
  return runs;
}

}  // namespace patchfold::engine
