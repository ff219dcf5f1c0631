// SPDX-License-Identifier: Apache-2.0
// Turns descriptors into handles, Windows' errors into errno, and Windows' texts into UTF-8.
#pragma once

#include <windows.h>

#include <string>
#include <string_view>

namespace patchfold::system {

/// Returns the handle of a descriptor; INVALID_HANDLE_VALUE if there is no such descriptor.
HANDLE handle_of(int descriptor) noexcept;
/// Sets errno to what GetLastError() means.
void set_errno() noexcept;
/// Returns UTF-16 as UTF-8. A surrogate without its other half becomes U+FFFD.
std::string utf8_of(std::wstring_view text);

}  // namespace patchfold::system
