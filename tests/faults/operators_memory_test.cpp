// SPDX-License-Identifier: Apache-2.0
// Tests operators that are bound, planned, run, parsed and explained with failing allocations.
// Tests that running a plan allocates no memory.
// Tests that a call with a kept plan makes no new plan, by counting allocations.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "engine/instruction_set.hpp"
#include "engine/table.hpp"
#include "memory.hpp"
#include "operators.hpp"
#include "patchfold/explain.hpp"
#include "patchfold/patchfold.h"
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
      {.kept = 12});  // blocks of the plan that the thread keeps
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
  // Tables that a process makes only once do not exist yet, since ctest runs this test in its own process.
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

/// Sets the way to store results for all plans that are made while the object lives.
class Stores {
 public:
  explicit Stores(kernels::Store store) { engine::force({.store = store}); }
  ~Stores() { engine::force({}); }
};

/// Returns the number of allocations of a run, in the given scratch memory or, if it is empty, in the thread's own.
std::int64_t allocations_of(const Plan& plan, const Task& task, std::byte* dst, std::span<std::byte> scratch,
                            Executor& executor) {
  const FailingMemory memory;
  const Status status = scratch.empty() && plan.scratch_bytes(executor.threads()) > 0
                            ? plan.run(task.src().data, dst, executor)
                            : plan.run(task.src().data, dst, scratch, executor);
  const std::int64_t count = memory.count();
  EXPECT_EQ(status, Status::ok);
  return count;
}

TEST(Run, AllocatesNothingForAnyOperatorStrategyAndStore) {
  Pair pair;
  for (const auto store : {kernels::Store::plain, kernels::Store::past_cache})
    for (const auto& text : all_problems()) {
      const Stores stores(store);
      Task task(text);
      const Plan plan = task.plan();
      std::vector<std::byte> elsewhere(task.result().size() + 128);
      for (Executor* executor : {&serial_executor(), static_cast<Executor*>(&pair)}) {
        std::vector<std::byte> scratch(plan.scratch_bytes(executor->threads()));
        // Runs into destinations that start at the beginning of a cache line, and within a line.
        const auto line = -reinterpret_cast<std::uintptr_t>(elsewhere.data()) % 64;
        for (const std::size_t offset : {line, line + 4}) {
          std::byte* const dst = elsewhere.data() + offset;
          std::fill(elsewhere.begin(), elsewhere.end(), std::byte{0x11});
          EXPECT_EQ(allocations_of(plan, task, dst, scratch, *executor), 0) << text;
          // The first run allocates the thread's scratch memory and the object that holds it.
          EXPECT_LE(allocations_of(plan, task, dst, {}, *executor), 2) << text;
          EXPECT_EQ(allocations_of(plan, task, dst, {}, *executor), 0) << text;
        }
      }
    }
}

// glibc ends the process if it has no memory to register the destructor of a thread's first thread_local object. So each thread of
// this test first runs a plan that needs no scratch memory.
TEST(Run, WithoutMemoryIsAStatusAndTheNextRunIsRightOnceGlibcHasNotedTheThreadsDestructors) {
  const Task small("unfold f32 1x1x4 kernel_size=1,");
  for (const auto& text : problems_of_strategies()) {
    Task task(text);
    const Plan plan = task.plan();
    EXPECT_EQ(plan.run(task.src().data, task.dst().data, serial_executor()), Status::ok);
    const auto expected = task.result();
    // A new thread has no scratch memory yet.
    Status failed = Status::ok, again = Status::ok;
    std::thread([&] {
      (void)small.plan().run(small.src().data, small.dst().data, serial_executor());
      task.spoil();
      {
        const FailingMemory memory(0, true);
        failed = plan.run(task.src().data, task.dst().data, serial_executor());
      }
      task.spoil();
      again = plan.run(task.src().data, task.dst().data, serial_executor());
    }).join();
    EXPECT_EQ(failed, plan.scratch_bytes(1) > 0 ? Status::out_of_memory : Status::ok) << text;
    EXPECT_EQ(again, Status::ok) << text;
    EXPECT_EQ(task.result(), expected) << text;
  }
}

std::int64_t allocations_of(const std::function<void()>& call) {
  const FailingMemory memory;
  call();
  return memory.count();
}

/// An unfold of a row of `width` elements.
struct Row {
  explicit Row(std::int64_t width) : src(static_cast<std::size_t>(width)), dst(static_cast<std::size_t>(2 * width - 2)) {}
  std::int64_t width() const { return static_cast<std::int64_t>(src.size()); }
  void call() {
    run(Unfold{.kernel_size = {2}}, view(std::as_const(src).data(), {1, 1, width()}), view(dst.data(), {1, 2, width() - 1}));
  }
  void call_in_c() {
    const std::int64_t shape[] = {1, 1, width()}, result[] = {1, 2, width() - 1}, kernel[] = {2};
    const pf_attribute attribute = pf_integers("kernel_size", kernel, 1);
    const pf_tensor input = {src.data(), shape, nullptr, 3, PF_DTYPE_FLOAT32, 0};
    const pf_tensor output = {dst.data(), result, nullptr, 3, PF_DTYPE_FLOAT32, 0};
    EXPECT_EQ(pf_run("unfold", &attribute, 1, &input, 1, &output, nullptr), PF_OK);
  }
  std::vector<float> src, dst;
};

TEST(RecentPlans, OfRepeatedCallsAreNotMadeAgain) {
  Row row(9);
  Row(8).call_in_c();  // makes the table of operators
  row.call();
  EXPECT_EQ(allocations_of([&] { row.call(); }), 0);
  constexpr std::int64_t of_arguments = 1;  // one allocation, for the list of arguments
  EXPECT_EQ(allocations_of([&] { row.call_in_c(); }), of_arguments) << "C finds what C++ made";
  engine::forget_plans();
  EXPECT_GT(allocations_of([&] { row.call_in_c(); }), of_arguments);
  EXPECT_EQ(allocations_of([&] { row.call_in_c(); }), of_arguments);
  EXPECT_EQ(allocations_of([&] { row.call(); }), 0) << "C++ finds what C made";
}

TEST(RecentPlans, AreThoseOfTheLast64Calls) {
  engine::forget_plans();
  std::vector<Row> rows;
  for (std::int64_t width = 9; width < 9 + 65; ++width) rows.emplace_back(width);
  for (std::size_t i = 0; i < 64; ++i) rows[i].call();
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(allocations_of([&] { rows[i].call(); }), 0) << i;
  rows[0].call();
  rows[64].call();  // replaces the second plan
  EXPECT_EQ(allocations_of([&] { rows[0].call(); }), 0);
  EXPECT_EQ(allocations_of([&] { rows[64].call(); }), 0);
  EXPECT_GT(allocations_of([&] { rows[1].call(); }), 0);
}

TEST(RecentPlans, AreFewerOfLargeCalls) {
  engine::forget_plans();
  Row small(9);
  const auto allocations_of_copy = [](std::int64_t bytes) {
    const Dims shape{bytes};
    return allocations_of([&] {
      Copy{}.plan(view(static_cast<const std::uint8_t*>(nullptr), shape), view(static_cast<std::uint8_t*>(nullptr), shape));
    });
  };
  small.call();
  for (std::int64_t i = 0; i < 7; ++i) allocations_of_copy((1 << 30) + i);
  EXPECT_EQ(allocations_of([&] { small.call(); }), 0);
  for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(allocations_of_copy((1 << 30) + i), 0);
  allocations_of_copy((1 << 30) + 7);  // makes the eighth plan
  EXPECT_GT(allocations_of([&] { small.call(); }), 0);
}

}  // namespace
}  // namespace patchfold::faults
