// SPDX-License-Identifier: Apache-2.0
// Compares random tilings and merges with loops over every element of every tile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "random.hpp"

namespace patchfold::testing {

/// Cuts, merges and compares once. Returns the fault, if there is one, and adds the bytes read and written to `bytes`.
std::optional<std::string> check_merge_once(Random& random, std::int64_t& bytes);

}  // namespace patchfold::testing
