// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/text.hpp"

namespace patchfold::cli {
namespace {

std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool has_terminal() noexcept {
  return ::isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb";
}

bool has_colours() noexcept {
  return has_terminal() && variable("NO_COLOR").empty();
}

int terminal_width() noexcept {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

std::string in_colour(Colour colour, std::string_view text) {
  if (text.empty() || !has_colours()) return std::string(text);
  return text_of("\033[", static_cast<int>(colour), "m", text, "\033[0m");
}

}  // namespace patchfold::cli
