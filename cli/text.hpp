// SPDX-License-Identifier: Apache-2.0
// Makes texts from parts. Only files that need widths and columns use fmt, since its headers take longer to compile than these
// files themselves.
#pragma once

#include <charconv>
#include <concepts>
#include <iterator>
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

/// Returns the parts joined: texts as they are, integers as decimal numbers.
template <class... Parts>
std::string text_of(const Parts&... parts) {
  std::string text;
  (append(text, parts), ...);
  return text;
}

/// Returns "1 tile", or the number with "tiles".
inline std::string counted_tiles(std::integral auto count) {
  return text_of(count, count == 1 ? " tile" : " tiles");
}

/// Returns the number with `digits` digits after the point.
inline std::string decimal(double number, int digits) {
  char text[512];  // enough: the largest float64 has 309 digits before the point
  return {text, std::to_chars(std::begin(text), std::end(text), number, std::chars_format::fixed, digits).ptr};
}

}  // namespace patchfold::cli
