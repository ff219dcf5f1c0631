// SPDX-License-Identifier: Apache-2.0
// Terminals on Windows are consoles. NUL is a character device too, but no console.
#include "system/terminal.hpp"

#include <cstdlib>
#include <string_view>

#include "system/windows/handle.hpp"

namespace patchfold::system {

bool is_terminal(int descriptor) noexcept {
  DWORD mode = 0;
  return ::GetConsoleMode(handle_of(descriptor), &mode) != 0;
}

bool takes_escapes(int descriptor) noexcept {
  const char* const kind = std::getenv("TERM");
  if (kind != nullptr && std::string_view(kind) == "dumb") return false;
  DWORD mode = 0;
  if (::GetConsoleMode(handle_of(descriptor), &mode) == 0) return false;
  return (mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0 ||
         ::SetConsoleMode(handle_of(descriptor), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0;
}

int terminal_columns(int descriptor) noexcept {
  CONSOLE_SCREEN_BUFFER_INFO screen;
  if (::GetConsoleScreenBufferInfo(handle_of(descriptor), &screen) == 0) return 0;
  return screen.srWindow.Right - screen.srWindow.Left + 1;
}

}  // namespace patchfold::system
