// SPDX-License-Identifier: Apache-2.0
// Texts of callers, files and the environment in messages: any length, any bytes.
#pragma once

#include <cstddef>
#include <string_view>

namespace patchfold {

/// Returns the character, or '?' for a control character.
constexpr char printable(char c) noexcept {
  return static_cast<unsigned char>(c) < ' ' || c == 0x7F ? '?' : c;
}

/// Returns the largest length up to `most`, within the text, that does not split a character of UTF-8.
constexpr std::size_t cut_of(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text.size();
  std::size_t cut = most;
  while (most - cut < 3 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return cut;
}

}  // namespace patchfold
