// SPDX-License-Identifier: Apache-2.0
#include "cli/example.hpp"

#include <fmt/format.h>

namespace patchfold::cli {

Example example_of(const OperatorSpec& op) {
  const ProblemText problem = parse_problem(fmt::format("{} {}", op.name, op.example));
  Example example;
  for (const auto& [name, value] : problem.arguments) example.options += fmt::format(" --{} {}", name, to_string(value));
  const std::string input = op.data_input.empty() ? "" : fmt::format(" {}.npy", op.data_input);
  example.command = fmt::format("patchfold run {}{}{} -o output.npy", op.name, input, example.options);
  example.shape = problem.shape;
  return example;
}

}  // namespace patchfold::cli
