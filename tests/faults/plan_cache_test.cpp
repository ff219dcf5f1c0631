// SPDX-License-Identifier: Apache-2.0
// Tests that a call with a kept plan makes no new plan, by counting allocations.
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "engine/instruction_set.hpp"
#include "memory.hpp"
#include "patchfold/patchfold.h"
#include "patchfold/patchfold.hpp"

namespace patchfold::faults {
namespace {

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
  constexpr std::int64_t of_arguments = 1;  // the list of arguments
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
