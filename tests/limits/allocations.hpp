// SPDX-License-Identifier: Apache-2.0
// Records the requests to operator new in a test program.
#pragma once

#include <cstddef>

namespace patchfold::limits {

/// Returns the size in bytes of the largest single allocation of this thread since the last reset.
std::size_t largest_allocation() noexcept;
void reset_allocations() noexcept;

}  // namespace patchfold::limits
