// SPDX-License-Identifier: Apache-2.0
// Integers near the limits of arithmetic on sizes.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace patchfold::limits {

/// A type wide enough for a product of any two sizes.
__extension__ typedef __int128 Wide;

/// Returns numbers around 0 and around the powers of two that limit sizes, of both signs.
inline const std::vector<std::int64_t>& edges() {
  static const std::vector<std::int64_t> all = [] {
    std::vector<std::int64_t> values = {0, 1, -1, 2, -2};
    for (const int power : {31, 32, 53, 60, 62, 63})
      for (const int sign : {1, -1})
        for (int step = -1; step <= 1; ++step) {
          const Wide value = sign * ((Wide{1} << power) + step);
          if (value >= std::numeric_limits<std::int64_t>::min() && value <= std::numeric_limits<std::int64_t>::max())
            values.push_back(static_cast<std::int64_t>(value));
        }
    return values;
  }();
  return all;
}

/// The bound below which every size must stay.
inline constexpr Wide size_limit = Wide{1} << 60;

}  // namespace patchfold::limits
