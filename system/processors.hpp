// SPDX-License-Identifier: Apache-2.0
// Processors, and forks of the process, for the executor that has threads.
#pragma once

namespace patchfold::system {

/// Returns the number of processors that this process may use; at least 1.
int count_processors() noexcept;

/// Makes every later fork call `before` first, and afterwards in_parent in the parent and in_child in the child. Returns 0
/// or the error number. Systems without forks call none of them.
int call_at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

}  // namespace patchfold::system
