// SPDX-License-Identifier: Apache-2.0
// What is behind a descriptor, and errors of Windows as errno.
#pragma once

#include <windows.h>

namespace patchfold::system {

/// INVALID_HANDLE_VALUE for no descriptor.
HANDLE handle_of(int descriptor) noexcept;
/// Sets errno to what GetLastError() means.
void set_errno() noexcept;

}  // namespace patchfold::system
