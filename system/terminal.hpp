// SPDX-License-Identifier: Apache-2.0
// What a terminal can do.
#pragma once

namespace patchfold::system {

bool is_terminal(int descriptor) noexcept;
/// Returns whether the terminal follows the escape sequences of ECMA-48. On a system where escape sequences must be turned
/// on, turns them on first.
bool takes_escapes(int descriptor) noexcept;
/// Returns the number of characters in a line; 0 if unknown.
int terminal_columns(int descriptor) noexcept;

}  // namespace patchfold::system
