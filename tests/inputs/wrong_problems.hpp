// SPDX-License-Identifier: Apache-2.0
// For each operator a problem that is right, and from it every wrong one of a list that is the same for all operators. What
// cannot be wrong about an operator says why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "patchfold/table.hpp"

namespace patchfold::inputs {

/// A problem that must be refused.
struct Wrong {
  std::string what{};  ///< "rank too low", "stride longer"
  ProblemText problem{};
  std::vector<ErrorCode> codes{};        ///< one of them
  std::vector<std::string> arguments{};  ///< one of them is named
  bool has_text = true;                  ///< can be written as text, as a command line needs it
};

/// A wrong input that an operator cannot get.
struct Exempt {
  std::string_view what;
  std::string_view reason;
};

/// Text of a problem that must be refused with one code, naming one argument; or why there is none.
struct Cell {
  std::string_view problem;
  std::string_view argument;
  std::string_view reason;
};
constexpr Cell refused(std::string_view problem, std::string_view argument) {
  return {problem, argument, ""};
}
constexpr Cell none(std::string_view reason) {
  return {"", "", reason};
}

struct Row {
  std::string_view problem;  ///< right
  Cell axes_above;           ///< more axes than the operator takes
  Cell divisible;            ///< an extent that is no multiple
  Cell positions;            ///< another number of positions than the formula gives
  std::vector<Exempt> exempt{};
};

/// One for each operator.
const std::vector<Row>& rows();
/// Everything that is wrong with the problem itself. Exempt cases are left out; each exemption must leave out something.
std::vector<Wrong> wrong_problems(const Row& row);

}  // namespace patchfold::inputs
