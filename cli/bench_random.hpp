// SPDX-License-Identifier: Apache-2.0
// `patchfold bench --random`: problems drawn at random, in multiples of a copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure.hpp"

namespace patchfold::cli {

/// A request to `patchfold bench --random SEED COUNT`.
struct RandomRequest {
  std::uint64_t seed = 0;
  std::int64_t count = 0;
  std::optional<int> only{};   ///< measure this problem alone
  std::optional<int> worst{};  ///< the number of the slowest problems that are printed again, with their plans
  std::vector<int> threads{};
  bench::Settings settings{};
  bool json = false;
};

/// Reads SEED and COUNT and checks `only`. Throws Error(usage).
void parse_random(const std::vector<std::string>& seed_and_count, RandomRequest& request);
/// Measures the problems, and prints a row for each problem and number of threads. Throws Error.
void run_random(const RandomRequest& request);

}  // namespace patchfold::cli
