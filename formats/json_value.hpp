// SPDX-License-Identifier: Apache-2.0
// JSON as a tree of values. nlohmann's parser reads the text, but its own tree is not used: it allocates in its destructor,
// which ends the program if memory runs out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace patchfold::formats {

/// null (std::monostate), bool, std::int64_t, std::uint64_t (only beyond the range of the former), double, std::string,
/// Array or Object.
class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::map<std::string, JsonValue>;  ///< a key that is given twice has its last value

  JsonValue() = default;
  template <class T>
  explicit JsonValue(T value) : value_(std::move(value)) {}

  /// The value, or null if it is of another type.
  template <class T>
  const T* as() const noexcept {
    return std::get_if<T>(&value_);
  }
  template <class T>
  T* as() noexcept {
    return std::get_if<T>(&value_);
  }
  template <class Visitor>
  auto visit(const Visitor& visitor) const {
    return std::visit(visitor, value_);
  }
  friend bool operator==(const JsonValue&, const JsonValue&) = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_{};
};

/// Writes a value as text, without blanks, in ASCII.
std::string to_string(const JsonValue& value);
/// A string with its quotes; bytes that are not UTF-8 are replaced.
std::string quoted(const std::string& text, bool ascii = false);

/// Why a text is not JSON.
struct JsonError {
  enum class Kind { syntax, number, depth } kind = Kind::syntax;  ///< number: beyond 64 bits
  std::size_t byte = 0;                                           ///< where the text stops being JSON, from 1
};

/// Returns whether to keep a value in the list that stands under `key` in the outermost object.
using JsonFilter = std::function<bool(const std::string& key, const JsonValue& value)>;

/// Reads a text. Throws JsonError. Nests at most `most_depth` levels.
JsonValue parse_json(std::string_view text, int most_depth, const JsonFilter& filter = {});

}  // namespace patchfold::formats
