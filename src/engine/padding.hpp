// SPDX-License-Identifier: Apache-2.0
// The element of the image that each coordinate reads, in every padding mode.
#pragma once

#include <cstdint>
#include <limits>

#include "base/checked.hpp"
#include "engine/problem.hpp"

namespace patchfold::engine {

/// A range of coordinates [begin, end) that reads the image in equal steps: coordinate c reads source + (c - begin) * step, with a
/// step of -1, 0 or 1. Coordinates inside the image read their own element; coordinates outside read the elements of the padding
/// mode. A list of runs for each axis was rejected, because its length grows with the pad; run_at() finds one run in constant time.
struct Run {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t source = 0;
  std::int64_t step = 0;
  bool outside = false;  ///< reads nothing: the element is filled
};

/// Returns the image coordinate that c reads.
inline std::int64_t source_at(const Run& run, std::int64_t c) noexcept {
  return run.step == 0 ? run.source : run.source + (c - run.begin) * run.step;
}

/// Returns the run that holds coordinate c. Padding modes are defined as in numpy.pad. The image's extent must be at least
/// 1, except in the mode constant.
inline Run run_at(const Window& window, std::int64_t c) noexcept {
  constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max();
  const std::int64_t n = window.extent;
  if (c >= 0 && c < n) return {0, n, 0, 1, false};
  // An image that is mirrored at both borders again and again consists of cells of `period` coordinates, alternately forward and
  // backward.
  const auto mirrored = [c](std::int64_t period, std::int64_t last) -> Run {
    const std::int64_t cell = floor_div(c, period);
    const bool backward = cell % 2 != 0;
    return {cell * period, cell * period + period, backward ? last : 0, backward ? -1 : 1, false};
  };
  switch (window.mode) {
    case PaddingMode::constant: return c < 0 ? Run{low, 0, 0, 0, true} : Run{n, high, 0, 0, true};
    case PaddingMode::edge: return c < 0 ? Run{low, 0, 0, 0, false} : Run{n, high, n - 1, 0, false};
    case PaddingMode::wrap: {
      const std::int64_t cell = floor_div(c, n);
      return {cell * n, cell * n + n, 0, 1, false};
    }
    case PaddingMode::symmetric: return mirrored(n, n - 1);
    case PaddingMode::reflect:
      if (n == 1) return {low, high, 0, 0, false};
      return mirrored(n - 1, n - 1);
  }
  return {};
}

}  // namespace patchfold::engine
