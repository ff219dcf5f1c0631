// SPDX-License-Identifier: Apache-2.0
// Compares the library, run in every way, with the reference for one problem.
#pragma once

#include <optional>
#include <string>

#include "problem.hpp"

namespace patchfold::testing {

/// Returns nothing if every run of the problem agrees with the reference, otherwise the fault. Adds the features that the
/// runs have shown to problem.features.
std::optional<std::string> check(Problem& problem, bool sums, Random& random);

reference::Arguments reference_arguments(const std::vector<Argument>& arguments);

/// Sets the text to print if the program crashes.
void announce(const std::string& text);

}  // namespace patchfold::testing
