// SPDX-License-Identifier: Apache-2.0
#include "dialects/text.hpp"

#include <cerrno>
#include <cfenv>
#include <charconv>
#include <clocale>
#include <complex>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/fail.hpp"
#include "engine/floats.hpp"

namespace patchfold {
namespace dialects {
namespace {

/// Returns the text without blanks, and without the brackets, if there is a pair around the whole text.
std::string trimmed(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\t') result += c;
  if (result.size() >= 2 &&
      ((result.front() == '[' && result.back() == ']') || (result.front() == '(' && result.back() == ')')))
    result = result.substr(1, result.size() - 2);
  return result;
}

std::optional<double> parse_real(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (text.empty() || text.front() == '+') return std::nullopt;
  double value = 0;
  const engine::DefaultFloats floats;  // std::from_chars may divide, and would round in the caller's mode
#ifdef __cpp_lib_to_chars
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
#else
  // libc++ before version 20 has no from_chars for doubles. strtod depends on the locale, and accepts more texts than from_chars:
  // texts with an x or a leading blank.
  static const ::locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
  if (text.find_first_of("xX \t\n\v\f\r") != std::string_view::npos) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const std::string ended(text);
  std::fenv_t callers;
  std::fegetenv(&callers);
  std::fesetenv(FE_DFL_ENV);  // musl's strtod computes with 80 bits, which have their own rounding mode
  value = ::strtod_l(ended.c_str(), &end, plain);
  std::fesetenv(&callers);
  if (errno == ERANGE || end != ended.c_str() + ended.size()) return std::nullopt;
#endif
  return value;
}

/// Reads a number: 3, -1.5, 1e-3, nan, inf, 2j, 1.5-2j.
std::optional<Scalar> parse_number(std::string_view text) {
  if (const auto integer = parse_integer(text)) return Scalar(*integer);
  std::uint64_t big = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), big);
  if (error == std::errc{} && end == text.data() + text.size()) return Scalar(big);
  if (const auto real = parse_real(text)) return Scalar(*real);
  if (text.empty() || (text.back() != 'j' && text.back() != 'i')) return std::nullopt;
  text.remove_suffix(1);
  if (const auto imaginary = parse_real(text)) return Scalar(std::complex<double>(0, *imaginary));
  for (std::size_t i = text.size(); i-- > 1;) {
    if ((text[i] != '+' && text[i] != '-') || text[i - 1] == 'e' || text[i - 1] == 'E') continue;
    const auto real = parse_real(text.substr(0, i));
    const auto imaginary = parse_real(text.substr(i));
    if (real && imaginary) return Scalar(std::complex<double>(*real, *imaginary));
    return std::nullopt;
  }
  return std::nullopt;
}

template <class T>
std::optional<ArgumentValue> wrap(const std::optional<T>& value) {
  if (!value) return std::nullopt;
  return ArgumentValue(*value);
}

/// Reads axes: "3" is one number, "3," and "3,5" are lists.
std::optional<ArgumentValue> parse_axes(std::string_view text) {
  if (const auto number = parse_integer(text)) return ArgumentValue(*number);
  return wrap(parse_list(text, ','));
}

std::optional<ArgumentValue> parse_by_kind(ArgumentKind kind, const std::string& text) {
  switch (kind) {
    case ArgumentKind::integer: return wrap(parse_integer(text));
    case ArgumentKind::integers: return wrap(parse_list(text, ','));
    case ArgumentKind::axes: return parse_axes(text);
    case ArgumentKind::pairs:
      return text.find(':') != std::string::npos ? wrap(parse_pairs(text, ',')) : wrap(parse_list(text, ','));
    case ArgumentKind::padding:
      if (padding_rule(text)) return ArgumentValue(text);
      return text.find(':') != std::string::npos ? wrap(parse_pairs(text, ',')) : parse_axes(text);
    case ArgumentKind::number: return wrap(parse_number(text));
    case ArgumentKind::boolean:
      if (text == "true" || text == "1") return ArgumentValue(std::int64_t{1});
      if (text == "false" || text == "0") return ArgumentValue(std::int64_t{0});
      return std::nullopt;
    case ArgumentKind::choice: return ArgumentValue(text);
  }
  return std::nullopt;
}

}  // namespace

std::string_view phrase(ArgumentKind kind) noexcept {
  switch (kind) {
    case ArgumentKind::integer: return "an integer";
    case ArgumentKind::integers: return "a list of integers";
    case ArgumentKind::axes: return "an integer, or a list with one for each spatial axis";
    case ArgumentKind::pairs: return "a list of pairs begin:end";
    case ArgumentKind::padding:
      return "a rule (valid, same_upper or same, same_lower), an integer, a list, or a list of pairs begin:end";
    case ArgumentKind::number: return "a number";
    case ArgumentKind::boolean: return "true or false";
    case ArgumentKind::choice: return "a word";
  }
  return "a value";
}

std::optional<Padding::Rule> padding_rule(std::string_view word) noexcept {
  if (word == "same") return Padding::same_upper;
  return value_of<Padding::Rule>(word);
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Dims> parse_list(std::string_view text, char separator) {
  Dims list;
  while (!text.empty()) {
    const std::size_t cut = text.find(separator);
    const auto number = parse_integer(text.substr(0, cut));
    if (!number || list.size() == max_rank) return std::nullopt;
    list.push_back(*number);
    if (cut == std::string_view::npos) break;
    text.remove_prefix(cut + 1);
  }
  return list;
}

std::optional<PadsList> parse_pairs(std::string_view text, char separator) {
  PadsList pairs;
  while (!text.empty()) {
    const std::size_t cut = text.find(separator);
    const std::string_view pair = text.substr(0, cut);
    const std::size_t colon = pair.find(':');
    const auto begin = parse_integer(pair.substr(0, colon));
    const auto end = colon == std::string_view::npos ? begin : parse_integer(pair.substr(colon + 1));
    if (!begin || !end || pairs.size() == max_rank) return std::nullopt;
    pairs.push_back({*begin, *end});
    if (cut == std::string_view::npos) break;
    text.remove_prefix(cut + 1);
  }
  return pairs;
}

}  // namespace dialects

ArgumentValue parse_value(const OperatorSpec& op, const ArgumentSpec& argument, std::string_view text) {
  const std::string plain = argument.kind == ArgumentKind::choice ? std::string(text) : dialects::trimmed(text);
  if (auto value = dialects::parse_by_kind(argument.kind, plain)) return *value;
  // Other programs write 3x3 or 3;3 for 3,3.
  std::string with_commas = plain;
  for (char& c : with_commas)
    if (c == 'x' || c == 'X' || c == '*' || c == ';') c = ',';
  const bool is_list = with_commas != plain && dialects::parse_list(with_commas, ',').has_value() &&
                       argument.kind != ArgumentKind::number && argument.kind != ArgumentKind::integer;
  fail(ErrorCode::type, op.name, argument.name, "must be " + std::string(dialects::phrase(argument.kind)),
       text.empty() ? "nothing" : text, {}, is_list ? ErrorValue("write ", with_commas) : ErrorValue());
}

}  // namespace patchfold
