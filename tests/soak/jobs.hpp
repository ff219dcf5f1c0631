// SPDX-License-Identifier: Apache-2.0
// The jobs of a soak, each with a check of its result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "work.hpp"

namespace patchfold::testing {

/// Returns the plans that all threads share in one round.
std::vector<Work> shared_works(std::uint64_t seed);

struct Outcome {
  std::string_view kind{};
  std::int64_t bytes = 0;  ///< bytes that one run reads and writes
  std::optional<std::string> wrong{};
};

/// The kinds of job.
inline constexpr std::string_view kinds[] = {"small problems against the reference, in every way to run them",
                                             "large problems against the reference, in every way to run them",
                                             "plans shared by all threads, against a run on one thread",
                                             "plans made anew, against a run on one thread",
                                             "run(op, ..) and its inverse, with plans that threads keep",
                                             "boxes of merges, against the whole merge",
                                             "calls that must be refused"};

/// Runs a job that the random numbers choose; some jobs use the shared plans.
Outcome run_job(Random random, const std::vector<Work>& shared);

}  // namespace patchfold::testing
