// SPDX-License-Identifier: Apache-2.0
// Enumerations as text: the one table of words for the command line, JSON, Python, the C ABI and error messages.
//
// Each enumeration has its table right behind its definition:
//   enum class Order : std::uint8_t { channel, kernel };
//   template <>
//   inline constexpr auto words<Order> = std::to_array<Word<Order>>({{Order::channel, "channel"}, {Order::kernel,
//   "kernel"}});
// The order of the table is the order in which help texts list the words. Nothing depends on the order of the enumerators.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "patchfold/standard.hpp"

namespace patchfold {

/// One value of an enumeration and the word that stands for it.
template <class E>
struct Word {
  E value;
  std::string_view word;
};

/// The table of an enumeration. Specialise it beside the enumeration. The type of a row is Word<E>, or derives from it if a row
/// holds more than a word.
template <class E>
inline constexpr std::nullptr_t words = nullptr;

/// An enumeration that has a table of words.
template <class E>
concept Worded = requires {
  words<E>.size();
};

/// Returns the word of a value; "?" for a number that is not an enumerator.
template <Worded E>
constexpr std::string_view word_of(E value) noexcept {
  for (const Word<E>& each : words<E>)
    if (each.value == value) return each.word;
  return "?";
}

/// Returns whether the number is an enumerator.
template <Worded E>
constexpr bool is_enumerator(E value) noexcept {
  for (const Word<E>& each : words<E>)
    if (each.value == value) return true;
  return false;
}

/// Returns the value of a word; empty if there is no such word.
template <Worded E>
constexpr std::optional<E> value_of(std::string_view word) noexcept {
  for (const Word<E>& each : words<E>)
    if (each.word == word) return each.value;
  return std::nullopt;
}

namespace detail {
template <Worded E>
inline constexpr auto plain_words = [] {
  std::array<std::string_view, words<E>.size()> list{};
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = words<E>[i].word;
  return list;
}();
}  // namespace detail

/// Returns all words of an enumeration, in the order of its table.
template <Worded E>
constexpr std::span<const std::string_view> all_words() noexcept {
  return detail::plain_words<E>;
}

/// Returns the words as a sentence lists them: "constant, edge, reflect or wrap". With `keep`, lists only the words of values for
/// which `keep` returns true.
template <Worded E>
std::string listed_words(bool (*keep)(E) noexcept = nullptr) {
  std::string text;
  std::string_view last;
  for (const Word<E>& each : words<E>) {
    if (keep != nullptr && !keep(each.value)) continue;
    if (!last.empty()) text.append(text.empty() ? "" : ", ").append(last);
    last = each.word;
  }
  return text.empty() ? std::string(last) : text.append(" or ").append(last);
}

}  // namespace patchfold
