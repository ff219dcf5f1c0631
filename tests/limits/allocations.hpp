// SPDX-License-Identifier: Apache-2.0
// What operator new is asked for in a test's program.
#pragma once

#include <cstddef>

namespace patchfold::limits {

/// The largest single allocation of this thread since the last reset.
std::size_t largest_allocation() noexcept;
void reset_allocations() noexcept;

}  // namespace patchfold::limits
