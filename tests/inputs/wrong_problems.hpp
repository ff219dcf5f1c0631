// SPDX-License-Identifier: Apache-2.0
// Makes wrong problems from the example of an operator, by a list of mistakes for all operators. Facts of an operator add mistakes,
// and exempt the operator from others.
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
  std::vector<ErrorCode> codes{};        ///< the possible codes of the error
  std::vector<std::string> arguments{};  ///< the arguments that the error may name
  bool has_text = true;                  ///< whether a command line can express the mistake
};

/// Returns the example of the operator's row.
ProblemText right_problem(const OperatorSpec& op);
/// Returns the operator's example with every mistake of the list, one at a time, without exempt mistakes. Throws
/// std::logic_error for an exemption that matches no mistake. If `known` is null, returns only mistakes that every operator
/// refuses.
std::vector<Wrong> wrong_problems(const OperatorSpec& op, const facts::Facts* known);

}  // namespace patchfold::inputs
