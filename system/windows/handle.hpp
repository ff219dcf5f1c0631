// SPDX-License-Identifier: Apache-2.0
// Converts descriptors to handles, errors of Windows to errno, and texts of Windows to UTF-8.
#pragma once

#include <windows.h>

#include <string>
#include <string_view>

namespace patchfold::system {

/// Returns the handle of a descriptor; INVALID_HANDLE_VALUE if there is no such descriptor.
HANDLE handle_of(int descriptor) noexcept;
/// Sets errno to the meaning of GetLastError().
void set_errno() noexcept;
/// Returns UTF-16 as UTF-8. Surrogates without their other half become U+FFFD.
std::string utf8_of(std::wstring_view text);

}  // namespace patchfold::system
