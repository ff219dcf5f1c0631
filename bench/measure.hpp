// SPDX-License-Identifier: Apache-2.0
// One problem measured against its roof, all in the same rounds.
#pragma once

#include <functional>
#include <string>

#include "bench/placed.hpp"

namespace patchfold::bench {

/// A row of the result. Times and ratios are medians over the rounds; a ratio compares times of one round, since machines drift
/// from round to round.
struct Measurement {
  std::string problem{};
  int threads = 1;
  double seconds = 0;  ///< median time of the operator
  double bytes = 0;    ///< read and written, including gaps that a layout skips
  double of_roof = 0;  ///< time / the fastest way to move as many bytes, among mix and copies
  double of_mix = 0;   ///< time / the fastest loop that reads as many bytes and writes as many bytes as the problem
  double of_copy = 0;  ///< time / a non-temporal copy of half of all bytes
  std::string roof{};  ///< name of the fastest way to move the bytes
  std::string strategy{};

  double gigabytes_per_second() const { return bytes / seconds / 1e9; }
};

struct Settings {
  int rounds = 9;
  double least_seconds = 0.002;  ///< work that is shorter is repeated within a round
};

/// The two buffers of a piece of work. Each buffer holds the larger of the numbers `read` and `written`.
struct Traffic {
  const std::byte* src = nullptr;
  std::size_t read = 0;  ///< bytes
  std::byte* dst = nullptr;
  std::size_t written = 0;
};

/// Measures work, run in turn with ways to stream as many bytes through the same buffers. Leaves problem and strategy empty.
Measurement measure_work(const std::function<void()>& work, const Traffic& traffic, int threads, Executor& executor,
                         const Settings& settings);

/// Measures a problem on the library's own threads, and sets their number. Throws Error for a problem that cannot be planned or
/// needs more memory than there is.
Measurement measure(const PlacedProblem& placed, int threads, const Settings& settings);

}  // namespace patchfold::bench
