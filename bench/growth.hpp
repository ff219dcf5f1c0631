// SPDX-License-Identifier: Apache-2.0
// How time and memory grow with the work: one operator on problems that double.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure.hpp"

namespace patchfold::bench {

struct Size {
  std::string problem{};
  double bytes = 0;                      ///< read and written
  double seconds = 0;                    ///< median over the rounds
  std::optional<std::int64_t> beyond{};  ///< bytes in memory at a run's peak over what input and output took

  double nanoseconds_per_byte() const { return seconds * 1e9 / bytes; }
};

struct Growth {
  std::string op{};
  int threads = 1;
  double cache_bytes = 0;
  std::size_t scratch_bytes = 0;  ///< the most that one of the plans asks for
  std::vector<Size> sizes{};      ///< ascending

  /// The sizes that do not fit into twice the cache, as the first one's index.
  std::size_t past_cache() const;
  /// Largest time per byte in multiples of the smallest, past the cache; nothing if fewer than two sizes are.
  std::optional<double> spread() const;
  /// The most of what the sizes need beyond input and output.
  std::optional<std::int64_t> beyond() const;
};

struct GrowthSettings {
  double largest_megabytes = 1024;
  double cache_bytes = 0;
  Settings timing{};
};

/// The operators that can grow.
std::vector<std::string_view> growing_operators();
/// Doubles the work from 1 MB to the largest size, on the library's own threads, whose number it sets. Throws Error if there
/// is not as much memory.
Growth grow(std::string_view op, int threads, const GrowthSettings& settings);

/// Bytes of the last-level cache that a processor reaches, as the system says; 32 MB if it does not.
double last_level_cache();

}  // namespace patchfold::bench
