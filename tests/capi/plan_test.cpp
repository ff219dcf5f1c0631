// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include "capi.hpp"

namespace patchfold::test {
namespace {

struct Destroy {
  void operator()(pf_plan* plan) const { pf_plan_destroy(plan); }
};
using PlanPointer = std::unique_ptr<pf_plan, Destroy>;

/// A fold of 16 channels that is large enough to be shared between threads, or that needs scratch memory.
struct Fold {
  explicit Fold(std::int64_t side = 64)
      : size(std::to_string(side)), columns({1, 16 * 9, side * side}), image({1, 16, side, side}) {
    size += "," + size;
    attributes[0] = pf_text("output_size", size.c_str());
  }
  std::string size;
  Tensor<float> columns;
  Tensor<float> image;
  pf_attribute attributes[3] = {{}, pf_text("kernel_size", "3,3"), pf_text("padding", "1")};

  PlanPointer plan() {
    pf_tensor input = columns.view(), output = image.view();
    input.data = output.data = nullptr;
    pf_plan* made = nullptr;
    EXPECT_OK(pf_plan_create("fold", attributes, 3, &input, 1, &output, &made));
    return PlanPointer(made);
  }
  std::vector<float> expected() {
    const pf_tensor input = columns.view(), output = image.view();
    EXPECT_OK(pf_run("fold", attributes, 3, &input, 1, &output, pf_serial_executor()));
    return image.values;
  }
};

TEST(Plan, RunsOftenAndFromManyThreadsAtOnce) {
  Fold problem;
  problem.columns.count_up();
  const auto expected = problem.expected();
  const auto plan = problem.plan();
  ASSERT_NE(plan, nullptr);
  std::vector<std::thread> threads;
  std::vector<int> failures(4, 0);
  for (std::size_t i = 0; i < failures.size(); ++i) {
    threads.emplace_back([&, i] {
      std::vector<float> image(expected.size());
      const pf_executor* executor = i % 2 ? pf_serial_executor() : nullptr;
      for (int repeat = 0; repeat < 5; ++repeat) {
        std::fill(image.begin(), image.end(), -1.0f);
        failures[i] += pf_plan_run(plan.get(), problem.columns.values.data(), image.data(), nullptr, 0, executor) != PF_OK;
        failures[i] += image != expected;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, std::vector<int>(4, 0));
}

TEST(Plan, RunsInTheScratchGivenAndNowhereElse) {
  Fold problem(5);
  problem.columns.count_up();
  const auto expected = problem.expected();
  const auto plan = problem.plan();
  for (const pf_executor* executor : {pf_serial_executor(), static_cast<const pf_executor*>(nullptr)}) {
    const std::int32_t threads = executor ? executor->threads : pf_get_num_threads();
    std::size_t bytes = 0;
    ASSERT_OK(pf_plan_scratch_bytes(plan.get(), threads, &bytes));
    // Scratch memory at an odd address, with guards on both sides.
    std::vector<unsigned char> scratch(bytes + 2 * 64 + 1, 0xA5);
    unsigned char* begin = scratch.data() + 65;
    std::fill(problem.image.values.begin(), problem.image.values.end(), -1.0f);
    ASSERT_OK(pf_plan_run(plan.get(), problem.columns.values.data(), problem.image.values.data(), begin, bytes, executor));
    EXPECT_EQ(problem.image.values, expected);
    EXPECT_EQ(std::count(scratch.data(), begin, 0xA5), 65);
    EXPECT_EQ(std::count(begin + bytes, scratch.data() + scratch.size(), 0xA5), 64);
    ASSERT_GT(bytes, 0u);
    EXPECT_EQ(outcome(pf_plan_run(plan.get(), problem.columns.values.data(), problem.image.values.data(), begin, bytes - 1,
                                  executor)),
              "value: fold: scratch: must have the bytes that the plan asks for; given " + std::to_string(bytes - 1) +
                  ", expected " + std::to_string(bytes));
  }
}

TEST(Plan, NeedsNoMoreScratchForFewerThreads) {
  Fold problem;
  const auto plan = problem.plan();
  std::size_t before = 0;
  for (const std::int32_t threads : {1, 2, 8, 1000}) {
    std::size_t bytes = 0;
    ASSERT_OK(pf_plan_scratch_bytes(plan.get(), threads, &bytes));
    EXPECT_GE(bytes, before);
    before = bytes;
  }
}

TEST(Plan, KeepsNothingThatItWasGiven) {
  Tensor<float> columns({1, 4, 4}), image({1, 1, 4, 4});
  columns.count_up();
  pf_plan* plan = nullptr;
  {
    auto name = std::make_unique<std::string>("fold");
    auto numbers = std::make_unique<std::vector<std::int64_t>>(std::initializer_list<std::int64_t>{4, 4, 2, 2});
    auto shapes = std::make_unique<std::vector<std::int64_t>>(std::initializer_list<std::int64_t>{1, 4, 4, 1, 1, 4, 4});
    auto argument = std::make_unique<std::string>("stride");
    const pf_attribute attributes[] = {pf_integers("output_size", numbers->data(), 2),
                                       pf_integers("kernel_size", numbers->data() + 2, 2), pf_integer(argument->c_str(), 2)};
    const pf_tensor input = {nullptr, shapes->data(), nullptr, 3, PF_DTYPE_FLOAT32, 4};
    const pf_tensor output = {nullptr, shapes->data() + 3, nullptr, 4, PF_DTYPE_FLOAT32, 4};
    ASSERT_OK(pf_plan_create(name->c_str(), attributes, 3, &input, 1, &output, &plan));
  }
  const PlanPointer owner(plan);
  ASSERT_OK(pf_plan_run(plan, columns.values.data(), image.values.data(), nullptr, 0, nullptr));
  EXPECT_EQ(image.values, (std::vector<float>{1, 5, 2, 6, 9, 13, 10, 14, 3, 7, 4, 8, 11, 15, 12, 16}));
}

TEST(Plan, DescribesItselfAsFarAsThereIsRoom) {
  Fold problem;
  const auto plan = problem.plan();
  std::size_t length = 0;
  ASSERT_OK(pf_plan_describe(plan.get(), nullptr, 0, &length));
  ASSERT_GT(length, 0u);
  std::vector<char> text(length + 1, '#');
  ASSERT_OK(pf_plan_describe(plan.get(), text.data(), text.size(), nullptr));
  EXPECT_EQ(std::strlen(text.data()), length);
  EXPECT_NE(std::string(text.data()).find("strategy"), std::string::npos);
  std::vector<char> cut(6, '#');
  std::size_t again = 0;
  ASSERT_OK(pf_plan_describe(plan.get(), cut.data(), 5, &again));
  EXPECT_EQ(again, length);
  EXPECT_EQ(std::string(cut.data()), std::string(text.data(), 4));
  EXPECT_EQ(cut[5], '#');
  ASSERT_OK(pf_plan_describe(plan.get(), cut.data(), 1, nullptr));
  EXPECT_EQ(cut[0], '\0');
}

TEST(Plan, RefusesMissingPointersAndBadNumbers) {
  Fold problem;
  const auto plan = problem.plan();
  std::size_t bytes = 0;
  char text[8];
  float* data = problem.columns.values.data();
  float* image = problem.image.values.data();
  EXPECT_EQ(outcome(pf_plan_run(nullptr, data, image, nullptr, 0, nullptr)), "missing: pf_plan_run: plan: must not be NULL");
  EXPECT_EQ(outcome(pf_plan_run(plan.get(), nullptr, image, nullptr, 0, nullptr)).substr(0, 16), "null_data: fold:");
  EXPECT_EQ(outcome(pf_plan_run(plan.get(), data, nullptr, nullptr, 0, nullptr)),
            "null_data: fold: output: a tensor with elements must have data");
  EXPECT_EQ(outcome(pf_plan_run(plan.get(), data, image, nullptr, 8, nullptr)),
            "missing: fold: scratch: must not be NULL; given 8, expected 0");
  EXPECT_EQ(outcome(pf_plan_run(plan.get(), data, data + 1, nullptr, 0, nullptr)).substr(0, 14), "overlap: fold:");
  EXPECT_EQ(outcome(pf_plan_scratch_bytes(nullptr, 1, &bytes)), "missing: pf_plan_scratch_bytes: plan: must not be NULL");
  EXPECT_EQ(outcome(pf_plan_scratch_bytes(plan.get(), 1, nullptr)), "missing: fold: bytes: must not be NULL");
  for (const std::int32_t threads : {0, -1, INT32_MIN}) {
    EXPECT_EQ(outcome(pf_plan_scratch_bytes(plan.get(), threads, &bytes)),
              "value: fold: threads: must be at least 1; given " + std::to_string(threads));
  }
  EXPECT_EQ(outcome(pf_plan_describe(nullptr, text, sizeof text, nullptr)),
            "missing: pf_plan_describe: plan: must not be NULL");
  EXPECT_EQ(outcome(pf_plan_describe(plan.get(), nullptr, 8, nullptr)), "missing: fold: buffer: must not be NULL");
  pf_plan_destroy(nullptr);
}

TEST(Plan, IsNullAfterAnError) {
  Fold problem;
  const pf_tensor input = problem.columns.view(), output = problem.image.view();
  auto* plan = reinterpret_cast<pf_plan*>(&problem);
  EXPECT_EQ(pf_plan_create("no_such", nullptr, 0, &input, 1, &output, &plan), PF_ERROR_UNKNOWN_OPERATOR);
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(outcome(pf_plan_create("fold", problem.attributes, 3, &input, 1, &output, nullptr)),
            "missing: pf_plan_create: plan: must not be NULL");
}

TEST(Plan, OfEmptyTensorsNeedsNoData) {
  const std::int64_t image_shape[] = {0, 3, 4, 4}, deep_shape[] = {0, 12, 2, 2};
  const pf_tensor input = {nullptr, image_shape, nullptr, 4, PF_DTYPE_FLOAT32, 4};
  const pf_tensor output = {nullptr, deep_shape, nullptr, 4, PF_DTYPE_FLOAT32, 4};
  const pf_attribute block = pf_integer("block", 2);
  EXPECT_OK(pf_run("space_to_depth", &block, 1, &input, 1, &output, nullptr));
}

TEST(Plan, OfCoverageReadsNothing) {
  Tensor<std::int32_t> counts({3, 3});
  const pf_tensor output = counts.view();
  const pf_attribute attributes[] = {pf_text("output_size", "3,3"), pf_text("kernel_size", "2,2")};
  pf_plan* plan = nullptr;
  ASSERT_OK(pf_plan_create("coverage", attributes, 2, nullptr, 0, &output, &plan));
  const PlanPointer owner(plan);
  int unrelated = 5;
  for (const void* src : {static_cast<const void*>(nullptr), static_cast<const void*>(&unrelated)}) {
    counts.values.assign(9, -1);
    ASSERT_OK(pf_plan_run(plan, src, counts.values.data(), nullptr, 0, nullptr));
    EXPECT_EQ(counts.values, (std::vector<std::int32_t>{1, 2, 1, 2, 4, 2, 1, 2, 1}));
  }
}

}  // namespace
}  // namespace patchfold::test
