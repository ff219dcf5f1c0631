// SPDX-License-Identifier: Apache-2.0
#include "cli/example.hpp"

#include "cli/text.hpp"

namespace patchfold::cli {

Example example_of(const OperatorSpec& op) {
  const ProblemText problem = parse_problem(text_of(op.name, " ", op.example));
  Example example;
  for (const auto& [name, value] : problem.arguments) example.options += text_of(" --", name, " ", to_string(value));
  const std::string input = op.data_input.empty() ? "" : text_of(" ", op.data_input, ".npy");
  example.command = text_of("patchfold run ", op.name, input, example.options, " -o output.npy");
  example.shape = problem.shape;
  return example;
}

}  // namespace patchfold::cli
