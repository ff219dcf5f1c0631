// SPDX-License-Identifier: Apache-2.0
// Makes wrong problems from the example of an operator, by a list for all operators. Facts of an operator add mistakes, and exempt
// it from others.
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
  bool has_text = true;                  ///< can be written as text, for a command line
};

/// Returns the example of the operator's row.
ProblemText right_problem(const OperatorSpec& op);
/// Returns every mistake in the problem itself. Exempt cases are left out; each exemption must leave out something. Without facts,
/// returns only mistakes that every operator refuses.
std::vector<Wrong> wrong_problems(const OperatorSpec& op, const facts::Facts* known);

}  // namespace patchfold::inputs
