// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <cstdlib>

#include "cli/text.hpp"
#include "system/file.hpp"
#include "system/terminal.hpp"

namespace patchfold::cli {
namespace {

std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

bool has_terminal() noexcept {
  return system::takes_escapes(system::standard_error);
}

bool has_colours() noexcept {
  return has_terminal() && variable("NO_COLOR").empty();
}

int terminal_width() noexcept {
  const int columns = system::terminal_columns(system::standard_error);
  return columns > 0 ? columns : 80;
}

std::string in_colour(Colour colour, std::string_view text) {
  if (text.empty() || !has_colours()) return std::string(text);
  return text_of("\033[", static_cast<int>(colour), "m", text, "\033[0m");
}

}  // namespace patchfold::cli
