// SPDX-License-Identifier: Apache-2.0
// One problem measured against its roof, all in the same rounds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "patchfold/table.hpp"

namespace patchfold::bench {

/// A row of the result. Times are medians over the rounds.
struct Measurement {
  std::string problem{};
  int threads = 1;
  double seconds = 0;       ///< of the operator
  double roof_seconds = 0;  ///< of the fastest way to read and write as many bytes
  double copy_seconds = 0;  ///< of a non-temporal copy of half of all bytes
  double bytes = 0;         ///< read and written
  std::string roof{};       ///< which way was the fastest
  std::string strategy{};

  double of_roof() const { return seconds / roof_seconds; }
  double of_copy() const { return seconds / copy_seconds; }
  double gigabytes_per_second() const { return bytes / seconds / 1e9; }
};

struct Settings {
  int rounds = 9;
  double least_seconds = 0.002;  ///< shorter work is repeated within a round
};

/// Runs the problem on the library's own threads, whose number it sets. Throws Error for a problem that cannot be planned or
/// needs more memory than there is.
Measurement measure(const ProblemText& problem, int threads, const Settings& settings);

/// Median seconds of each piece of work, run in turn: a b c a b c ..
std::vector<double> race(const std::vector<std::function<void()>>& works, const Settings& settings);

}  // namespace patchfold::bench
