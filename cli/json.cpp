// SPDX-License-Identifier: Apache-2.0
#include "cli/json.hpp"

#include <charconv>
#include <cmath>
#include <iterator>

#include "formats/json_value.hpp"

namespace patchfold::cli {

std::string json_of(std::nullptr_t) {
  return "null";
}
std::string json_of(std::string_view text) {
  return formats::quoted(std::string(text));
}
std::string json_of(bool flag) {
  return flag ? "true" : "false";
}
std::string json_of(double number) {
  if (!std::isfinite(number)) return "null";
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), number).ptr};
}
std::string json_of(const Dims& list) {
  return json_list(list, [](std::int64_t entry) { return entry; });
}

JsonObject& JsonObject::add_text(std::string_view name, const std::string& value) {
  text_.pop_back();
  text_.append(text_.size() > 1 ? ", " : "").append(json_of(name)).append(": ").append(value).append("}");
  return *this;
}

}  // namespace patchfold::cli
