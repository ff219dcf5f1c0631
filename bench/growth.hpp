// SPDX-License-Identifier: Apache-2.0
// Measurements of how time and memory grow: one operator on problems whose work doubles.
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
  std::optional<std::int64_t> beyond{};  ///< bytes in memory at a run's peak, without input and output

  double nanoseconds_per_byte() const { return seconds * 1e9 / bytes; }
};

struct Growth {
  std::string op{};
  int threads = 1;
  double cache_bytes = 0;
  std::size_t scratch_bytes = 0;  ///< the most scratch memory that a plan asks for
  std::vector<Size> sizes{};      ///< ascending

  /// Returns the index of the first size that does not fit into twice the cache.
  std::size_t past_cache() const;
  /// Returns the largest time per byte divided by the smallest, past the cache; nothing for fewer than two such sizes.
  std::optional<double> spread() const;
  /// Returns the largest number of bytes that a size needs besides input and output.
  std::optional<std::int64_t> beyond() const;
};

struct GrowthSettings {
  double largest_megabytes = 1024;
  double cache_bytes = 0;
  Settings timing{};
};

/// Returns the operators whose problems can grow.
std::vector<std::string_view> growing_operators();
/// Doubles the work from 1 MB to the largest size, on the library's own threads, whose number it sets. Throws Error if memory is
/// too small.
Growth grow(std::string_view op, int threads, const GrowthSettings& settings);

/// Returns the bytes of the last-level cache that a processor reaches, as the system says; 32 MB if it does not say.
double last_level_cache();

}  // namespace patchfold::bench
