// SPDX-License-Identifier: Apache-2.0
// From the example of an operator every wrong problem of a list that is the same for all operators. Facts of an operator say
// what else is wrong, and what cannot be.
#pragma once

#include <string>
#include <vector>

#include "patchfold/table.hpp"
#include "tests/operators/facts.hpp"

namespace patchfold::inputs {

/// A problem that must be refused.
struct Wrong {
  std::string what{};  ///< "rank too low", "stride longer"
  ProblemText problem{};
  std::vector<ErrorCode> codes{};        ///< one of them
  std::vector<std::string> arguments{};  ///< one of them is named
  bool has_text = true;                  ///< can be written as text, as a command line needs it
};

/// The example of the operator's row.
ProblemText right_problem(const OperatorSpec& op);
/// Everything that is wrong with the problem itself. Exempt cases are left out; each exemption must leave out something.
/// Without facts only what every operator refuses.
std::vector<Wrong> wrong_problems(const OperatorSpec& op, const facts::Facts* known);

}  // namespace patchfold::inputs
