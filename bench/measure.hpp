// SPDX-License-Identifier: Apache-2.0
// Measures a problem and its roof in the same rounds.
#pragma once

#include <functional>
#include <string>

#include "bench/placed.hpp"

namespace patchfold::bench {

/// A row of the result. Times are medians over the rounds. A ratio is computed in each round, and the median of these ratios is
/// taken, since machines drift from round to round.
struct Measurement {
  std::string problem{};
  int threads = 1;
  double seconds = 0;  ///< median time of the operator
  double bytes = 0;    ///< bytes read and written, with the gaps that a layout skips
  double of_roof = 0;  ///< time / time of the fastest way of streaming as many bytes
  double of_mix = 0;   ///< time / mix, the time of the fastest loop that reads and writes as many bytes as the problem
  double of_copy = 0;  ///< time / time of a non-temporal copy of half of `bytes`
  std::string roof{};  ///< name of the fastest way of streaming
  std::string strategy{};

  double gigabytes_per_second() const { return bytes / seconds / 1e9; }
};

struct Settings {
  int rounds = 9;
  double least_seconds = 0.002;  ///< shorter work is repeated within a round
};

/// The two buffers of a piece of work, and how many bytes it reads and writes. Each buffer has the larger of these two
/// sizes.
struct Traffic {
  const std::byte* src = nullptr;
  std::size_t read = 0;  ///< bytes
  std::byte* dst = nullptr;
  std::size_t written = 0;
};

/// Returns the measurement of `work`, which takes turns with ways of streaming as many bytes through the same buffers. Leaves
/// `problem` and `strategy` empty.
Measurement measure_work(const std::function<void()>& work, const Traffic& traffic, int threads, Executor& executor,
                         const Settings& settings);

/// Sets the number of the library's own threads, and returns the measurement of a problem on these threads. Throws Error if
/// the problem cannot be planned, or needs more memory than there is.
Measurement measure(const PlacedProblem& placed, int threads, const Settings& settings);

}  // namespace patchfold::bench
