// SPDX-License-Identifier: Apache-2.0
// One operator of the library as a node of another system's model: checks, shapes, and runs on the other system's threads. The code
// is compiled with that system's headers, so it uses only the C ABI and C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "patchfold/patchfold.h"

namespace patchfold::plugins {

using Extents = std::vector<std::int64_t>;

/// An error of the library, worded with the node's names: "Col2Im: block_shape: RULE; given .., expected ..".
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value of one argument of a node.
struct Setting {
  enum class Kind { integer, integers, text, number };
  std::string name;  ///< the argument's name in the node
  Kind kind = Kind::integers;
  Extents integers;
  std::string text;
  double number = 0;
};

inline Setting integers_setting(std::string name, Extents values = {}) {
  return {std::move(name), Setting::Kind::integers, std::move(values), {}, 0};
}
inline Setting integer_setting(std::string name, std::int64_t value) {
  return {std::move(name), Setting::Kind::integer, {value}, {}, 0};
}
inline Setting text_setting(std::string name, std::string text) {
  return {std::move(name), Setting::Kind::text, {}, std::move(text), 0};
}
inline Setting number_setting(std::string name, double number) {
  return {std::move(name), Setting::Kind::number, {}, {}, number};
}

/// An argument: its name in the node, and its name in the library if that is another one (`own`).
struct Argument {
  const char* name;
  const char* own = nullptr;
  /// How integers form pairs (begin, end): not at all; all begins, then all ends; pair after pair.
  enum class Pairs { none, begins_ends, in_turn } pairs = Pairs::none;
};

/// An operator as a node: its names, its inputs and its attributes.
struct Definition {
  const char* name;                  ///< the node's name
  const char* op;                    ///< the operator's name in the library
  std::vector<Argument> inputs;      ///< integer inputs after the data
  std::vector<Argument> attributes;  ///< arguments that are no inputs
};

/// The memory and the element type of the data or of the output.
struct Buffer {
  void* data;
  pf_dtype dtype;
};

/// An operator with its settings. Its functions may be called from any number of threads at once.
class Operation {
 public:
  Operation(const Definition& definition, std::vector<Setting> settings);

  /// Returns the shape of the output. `inputs` are the values of the integer inputs. Throws Refused.
  Extents output_shape(const Extents& shape, const std::vector<Extents>& inputs) const;

  /// Runs the operator on `data`. allocate(extents) returns the memory of the output. Throws Refused, and exceptions of `allocate`.
  void run(Buffer data, const Extents& shape, const std::vector<Extents>& inputs, const pf_executor& executor,
           const std::function<void*(const Extents&)>& allocate) const;

 private:
  struct Attributes;

  Extents output_shape(const Extents& shape, const Attributes& attributes) const;
  void check(pf_status status) const;

  const Definition& definition_;
  std::vector<Setting> settings_;
};

}  // namespace patchfold::plugins
