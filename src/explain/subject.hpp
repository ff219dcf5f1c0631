// SPDX-License-Identifier: Apache-2.0
// The subject of an explanation: an operator with its arguments at one shape.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patchfold/table.hpp"

namespace patchfold::explaining {

/// An operator, its given arguments, and its geometry. All facts about elements come from the geometry; the arguments are only
/// shown.
struct Subject {
  const OperatorSpec& op;
  std::vector<Argument> given;
  Lowering lowering;
  DType dtype;
  std::size_t element_size;

  const Geometry& geometry() const { return lowering.geometry; }
  bool has_input() const { return geometry().has_data; }
  const Dims& input() const { return geometry().data; }  ///< empty if the operator has no data input
  const Dims& output() const { return geometry().output; }
};

/// Returns the value of an argument, as given or by default; nothing if the argument is not given and has no default.
std::optional<ArgumentValue> value_in_force(const Subject& subject, const ArgumentSpec& argument);

}  // namespace patchfold::explaining
