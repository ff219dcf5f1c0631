// SPDX-License-Identifier: Apache-2.0
// The abilities of a terminal.
#pragma once

namespace patchfold::system {

bool is_terminal(int descriptor) noexcept;
/// Returns whether the terminal understands the escape sequences of ECMA-48; on some systems, turns them on first.
bool takes_escapes(int descriptor) noexcept;
/// Returns the characters in a line; 0 if unknown.
int terminal_columns(int descriptor) noexcept;

}  // namespace patchfold::system
