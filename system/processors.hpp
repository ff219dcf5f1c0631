// SPDX-License-Identifier: Apache-2.0
// What the executor with threads needs: the number of processors, and callbacks when the process forks.
#pragma once

namespace patchfold::system {

/// Returns the number of processors that this process may use; at least 1.
int count_processors() noexcept;

/// Makes every later fork call `before` before it, and after it in_parent in the parent and in_child in the child. Returns 0 or the
/// error number. Systems without forks never call the functions.
int call_at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

}  // namespace patchfold::system
