// SPDX-License-Identifier: Apache-2.0
// JSON as a tree of values. nlohmann's parser reads the text. nlohmann's own tree is not used, because its destructor allocates,
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

/// A JSON value: null (std::monostate), bool, std::int64_t, std::uint64_t (only beyond the range of std::int64_t), double,
/// std::string, Array or Object.
class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::map<std::string, JsonValue>;  ///< if a key occurs several times, its last value counts

  JsonValue() = default;
  template <class T>
  explicit JsonValue(T value) : value_(std::move(value)) {}

  /// Returns a pointer to the value if it has the type T, else null.
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

/// Returns a value as JSON text without blanks, in ASCII.
std::string to_string(const JsonValue& value);
/// Returns a string as JSON text, in quotes; bytes that are not UTF-8 are replaced.
std::string quoted(const std::string& text, bool ascii = false);

/// The reason that a text is not JSON, and the place of the error.
struct JsonError {
  enum class Kind { syntax, number, depth } kind = Kind::syntax;  ///< number: beyond 64 bits; depth: too deep
  std::size_t byte = 0;                                           ///< the first byte that is wrong, counted from 1
};

/// A function that returns whether to keep `value`, an entry of the list under `key` in the outermost object.
using JsonFilter = std::function<bool(const std::string& key, const JsonValue& value)>;

/// Returns the value that a text holds, nested at most `most_depth` levels deep. `filter` drops entries of lists. Throws JsonError.
JsonValue parse_json(std::string_view text, int most_depth, const JsonFilter& filter = {});

}  // namespace patchfold::formats
