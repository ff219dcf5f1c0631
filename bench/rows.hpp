// SPDX-License-Identifier: Apache-2.0
// Which rows of the strategy table plans are made with, so that a row's worth can be measured.
#pragma once

#include <string>
#include <vector>

namespace patchfold::bench {

/// The rows, in the order in which they are tried.
std::vector<std::string> rows();

/// From now on problems that the row `only` fits are planned by it, and no others by the row `without`, as long as another
/// row fits. "" is no row. Not for use while other threads plan.
void choose_rows(const std::string& only, const std::string& without);

}  // namespace patchfold::bench
