// SPDX-License-Identifier: Apache-2.0
// One operator of the library as a node of another system's model: checks, shapes, and runs on the other system's threads. The code
// uses only the C ABI and C++17, since it is compiled with a runtime's headers.
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

/// An error of the library with the names of the node: "Col2Im: block_shape: RULE; given .., expected ..".
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value of one argument.
struct Setting {
  enum class Kind { integer, integers, text, number };
  std::string name;  ///< the node's name for it
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

/// An argument of a node, and its name in the library; nullptr: the same name.
struct Argument {
  const char* name;
  const char* own = nullptr;
  /// The order in which integers form pairs (begin, end): none; all begins, then all ends; pair by pair.
  enum class Pairs { none, begins_ends, in_turn } pairs = Pairs::none;
};

/// The definition of an operator for a runtime: its names, arguments and inputs.
struct Definition {
  const char* name;                  ///< the node's
  const char* op;                    ///< the library's
  std::vector<Argument> inputs;      ///< integer inputs behind the data
  std::vector<Argument> attributes;  ///< further attributes that the node may have
};

/// A tensor for the data input or the output.
struct Buffer {
  void* data;
  pf_dtype dtype;
};

/// An operator with its settings. Every function may be called from any number of threads at once.
class Operation {
 public:
  Operation(const Definition& definition, std::vector<Setting> settings);

  /// Returns the shape of the output. `inputs` are the values of the inputs after the data. Throws Refused.
  Extents output_shape(const Extents& shape, const std::vector<Extents>& inputs) const;

  /// Runs the operator. `allocate(extents)` returns the output's memory. Throws Refused, and exceptions of `allocate`.
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
