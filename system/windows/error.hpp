// SPDX-License-Identifier: Apache-2.0
// Errors of Windows as errno.
#pragma once

namespace patchfold::system {

/// Sets errno to what GetLastError() means.
void set_errno() noexcept;

}  // namespace patchfold::system
