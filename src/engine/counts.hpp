// SPDX-License-Identifier: Apache-2.0
// Sums of ones.
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// Coverage; null for sums of what a caller gives. Its time does not grow with the taps and positions that meet.
std::unique_ptr<Compiled> make_counts(const Problem& problem);

}  // namespace patchfold::engine
