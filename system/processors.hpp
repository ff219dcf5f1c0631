// SPDX-License-Identifier: Apache-2.0
// Processors and copies of the process, for the executor that has threads.
#pragma once

namespace patchfold::system {

/// The processors that this process may use; at least 1.
int count_processors() noexcept;

/// From now on `before` is called before a fork, and then one of the others in each process. Returns 0 or the error number.
/// Systems without forks call none.
int call_at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

}  // namespace patchfold::system
