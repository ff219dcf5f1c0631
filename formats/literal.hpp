// SPDX-License-Identifier: Apache-2.0
// Python literals of the kinds that the header of a .npy file holds: strings, integers, True, False, tuples, lists, dictionaries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchfold::formats {

struct Literal {
  enum class Kind : std::uint8_t { text, integer, boolean, tuple, list, dictionary };

  Kind kind = Kind::text;
  std::string_view source{};     ///< of a text: the literal itself, with quotes and escapes
  std::int64_t number = 0;       ///< the value of an integer or a boolean
  std::vector<Literal> items{};  ///< the items; of a dictionary: key, value, key, value, ..

  /// Returns the characters between the quotes. Escapes stay as they are written: the texts that callers compare with have none.
  std::string_view text() const noexcept { return source.substr(1, source.size() - 2); }
};

/// What is wrong in a literal, and where.
struct LiteralError {
  std::size_t position = 0;
  std::string_view expected{};
};

/// Returns the literal that fills `source`, which must outlive the result. Throws LiteralError. Integers may end in L, as in Python
/// 2. Nesting deeper than 32 levels is an error.
Literal parse_literal(std::string_view source);

}  // namespace patchfold::formats
