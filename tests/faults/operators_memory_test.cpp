// SPDX-License-Identifier: Apache-2.0
// Tests operators that are bound, planned, run, parsed and explained with failing allocations.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/table.hpp"
#include "memory.hpp"
#include "operators.hpp"
#include "patchfold/explain.hpp"
#include "patchfold/patchfold.hpp"

namespace patchfold::faults {
namespace {

/// The ways to store results. Some strategies are only for tensors that are larger than the cache.
constexpr kernels::Store stores[] = {kernels::Store::plain, kernels::Store::past_cache};

TEST(Problems, ReachEveryOperatorAndEveryStrategy) {
  std::vector<std::string> strategies;
  for (const kernels::Store store : stores) {
    engine::force({.store = store});
    for (const auto& text : problems_of_strategies()) strategies.emplace_back(Task(text).plan().strategy());
  }
  engine::force({});
  for (const auto name : engine::strategy_names())
    EXPECT_NE(std::find(strategies.begin(), strategies.end(), name), strategies.end()) << name;
  std::vector<std::string> operators_reached;
  for (const auto& text : problems_of_operators()) operators_reached.push_back(parse_problem(text).op);
  for (const auto& op : operators())
    EXPECT_NE(std::find(operators_reached.begin(), operators_reached.end(), op.name), operators_reached.end()) << op.name;
}

TEST(MemoryRunsOut, WhileOperatorsAreBoundPlannedAndRun) {
  Pair pair;
  for (const kernels::Store store : stores)
    for (const auto& text : store == kernels::Store::plain ? all_problems() : problems_of_strategies()) {
      engine::force({.store = store});
      Task task(text);
      task.run(serial_executor());
      const auto expected = task.result();
      for (Executor* executor : {&serial_executor(), static_cast<Executor*>(&pair), &default_executor()}) {
        fail_each_allocation(text,
                             [&] {
                               task.spoil();
                               task.run(*executor);
                               EXPECT_TRUE(task.result() == expected) << text;
                             },
                             {.most_failures = 40});
      }
      if (HasFailure()) break;
    }
  engine::force({});
}

TEST(MemoryRunsOut, WhileAnOperatorIsRunWithItsRecentPlans) {
  std::vector<float> image(32 * 128), columns(9 * 32 * 128);
  const Unfold op{.kernel_size = {3, 3}};
  std::int64_t width = 0;
  fail_each_allocation(
      "run",
      [&] {
        width = width % 97 + 17;  // the changed width needs a new plan, of the same strategy
        run(op, view(std::as_const(image).data(), {1, 1, 32, width}), view(columns.data(), {1, 9, 30 * (width - 2)}));
      },
      {.kept = 12});  // blocks of a plan that is kept
}

TEST(MemoryRunsOut, WhileProblemsAreReadAndWritten) {
  for (const auto& text : all_problems()) {
    const ProblemText problem = parse_problem(text);
    const std::string written = to_string(problem);
    fail_each_allocation(text, [&] { EXPECT_EQ(to_string(parse_problem(text)), written); });
    const OperatorSpec& spec = find_operator(problem.op);
    fail_each_allocation(text + ": describe", [&, plan = Task(text).plan()] { EXPECT_FALSE(plan.describe().empty()); });
    fail_each_allocation(text + ": bind", [&] { spec.bind(problem.arguments); });
    if (HasFailure()) return;
  }
  fail_each_allocation("numbers", [] { EXPECT_EQ(to_string(Scalar(std::complex<double>(1.0 / 3, -1e-300))).size(), 27U); });
  fail_each_allocation("lists", [] { EXPECT_EQ(to_string(Dims{1, 1 << 30, 1 << 30}), "[1, 1073741824, 1073741824]"); });
}

TEST(MemoryRunsOut, WhileOperatorsAreExplained) {
  for (const auto& text : problems_of_operators()) {
    const ProblemText problem = parse_problem(text);
    const std::string expected = explain(problem);
    fail_each_allocation("explain " + text, [&] { EXPECT_EQ(explain(problem), expected); }, {.most_failures = 25});
    if (HasFailure()) return;
  }
}

TEST(MemoryRunsOut, WhileMistakesAreReported) {
  // A wrong call must report its mistake, or the missing memory.
  const auto mistaken = [](const std::string& name, const std::function<void()>& action) {
    fail_each_allocation(name, [&] {
      try {
        action();
      } catch (const Error& error) {
        if (error.code() == ErrorCode::out_of_memory) throw;
      }
    });
  };
  for (const char* text :
       {"unfoldd f32 1x1x4x4 kernel_size=3", "unfold f33 1 k3", "unfold f32 1xx", "unfold f32 1x1x4x4 k=3",
        "unfold f32 1x1x4x4 k3o", "unfold f32 1x1x4x4 kernel_size=two,three", "fold f32 1 k4294967296x9x"})
    mistaken(text, [&] { parse_problem(text); });
  for (const char* text :
       {"unfold f32 1x1x4x4 kernel_size=3,3 padding=0,-7 stride=0", "fold f32 1x7x9 output_size=4,4 kernel_size=2,2",
        "tensorflow.SpaceToBatch f32 1x5x5x1 block_size=2 paddings=0:0,0:0", "onnx.DepthToSpace-13 f32 1x3x2x2 blocksize=2",
        "openvino.Col2Im-15 f32 1x1x1 output_size=5 kernel_size=2,2,2", "torch.fold i8 2 output_size=4,5 kernel_size=2,2"})
    mistaken(text, [&] {
      const ProblemText problem = parse_problem(text);
      find_operator(problem.op).bind(problem.arguments).output_shape(problem.shape);
    });
  mistaken("instruction set", [] { use_instruction_set("a name that no instruction set has"); });
  mistaken("status", [] { throw_if_failed(Status::executor_failed, "an operator with a long name"); });
}

TEST(MemoryRunsOut, BeforeTheLibraryHasBeenUsed) {
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 41)
  GTEST_SKIP() << "this glibc ends a process that has no memory for the first destructor of a thread";
#endif
#endif
  // Tables that are made once do not exist yet, since ctest runs this test in its own process.
  std::vector<float> image(3 * 64 * 64), columns(27 * 64 * 64);
  fail_each_first_allocation("tables, names and the first run", [&] {
    operators();
    instruction_sets();
    const ProblemText problem = parse_problem("unfold f32 1x3x64x64 k3x3 p1x1");
    const BoundOperator op = find_operator(problem.op).bind(problem.arguments);
    const auto src = view(std::as_const(image).data(), {1, 3, 64, 64});
    const auto dst = view(columns.data(), {1, 27, 4096});
    throw_if_failed(op.plan(src, dst).run(src.data, dst.data, serial_executor()), "unfold");
  });
}

TEST(MemoryRunsOut, BeforeTheDefaultExecutorHasItsThreads) {
  Task task("unfold f32 2x3x100x100 kernel_size=3,3 padding=1");
  const Plan plan = task.plan();
  ASSERT_EQ(plan.run(task.src().data, task.dst().data, serial_executor()), Status::ok);
  const auto expected = task.result();
  fail_each_first_allocation("default executor", [&] {
    task.spoil();
    throw_if_failed(plan.run(task.src().data, task.dst().data), "unfold");
    EXPECT_TRUE(task.result() == expected);
  });
}

}  // namespace
}  // namespace patchfold::faults
