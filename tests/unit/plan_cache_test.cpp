// SPDX-License-Identifier: Apache-2.0
// Tests that a thread, which keeps the plans of its last calls, never uses a plan for another call.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/table.hpp"
#include "patchfold/patchfold.hpp"
#include "reference/reference.hpp"

namespace patchfold {
namespace {

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

/// Expects run() to agree with the reference for ascending numbers; `reversed`: through a source with reversed strides.
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
    EXPECT_EQ(unfolded[4], 2.0f);  // channel by channel
    EXPECT_EQ(deep[4], 17.0f);     // tap by tap
    run(Copy{}, view(src.data(), {1, 4, 8}), view(moved.data(), {1, 4, 8}));
    EXPECT_EQ(moved[8], 9.0f);
    run(Reorder{.kernel_size = {2}}, view(src.data(), {1, 4, 8}), view(moved.data(), {1, 4, 8}));
    EXPECT_EQ(moved[8], 17.0f);
  }
}

/// Returns the elements of a result of shape `shape` for ascending numbers.
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

/// Returns the bits of unfold's first element for a window in the padding.
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
