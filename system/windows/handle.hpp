// SPDX-License-Identifier: Apache-2.0
// What is behind a descriptor, errors of Windows as errno, and its texts as UTF-8.
#pragma once

#include <windows.h>

#include <string>
#include <string_view>

namespace patchfold::system {

/// INVALID_HANDLE_VALUE for no descriptor.
HANDLE handle_of(int descriptor) noexcept;
/// Sets errno to what GetLastError() means.
void set_errno() noexcept;
/// Converts UTF-16 to UTF-8. Halves of pairs that stand alone become U+FFFD.
std::string utf8_of(std::wstring_view text);

}  // namespace patchfold::system
