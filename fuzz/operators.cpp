// SPDX-License-Identifier: Apache-2.0
// Fuzzes problems of every operator. An accepted problem must give the reference's result, however it is run, with guards around
// all memory. A refused problem must give an error that is a sentence.
#include <variant>

#include "check.hpp"
#include "fuzz/problems.hpp"
#include "fuzz/target.hpp"

namespace patchfold::fuzz {
namespace {

using testing::Random;

/// Makes plans for views in layouts that no operator makes, and runs none of these plans.
void plan_any(Random& random, const BoundOperator& op, const ProblemText& text, const Dims& shape) {
  const auto view_of = [&](const Dims& extents) {
    return TensorView{nullptr, extents, contiguous_strides(extents, text.element_size), text.dtype, text.element_size};
  };
  refusal([&] {
    ConstTensorView src = view_of(text.shape);
    TensorView dst = view_of(shape);
    for (auto changes = random.between(0, 3); changes > 0; --changes) {
      Dims& list =
          random.chance(70) ? (random.chance(50) ? src.strides : dst.strides) : (random.chance(50) ? src.shape : dst.shape);
      if (list.empty() || random.chance(5))
        list.push_back(draw_number(random));
      else
        list[static_cast<int>(random.between(0, list.size() - 1))] = draw_number(random);
      if (random.chance(10)) dst.dtype = static_cast<DType>(random.between(0, 30));
      if (random.chance(10)) src.element_size = static_cast<std::size_t>(random.between(0, 300));
    }
    const Plan plan = op.plan(src, dst);
    expect(!plan.describe().empty(), "a plan does not describe itself");
  });
}

bool has_index_tensor(const ProblemText& text) {
  for (const auto& argument : text.arguments)
    if (std::holds_alternative<IndexTensor>(argument.value)) return true;
  return false;
}

void run(std::span<const std::uint8_t> bytes) {
  Random random(bytes);
  DrawnProblem drawn = draw_problem(random);
  ProblemText& text = drawn.problem.text;
  const std::string name = to_string(text);
  std::optional<BoundOperator> op;
  Dims shape;
  const auto refused = refusal([&] {
    op = find_operator(text.op).bind(text.arguments);
    shape = op->output_shape(text.shape);
  });
  if (refused) {
    expect(!drawn.is_legal, "refused: " + name);
    return;
  }
  plan_any(random, *op, text, shape);
  if (!is_small(text, shape) || has_index_tensor(text)) return;
  if (!drawn.is_legal) text.arguments = parse_problem(name).arguments;
  std::optional<std::string> wrong;
  const auto failed = refusal([&] {
    try {
      wrong = testing::check(drawn.problem, drawn.sums, random);
    } catch (const std::bad_variant_access&) {
      // The reference takes only one form of each value, for example no flat lists of pairs, so it may refuse changed problems.
      if (drawn.is_legal) throw;
    }
  });
  expect(!failed || !drawn.is_legal, "cannot be run: " + name);
  if (wrong) report(name + ": " + *wrong);
}

}  // namespace
}  // namespace patchfold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  patchfold::fuzz::run({data, size});
  return 0;
}
