// SPDX-License-Identifier: Apache-2.0
// What is explained: an operator with its arguments at one shape.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patchfold/table.hpp"

namespace patchfold::explaining {

struct Subject {
  const OperatorSpec& op;
  std::vector<Argument> given;
  BoundOperator bound;
  DType dtype;
  std::size_t element_size;
  Dims input;  ///< empty if the operator has no data input
  Dims output;

  bool has_input() const { return !op.data_input.empty(); }
};

/// The value of an argument that is in force: given, or the default. Nothing if it is left out or there is no such argument.
std::optional<ArgumentValue> value_in_force(const Subject& subject, std::string_view name);

}  // namespace patchfold::explaining
