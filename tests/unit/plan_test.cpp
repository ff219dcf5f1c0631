// SPDX-License-Identifier: Apache-2.0
// Tests plans and executors: checks at run time, threads, scratch memory, the floating-point environment.
// Tests that a thread, which keeps the plans of its last calls, never uses a plan for another call.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <bit>
#include <cfenv>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/table.hpp"
#include "float_control.hpp"
#include "patchfold/patchfold.hpp"
#include "patchfold/table.hpp"
#include "reference/reference.hpp"

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
  large.op.accumulate = true;  // the image is zero; sums added to it need accumulators in scratch memory
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

template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

template <class T>
constexpr auto reference_type = reference::DType::float32;
template <>
constexpr auto reference_type<std::int32_t> = reference::DType::int32;
template <>
constexpr auto reference_type<std::int16_t> = reference::DType::int16;

/// Expects run() to agree with the reference for ascending numbers. With `reversed`, the source has negative strides.
template <class T, class Op>
void expect_the_formula(const Op& op, const reference::Arguments& arguments, const Dims& shape, bool reversed = false) {
  std::vector<T> src = numbers<T>(element_count(shape));
  const Dims result = op.output_shape(shape);
  std::vector<T> ran(static_cast<std::size_t>(element_count(result)));
  ConstTensorView from = view(std::as_const(src).data(), shape);
  if (reversed) {
    from.data = src.data() + src.size() - 1;
    for (auto& stride : from.strides) stride = -stride;
  }
  run(op, from, view(ran.data(), result));
  if (reversed) std::reverse(src.begin(), src.end());
  reference::Array data{
      {shape.begin(), shape.end()}, reference_type<T>, sizeof(T), std::vector<std::byte>(src.size() * sizeof(T))};
  std::memcpy(data.bytes.data(), src.data(), data.bytes.size());
  const reference::Array expected = reference::run(std::string(Op::name), data, arguments);
  ASSERT_EQ(expected.bytes.size(), ran.size() * sizeof(T));
  EXPECT_EQ(std::memcmp(ran.data(), expected.bytes.data(), expected.bytes.size()), 0);
}

const reference::Arguments kernel_of_2{{"kernel_size", std::int64_t{2}}};

reference::Arguments with(reference::Arguments arguments, const std::string& name, const reference::Value& value) {
  arguments[name] = value;
  return arguments;
}

TEST(RecentPlan, IsOfTheSameOperatorShapeStridesAndType) {
  const reference::Arguments padded = with(kernel_of_2, "padding", std::int64_t{1});
  for (int round = 0; round < 3; ++round) {
    expect_the_formula<float>(Unfold{.kernel_size = 2}, kernel_of_2, {1, 2, 6, 6});
    expect_the_formula<float>(Unfold{.kernel_size = 2, .padding = 1}, padded, {1, 2, 6, 6});
    expect_the_formula<float>(Unfold{.kernel_size = 2, .padding = 1, .value = 7},
                              with(padded, "value", reference::Number(std::int64_t{7})), {1, 2, 6, 6});
    expect_the_formula<float>(Unfold{.kernel_size = 2}, kernel_of_2, {1, 2, 5, 6});
    expect_the_formula<std::int32_t>(Unfold{.kernel_size = 2}, kernel_of_2, {1, 2, 6, 6});
    expect_the_formula<std::int16_t>(Unfold{.kernel_size = 2}, kernel_of_2, {1, 2, 6, 6});
    expect_the_formula<float>(Unfold{.kernel_size = 2}, kernel_of_2, {1, 2, 6, 6}, true);
    expect_the_formula<float>(Unfold{.kernel_size = {2, 1}}, {{"kernel_size", reference::List{2, 1}}}, {1, 2, 6, 6});
    expect_the_formula<float>(Unfold{.kernel_size = 2, .order = Order::kernel},
                              with(kernel_of_2, "order", std::string("kernel")), {1, 2, 6, 6});
  }
}

TEST(RecentPlan, IsNotThatOfAnotherOperatorWithTheSameShapes) {
  const std::vector<float> src = numbers<float>(32);
  std::vector<float> unfolded(32), deep(32), moved(32);
  const auto image = view(src.data(), {1, 2, 4, 4});
  for (int round = 0; round < 2; ++round) {
    run(Unfold{.kernel_size = 2, .stride = 2, .positions = Positions::grid}, image, view(unfolded.data(), {1, 8, 2, 2}));
    run(SpaceToDepth{.block = 2}, image, view(deep.data(), {1, 8, 2, 2}));
    EXPECT_EQ(unfolded[4], 2.0f);  // the elements of a patch channel by channel
    EXPECT_EQ(deep[4], 17.0f);     // the elements of a block tap by tap
    run(Copy{}, view(src.data(), {1, 4, 8}), view(moved.data(), {1, 4, 8}));
    EXPECT_EQ(moved[8], 9.0f);
    run(Reorder{.kernel_size = {2}}, view(src.data(), {1, 4, 8}), view(moved.data(), {1, 4, 8}));
    EXPECT_EQ(moved[8], 17.0f);
  }
}

/// Runs the operator on ascending numbers, and returns the elements of the result, which has the shape `shape`.
template <class Op>
std::vector<float> result_of(const Op& op, const Dims& data, const Dims& shape) {
  const std::vector<float> src = numbers<float>(element_count(data));
  std::vector<float> out(static_cast<std::size_t>(element_count(shape)));
  run(op, view(src.data(), data), view(out.data(), shape));
  return out;
}

TEST(RecentPlan, TellsApartEveryKindOfMember) {
  const openvino::ExtractImagePatches patches{.sizes = {2, 2}, .strides = {1, 1}, .rates = {1, 1}};
  const openvino::SpaceToDepth depth{.block_size = 2};
  for (int round = 0; round < 2; ++round) {
    auto upper = patches, lower = patches;
    upper.auto_pad = openvino::AutoPad::same_upper;
    lower.auto_pad = openvino::AutoPad::same_lower;
    EXPECT_EQ(result_of(upper, {1, 1, 2, 2}, {1, 4, 2, 2})[0], 1.0f);
    EXPECT_EQ(result_of(lower, {1, 1, 2, 2}, {1, 4, 2, 2})[0], 0.0f);
    auto blocks = depth, channels = depth;
    blocks.blocks_mode = openvino::BlocksMode::blocks_first;
    channels.blocks_mode = openvino::BlocksMode::depth_first;
    EXPECT_EQ(result_of(blocks, {1, 2, 2, 2}, {1, 8, 1, 1})[1], 5.0f);
    EXPECT_EQ(result_of(channels, {1, 2, 2, 2}, {1, 8, 1, 1})[1], 2.0f);
    using tensorflow::SpaceToBatch;
    EXPECT_EQ(result_of(SpaceToBatch{.paddings = {{0, 2}, {0, 0}}, .block_size = 2}, {1, 2, 2, 1}, {4, 2, 1, 1})[0], 1.0f);
    EXPECT_EQ(result_of(SpaceToBatch{.paddings = {{2, 0}, {0, 0}}, .block_size = 2}, {1, 2, 2, 1}, {4, 2, 1, 1})[0], 0.0f);
  }
}

/// Returns the bits of unfold's first element, which lies in the padding, for a padding of `value`.
std::uint32_t bits_of_fill(double value) {
  const std::vector<float> src = numbers<float>(4);
  std::vector<float> out(static_cast<std::size_t>(4 * 9));
  run(Unfold{.kernel_size = 2, .padding = 1, .value = value}, view(src.data(), {1, 1, 2, 2}), view(out.data(), {1, 4, 9}));
  return std::bit_cast<std::uint32_t>(out[0]);
}

TEST(RecentPlan, TellsZerosApartByTheirSigns) {
  EXPECT_EQ(bits_of_fill(0.0), 0u);
  EXPECT_EQ(bits_of_fill(-0.0), 0x80000000u);
  EXPECT_EQ(bits_of_fill(0.0), 0u);
  EXPECT_NE(Scalar(std::complex<double>(1, 0.0)), Scalar(std::complex<double>(1, -0.0)));
}

TEST(RecentPlan, IsFoundForNaN) {
  const Unfold op{.kernel_size = 2, .padding = 1, .value = std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(op, Unfold(op));
  EXPECT_NE(op.value, Scalar(-std::numeric_limits<double>::quiet_NaN()));
}

TEST(RecentPlan, IsOfTheSameDestination) {
  const std::vector<float> src = numbers<float>(36);
  std::vector<float> out(72, 0.0f);
  const Unfold op{.kernel_size = 1};
  run(op, view(src.data(), {1, 1, 6, 6}), view(out.data(), {1, 1, 36}));
  EXPECT_EQ(out[1], 2.0f);
  TensorView apart = view(out.data(), {1, 1, 36});
  apart.strides = {288, 288, 8};
  run(op, view(src.data(), {1, 1, 6, 6}), apart);
  EXPECT_EQ(out[2], 2.0f);
  EXPECT_EQ(out[70], 36.0f);
}

TEST(RecentPlan, IsMadeAnewInEveryThreadWhenOneChangesHowPlansAreMade) {
  const Unfold op{.kernel_size = 2};
  const auto strategy = [&] {
    return op.plan(view(static_cast<const float*>(nullptr), {1, 1, 8, 8}), view(static_cast<float*>(nullptr), {1, 4, 49}))
        .strategy();
  };
  std::barrier both(2);
  std::vector<std::string_view> seen;
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) {
      seen.push_back(strategy());
      both.arrive_and_wait();
      both.arrive_and_wait();
    }
  });
  for (const std::string_view forced : {"move", "", ""}) {
    both.arrive_and_wait();
    engine::force({.strategy = forced});
    both.arrive_and_wait();
  }
  other.join();
  EXPECT_EQ(seen, (std::vector{strategy(), std::string_view("move"), strategy()}));
}

TEST(RecentPlan, FailsAgainWhenItFailed) {
  std::vector<float> values(16);
  for (int i = 0; i < 2; ++i)
    EXPECT_THROW(run(Unfold{.kernel_size = 2}, view(values.data(), {1, 1, 3, 3}), view(values.data(), {1, 4, 5})), Error);
}

TEST(RecentPlan, StaysWhileItRunsOthersOnTheSameThread) {
  // The executor makes more different calls than a thread keeps plans, and then runs its own pieces.
  CallableExecutor nested(4, [](std::int64_t pieces, const auto& task) {
    for (std::int64_t extent = 4; extent < 72; ++extent)
      expect_the_formula<float>(Unfold{.kernel_size = 2}, kernel_of_2, {1, 1, extent, extent});
    for (std::int64_t i = 0; i < pieces; ++i) task(i);
  });
  constexpr std::int64_t side = 64;
  const std::vector<float> src = numbers<float>(side * side * side);
  std::vector<float> expected;
  for (std::int64_t row = 0; row < side * 4; ++row)
    for (std::int64_t y = row % 4 / 2; y < side - 1 + row % 4 / 2; ++y)
      for (std::int64_t x = row % 2; x < side - 1 + row % 2; ++x)
        expected.push_back(src[static_cast<std::size_t>((row / 4 * side + y) * side + x)]);
  std::vector<float> ran(expected.size());
  run(Unfold{.kernel_size = 2}, view(src.data(), {1, side, side, side}),
      view(ran.data(), {1, side * 4, (side - 1) * (side - 1)}), nested);
  EXPECT_EQ(ran, expected);
}

}  // namespace
}  // namespace patchfold
