// SPDX-License-Identifier: Apache-2.0
// Python literals of the kinds that the header of a .npy file holds: strings, integers, True, False, tuples, lists,
// dictionaries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchfold::formats {

struct Literal {
  enum class Kind : std::uint8_t { text, integer, boolean, tuple, list, dictionary };

  Kind kind = Kind::text;
  std::string_view source{};     ///< of a text: as written, with quotes and escapes
  std::int64_t number = 0;       ///< of an integer or a boolean
  std::vector<Literal> items{};  ///< of a dictionary: key, value, key, value, ..

  /// Returns the inside of a text, with escapes as written. They need no decoding: no text that is compared has any.
  std::string_view text() const noexcept { return source.substr(1, source.size() - 2); }
};

/// The error in a literal, and its place.
struct LiteralError {
  std::size_t position = 0;
  std::string_view expected{};
};

/// Reads the one literal in `source`, which must outlive the result. Throws LiteralError. Integers may end in L, as Python
/// 2 wrote them. Nesting deeper than 32 levels is an error.
Literal parse_literal(std::string_view source);

}  // namespace patchfold::formats
