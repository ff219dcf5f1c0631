// SPDX-License-Identifier: Apache-2.0
// run() keeps the plans of a thread's last calls: none may be taken for another call's.
#include <gtest/gtest.h>

#include <bit>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "patchfold/patchfold.hpp"

namespace patchfold {
namespace {

template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

/// What a plan made for this call gives, and what run() gives.
template <class T, class Op>
void expect_as_planned(const Op& op, const Dims& shape, bool reversed = false) {
  const std::vector<T> src = numbers<T>(element_count(shape));
  const Dims result = op.output_shape(shape);
  std::vector<T> planned(static_cast<std::size_t>(element_count(result))), ran(planned.size());
  ConstTensorView from = view(src.data(), shape);
  if (reversed) {
    from.data = src.data() + src.size() - 1;
    for (auto& stride : from.strides) stride = -stride;
  }
  throw_if_failed(op.plan(from, view(planned.data(), result)).run(from.data, planned.data()), Op::name);
  run(op, from, view(ran.data(), result));
  EXPECT_EQ(ran, planned);
}

// claim: recent-plans
TEST(RecentPlan, IsOfTheSameOperatorShapeStridesAndType) {
  for (int round = 0; round < 3; ++round) {
    expect_as_planned<float>(Unfold{.kernel_size = 2}, {1, 2, 6, 6});
    expect_as_planned<float>(Unfold{.kernel_size = 2, .padding = 1}, {1, 2, 6, 6});
    expect_as_planned<float>(Unfold{.kernel_size = 2, .padding = 1, .value = 7}, {1, 2, 6, 6});
    expect_as_planned<float>(Unfold{.kernel_size = 2}, {1, 2, 5, 6});
    expect_as_planned<std::int32_t>(Unfold{.kernel_size = 2}, {1, 2, 6, 6});
    expect_as_planned<std::int16_t>(Unfold{.kernel_size = 2}, {1, 2, 6, 6});
    expect_as_planned<float>(Unfold{.kernel_size = 2}, {1, 2, 6, 6}, true);
    expect_as_planned<float>(Unfold{.kernel_size = {2, 1}}, {1, 2, 6, 6});
    expect_as_planned<float>(Unfold{.kernel_size = 2, .order = Order::kernel}, {1, 2, 6, 6});
  }
}

/// The bits of the first element that unfold gives for a window in the padding.
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

TEST(RecentPlan, IsMadeAnewForAnotherInstructionSet) {
  for (const std::string& set : instruction_sets()) {
    use_instruction_set(set);
    expect_as_planned<float>(Fold{.output_size = {9, 17}, .kernel_size = 3, .padding = 1}, {1, 18, 153});
  }
  use_instruction_set("");
}

TEST(RecentPlan, FailsAgainWhenItFailed) {
  std::vector<float> values(16);
  for (int i = 0; i < 2; ++i)
    EXPECT_THROW(run(Unfold{.kernel_size = 2}, view(values.data(), {1, 1, 3, 3}), view(values.data(), {1, 4, 5})), Error);
}

TEST(RecentPlan, StaysWhileItRunsOthersOnTheSameThread) {
  // The executor runs more different calls than plans are kept before it runs its own pieces.
  CallableExecutor nested(4, [](std::int64_t pieces, const auto& task) {
    for (std::int64_t extent = 4; extent < 12; ++extent)
      expect_as_planned<float>(Unfold{.kernel_size = 2}, {1, 1, extent, extent});
    for (std::int64_t i = 0; i < pieces; ++i) task(i);
  });
  const std::vector<float> src = numbers<float>(64 * 64 * 64);
  const Unfold op{.kernel_size = 2};
  const Dims result = op.output_shape({1, 64, 64, 64});
  std::vector<float> planned(static_cast<std::size_t>(element_count(result))), ran(planned.size());
  throw_if_failed(op.plan(view(src.data(), {1, 64, 64, 64}), view(planned.data(), result)).run(src.data(), planned.data()),
                  "unfold");
  run(op, view(src.data(), {1, 64, 64, 64}), view(ran.data(), result), nested);
  EXPECT_EQ(ran, planned);
}

TEST(RecentPlan, IsTheThreadsOwn) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i] {
      for (int k = 0; k < 50; ++k) expect_as_planned<float>(Unfold{.kernel_size = 2}, {1, 1 + (i + k) % 5, 6, 6});
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace patchfold
