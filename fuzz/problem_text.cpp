// SPDX-License-Identifier: Apache-2.0
// Fuzzes problem strings: an accepted string can be written and read again; its plan is made, or refused with a sentence.
#include "fuzz/target.hpp"
#include "patchfold/table.hpp"

namespace patchfold::fuzz {
namespace {

void run(std::string_view line) {
  ProblemText problem;
  if (refusal([&] { problem = parse_problem(line); })) return;
  const std::string text = to_string(problem);
  ProblemText again;
  expect(!refusal([&] { again = parse_problem(text); }), "cannot be read again: " + text);
  expect(to_string(again) == text, "is read as " + to_string(again) + ": " + text);
  refusal([&] {
    const BoundOperator op = find_operator(problem.op).bind(problem.arguments);
    const Dims shape = op.output_shape(problem.shape);
    const auto strides = [&](const Dims& dims) { return contiguous_strides(dims, problem.element_size); };
    const Plan plan = op.plan({nullptr, problem.shape, strides(problem.shape), problem.dtype, problem.element_size},
                              {nullptr, shape, strides(shape), problem.dtype, problem.element_size});
    expect(!plan.describe().empty(), "a plan does not describe itself");
  });
}

}  // namespace
}  // namespace patchfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  patchfold::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
