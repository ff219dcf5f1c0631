// SPDX-License-Identifier: Apache-2.0
// What is known of a terminal.
#pragma once

namespace patchfold::system {

bool is_terminal(int descriptor) noexcept;
/// Whether this terminal understands the escape sequences of ECMA-48, after it was told to where that is needed.
bool takes_escapes(int descriptor) noexcept;
/// Characters in a line; 0 where nobody knows.
int terminal_columns(int descriptor) noexcept;

}  // namespace patchfold::system
