// SPDX-License-Identifier: Apache-2.0
// Writes the JSON that commands print; members stay in the order in which they are added. docs/command-line.md has the schemas.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "patchfold/tensor.hpp"

namespace patchfold::cli {

/// Returns a value as JSON text: a string in quotes (bytes that are not UTF-8 are replaced), a number, a list. A missing value,
/// infinity and NaN become null.
std::string json_of(std::nullptr_t);
std::string json_of(std::string_view text);
std::string json_of(bool flag);
std::string json_of(double number);
std::string json_of(const Dims& list);
inline std::string json_of(const char* text) {
  return json_of(std::string_view(text));
}
inline std::string json_of(const std::string& text) {
  return json_of(std::string_view(text));
}
template <std::integral T>
requires(!std::same_as<T, bool>) std::string json_of(T number) {
  return std::to_string(number);
}
template <class T>
std::string json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : json_of(nullptr);
}

/// A JSON object on one line.
class JsonObject {
 public:
  template <class T>
  JsonObject& add(std::string_view name, const T& value) {
    return add_text(name, json_of(value));
  }
  const std::string& text() const noexcept { return text_; }

 private:
  JsonObject& add_text(std::string_view name, const std::string& value);
  std::string text_ = "{}";
};

inline std::string json_of(const JsonObject& object) {
  return object.text();
}

/// Returns a JSON list of the texts that f returns for the entries of a range, with `separator` between them.
template <class Range, class F>
std::string json_list(const Range& range, F&& f, std::string_view separator = ", ") {
  std::string text;
  for (const auto& entry : range) text.append(text.empty() ? "" : separator).append(json_of(f(entry)));
  return "[" + text + "]";
}

/// A text that is JSON already, and is not quoted.
struct JsonText {
  std::string text{};
};
inline std::string json_of(const JsonText& value) {
  return value.text;
}

}  // namespace patchfold::cli
