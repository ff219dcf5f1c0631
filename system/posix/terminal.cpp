// SPDX-License-Identifier: Apache-2.0
#include "system/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace patchfold::system {

bool is_terminal(int descriptor) noexcept {
  return ::isatty(descriptor) == 1;
}

bool takes_escapes(int descriptor) noexcept {
  const char* const kind = std::getenv("TERM");
  return is_terminal(descriptor) && (kind == nullptr || std::string_view(kind) != "dumb");
}

int terminal_columns(int descriptor) noexcept {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace patchfold::system
