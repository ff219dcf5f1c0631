// SPDX-License-Identifier: Apache-2.0
// Tests plans and executors: checks at run time, threads, scratch memory, the floating-point environment.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "engine/table.hpp"
#include "float_control.hpp"
#include "patchfold/patchfold.hpp"
#include "patchfold/table.hpp"

namespace patchfold {
namespace {

/// A fold large enough to be shared between threads.
struct Large {
  Fold op{.output_size = {256, 256}, .kernel_size = {3, 3}, .padding = 1};
  Dims columns_shape{1, 9, 65536};
  std::vector<float> columns = std::vector<float>(9 * 65536);
  std::vector<float> image = std::vector<float>(65536);
  Large() { std::iota(columns.begin(), columns.end(), 0.5f); }
  Plan plan() { return op.plan(view(columns.data(), columns_shape), view(image.data(), {1, 1, 256, 256})); }
};

/// Returns the strategy of a problem, given as text, with contiguous tensors.
std::string strategy_of(const std::string& text) {
  const ProblemText problem = parse_problem(text);
  const BoundOperator op = find_operator(problem.op).bind(problem.arguments);
  const auto view_of = [&](const Dims& shape) {
    return TensorView{nullptr, shape, contiguous_strides(shape, problem.element_size), problem.dtype, problem.element_size};
  };
  return std::string(op.plan(view_of(problem.shape), view_of(op.output_shape(problem.shape))).strategy());
}

TEST(Plan, NamesAStrategyForEveryRowOfTheTable) {
  const std::map<std::string, std::string> problems = {
      {"nothing", "unfold f32 1x1x2 kernel_size=3, allow_empty=true"},
      {"memcpy", "unfold f32 2x3x4x4 kernel_size=1,1"},
      {"streams", "fold f32 1x2x256 output_size=512, kernel_size=2 stride=2"},
      {"strided", "reorder f32 2x5x90 kernel_size=3,3 layout=channels_last"},
      {"extract maps", "unfold f32 2x3x14x14 kernel_size=3,3 padding=1"},
      {"bands", "unfold f32 4x3x28x28 kernel_size=14,14 stride=14 padding=7"},
      {"parts", "batch_to_space f32 4x2x4x4 block=2 crops=1"},
      {"move", "unfold f32 1x3x3x3 kernel_size=3,3 padding=1 layout=channels_last"},
      {"counts", "coverage f32 - output_size=8,8 kernel_size=3 padding=1"},
      {"sum maps", "fold f32 1x9x64 output_size=8,8 kernel_size=3 padding=1"},
      {"sum bands",
       "fold f32 1x62x62x27 output_size=64,64 kernel_size=3,3 layout=channels_last order=kernel positions=grid"},
      {"sum rows",
       "fold f32 1x2x2 output_size=4, kernel_size=2 stride=1099511627776 dilation=1099511627776 padding=0:2199023255552"},
  };
  for (const std::string_view name : engine::strategy_names()) {
    const auto problem = problems.find(std::string(name));
    ASSERT_NE(problem, problems.end()) << "no problem is known for " << name;
    engine::force({.store = kernels::Store::plain});
    EXPECT_EQ(strategy_of(problem->second), name) << problem->second;
    engine::force({});
  }
}

TEST(Plan, DescribesItself) {
  Large large;
  const std::string text = large.plan().describe();
  for (const char* part :
       {"strategy  sum maps", "combine by adding", "float32", "window    extent 256, kernel 3", "pieces", "scratch"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  EXPECT_NE(Plan().describe().find("nothing"), std::string::npos);
}

TEST(Plan, RefusesNullAndOverlappingDataAtRunTime) {
  Large large;
  const Plan plan = large.plan();
  EXPECT_EQ(plan.run(nullptr, large.image.data()), Status::null_data);
  EXPECT_EQ(plan.run(large.columns.data(), nullptr), Status::null_data);
  EXPECT_EQ(plan.run(large.columns.data(), large.columns.data() + 5), Status::overlap);
  EXPECT_EQ(plan.run(large.columns.data(), large.image.data()), Status::ok);
}

TEST(Plan, RunsInTheScratchThatItAsksForAndRefusesLess) {
  Large large;
  large.op.accumulate = true;  // onto zeros: accumulators lie in scratch memory
  const Plan plan = large.plan();
  CallableExecutor two(2, [](std::int64_t pieces, const auto& task) {
    for (std::int64_t i = 0; i < pieces; ++i) task(i);
  });
  const std::size_t need = plan.scratch_bytes(2);
  ASSERT_GT(need, 0u);
  std::vector<std::byte> scratch(need + 1);
  EXPECT_EQ(plan.run(large.columns.data(), large.image.data(), std::span(scratch).first(need - 1), two),
            Status::scratch_too_small);
  std::vector<float> aligned = large.image;
  ASSERT_EQ(plan.run(large.columns.data(), aligned.data(), std::span(scratch).first(need), two), Status::ok);
  ASSERT_EQ(plan.run(large.columns.data(), large.image.data(), std::span(scratch).last(need), two), Status::ok);
  EXPECT_EQ(aligned, large.image);
}

TEST(Plan, NeedsScratchForEachThreadNotForEachPiece) {
  Large large;
  large.op.accumulate = true;
  const Plan plan = large.plan();
  const std::size_t one = plan.scratch_bytes(1);
  ASSERT_GT(one, 0u);
  for (const int threads : {2, 3, 100}) EXPECT_LE(plan.scratch_bytes(threads), static_cast<std::size_t>(threads) * one);
}

TEST(Plan, IsCutIntoPiecesOnOneThreadToo) {
  // A large problem is cut into many pieces even for one thread, so that an executor can stop between two pieces.
  const Dims image{1, 1, 4096, 4096}, columns{1, 4, 4095 * 4095};
  const auto src = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(element_count(image)));
  const auto dst = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(element_count(columns)));
  const Plan plan = Unfold{.kernel_size = 2}.plan(view(src.get(), image), view(dst.get(), columns));
  std::int64_t cut_into = 0;
  CallableExecutor counting(1, [&](std::int64_t pieces, const auto&) { cut_into = pieces; });
  EXPECT_EQ(plan.run(src.get(), dst.get(), counting), Status::ok);
  EXPECT_GT(cut_into, 8);
}

TEST(Plan, SumsWithDefaultRoundingAndDenormalsAndRestoresTheCallersEnvironment) {
  // 1 + 2^-24 is half way between two floats: upward rounding would give the upper one.
  const std::vector<float> columns = {1.0f, 0x1p-24f};
  float sum = 0;
  const Fold op{.output_size = {1}, .kernel_size = {2}, .dilation = {0}};
  const Plan plan = op.plan(view(columns.data(), {1, 2, 1}), view(&sum, {1, 1, 1}));
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const Status status = plan.run(columns.data(), &sum);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
  EXPECT_EQ(status, Status::ok);
  EXPECT_EQ(sum, 1.0f);
}

TEST(Plan, KeepsDenormalsWhereTheCallerFlushesThem) {
  const std::vector<float> columns = {0x1p-140f, 0x1p-140f};
  float sum = 0;
  const Fold op{.output_size = {1}, .kernel_size = {2}, .dilation = {0}};
  const Plan plan = op.plan(view(columns.data(), {1, 2, 1}), view(&sum, {1, 1, 1}));
  const std::uint64_t before = testing::float_control();
  testing::set_float_control(before | testing::odd_floats);
  const Status status = plan.run(columns.data(), &sum);
  const std::uint64_t after = testing::float_control();
  testing::set_float_control(before);
  EXPECT_EQ(status, Status::ok);
  EXPECT_EQ(after & testing::odd_floats, testing::odd_floats);
  EXPECT_EQ(sum, 0x1p-139f);
}

TEST(Threads, AreSetAndRefusedBelowZero) {
  EXPECT_THROW(set_num_threads(-1), Error);
  const int before = get_num_threads();
  EXPECT_GE(before, 1);
  set_num_threads(3);
  EXPECT_EQ(get_num_threads(), PATCHFOLD_TESTS_WITH_TBB ? 3 : 1);
  set_num_threads(0);
  EXPECT_EQ(get_num_threads(), before);
}

TEST(Plan, RunsOnWhenTheInstructionSetChanges) {
  Large large;
  ASSERT_EQ(large.plan().run(large.columns.data(), large.image.data()), Status::ok);
  const std::vector<float> expected = large.image;
  for (const std::string& made_on : instruction_sets()) {
    use_instruction_set(made_on);
    const Plan plan = large.plan();
    const std::string made = plan.describe();
    for (const std::string& run_on : instruction_sets()) {
      use_instruction_set(run_on);
      EXPECT_EQ(plan.describe(), made) << "its tables fit the vectors of " << made_on;
      std::fill(large.image.begin(), large.image.end(), 0.0f);
      ASSERT_EQ(plan.run(large.columns.data(), large.image.data()), Status::ok);
      EXPECT_EQ(large.image, expected) << made_on << " run on " << run_on;
    }
  }
  use_instruction_set("");
}

TEST(InstructionSet, UnknownNamesAreRefusedWithTheKnownOnes) {
  try {
    use_instruction_set("AVX9");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.given(), "AVX9");
    EXPECT_NE(error.expected().find(instruction_sets().front()), std::string::npos);
  }
}

}  // namespace
}  // namespace patchfold
