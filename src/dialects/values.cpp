// SPDX-License-Identifier: Apache-2.0
// Values of arguments: writes them as text, and converts them to members of the operators' structs.
#include <charconv>
#include <cmath>
#include <complex>
#include <limits>

#include "base/fail.hpp"
#include "base/other_words.hpp"
#include "dialects/rows.hpp"
#include "dialects/text.hpp"

namespace patchfold {
namespace dialects {
namespace {

[[noreturn]] void wrong_type(const ArgumentValue& value, const Target& target) {
  std::string given = to_string(value);
  const auto* const number = std::get_if<Scalar>(&value);
  if (number != nullptr && number->kind() == Scalar::Kind::real && parse_integer(given)) given += ".0";
  fail(ErrorCode::type, target.op.name, target.argument.name, "must be " + std::string(phrase(target.argument.kind)), given);
}

template <class T>
const T& get(const ArgumentValue& value, const Target& target) {
  if (const T* found = std::get_if<T>(&value)) return *found;
  wrong_type(value, target);
}

}  // namespace

void assign(std::int64_t& member, const ArgumentValue& value, const Target& target) {
  member = get<std::int64_t>(value, target);
}

void assign(bool& member, const ArgumentValue& value, const Target& target) {
  const std::int64_t number = get<std::int64_t>(value, target);
  if (number != 0 && number != 1)
    fail(ErrorCode::value, target.op.name, target.argument.name, "must be true or false", number);
  member = number == 1;
}

void assign(Dims& member, const ArgumentValue& value, const Target& target) {
  if (const auto* number = std::get_if<std::int64_t>(&value))
    member = {*number};
  else if (const auto* tensor = std::get_if<IndexTensor>(&value))
    member = tensor->values;
  else
    member = get<Dims>(value, target);
}

void assign(Axes& member, const ArgumentValue& value, const Target& target) {
  if (const auto* number = std::get_if<std::int64_t>(&value))
    member = Axes(*number);
  else
    member = Axes(get<Dims>(value, target));
}

void assign(PadsList& member, const ArgumentValue& value, const Target& target) {
  Dims flat;
  if (const auto* pairs = std::get_if<PadsList>(&value)) {
    member = *pairs;
    return;
  }
  if (const auto* tensor = std::get_if<IndexTensor>(&value))
    flat = tensor->values;
  else
    flat = get<Dims>(value, target);
  if (flat.size() % 2 != 0)
    fail(ErrorCode::length, target.op.name, target.argument.name, "must be pairs of begin and end", flat, "an even count");
  member = {};
  for (int i = 0; i < flat.size(); i += 2) member.push_back({flat[i], flat[i + 1]});
}

void assign(Padding& member, const ArgumentValue& value, const Target& target) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    member = Padding(*number);
  } else if (const auto* word = std::get_if<std::string>(&value)) {
    const auto rule = padding_rule(*word);
    if (!rule)
      fail(ErrorCode::value, target.op.name, target.argument.name, "must be a rule or numbers", *word,
           listed_words<Padding::Rule>() + ", same, or numbers");
    member = Padding(*rule);
  } else if (const auto* list = std::get_if<Dims>(&value)) {
    PadsList pairs;
    for (const std::int64_t both : *list) pairs.push_back({both, both});
    member = Padding(pairs);
  } else {
    member = Padding(get<PadsList>(value, target));
  }
}

void assign(Scalar& member, const ArgumentValue& value, const Target& target) {
  if (const auto* number = std::get_if<std::int64_t>(&value))
    member = Scalar(*number);
  else
    member = get<Scalar>(value, target);
}

std::string_view choose(const ArgumentValue& value, const Target& target) {
  const std::string& word = get<std::string>(value, target);
  std::string known;
  for (const std::string_view choice : target.argument.choices) {
    if (choice == word || choice == word_here(word)) return choice;
    known += (known.empty() ? "" : ", ") + std::string(choice);
  }
  fail(ErrorCode::value, target.op.name, target.argument.name, "must be one of the words that the argument knows", word,
       known);
}

std::string default_text(std::int64_t value) {
  return std::to_string(value);
}
std::string default_text(bool value) {
  return value ? "true" : "false";
}
std::string default_text(const Dims& value) {
  return to_string(ArgumentValue(value));
}
std::string default_text(const Axes& value) {
  return value.is_scalar() ? std::to_string(value.values()[0]) : default_text(value.values());
}
std::string default_text(const PadsList& value) {
  return to_string(ArgumentValue(value));
}
std::string default_text(const Padding& value) {
  return value.is_scalar() ? std::to_string(value.pads()[0].begin) : default_text(value.pads());
}
std::string default_text(const Scalar& value) {
  return to_string(value);
}

}  // namespace dialects

std::string_view name_of(ArgumentKind kind) noexcept {
  return word_of(kind);
}

std::string to_string(const ArgumentValue& value) {
  struct Writer {
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(const Dims& list) const {
      std::string text;
      for (int i = 0; i < list.size(); ++i) text += (i ? "," : "") + std::to_string(list[i]);
      return list.size() == 1 ? text + "," : text;  // told apart from a single number
    }
    std::string operator()(const PadsList& pairs) const {
      std::string text;
      for (int i = 0; i < pairs.size(); ++i)
        text += (i ? "," : "") + std::to_string(pairs[i].begin) + ":" + std::to_string(pairs[i].end);
      return text;
    }
    std::string operator()(const Scalar& number) const { return to_string(number); }
    std::string operator()(const std::string& word) const { return word; }
    std::string operator()(const IndexTensor& tensor) const { return (*this)(tensor.values); }
  };
  return std::visit(Writer{}, value);
}

}  // namespace patchfold
