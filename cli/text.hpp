// SPDX-License-Identifier: Apache-2.0
// Texts made of parts. What needs widths and columns uses fmt, whose headers take longer to compile than the files that
// would include them.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace patchfold::cli {

inline void append(std::string& text, std::string_view part) {
  text += part;
}
template <std::integral T>
void append(std::string& text, T number) {
  text += std::to_string(number);
}

/// The parts one after another: texts, and integers as decimal numbers.
template <class... Parts>
std::string text_of(const Parts&... parts) {
  std::string text;
  (append(text, parts), ...);
  return text;
}

/// The number with so many digits after the point.
std::string decimal(double number, int digits);

}  // namespace patchfold::cli
