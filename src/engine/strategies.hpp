// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace patchfold::engine {

/// The rows of the strategy table, in the order in which they are tried.
std::vector<std::string_view> strategy_names();

}  // namespace patchfold::engine
