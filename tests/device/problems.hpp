// SPDX-License-Identifier: Apache-2.0
// Random problems for devices. A problem is compared with the engine, which other tests compare with the reference.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "memory.hpp"
#include "problem.hpp"

namespace patchfold::testing {

/// A problem with its tensors and the result of the engine.
struct Case {
  std::string label;  ///< the problem, its layouts, and what draws it again
  Plan plan{};
  DType dtype{};
  bool any_nan = false;  ///< all NaNs of the result are equal
  Arrangement src{}, dst{};
  std::vector<std::byte> source{};    ///< the bytes of src
  std::vector<std::byte> before{};    ///< those of dst before the run
  std::vector<std::byte> expected{};  ///< and after the run
};

/// Returns a problem of an operator; equal arguments give equal problems.
Case draw_case(const Subject& subject, int number);

/// Runs a plan in bytes of a source and a destination, which it changes. Returns the fault, if the device has one.
using Runner = std::function<void(const Case&, std::vector<std::byte>& destination)>;

/// Runs `cases` problems of every operator. Reports at most three faults of an operator to GoogleTest.
void run_cases(int cases, const Runner& run);

}  // namespace patchfold::testing
