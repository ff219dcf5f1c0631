// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

#include "capi.hpp"

namespace patchfold::test {
namespace {

struct Destroy {
  void operator()(pf_plan* plan) const { pf_plan_destroy(plan); }
};
using PlanPointer = std::unique_ptr<pf_plan, Destroy>;

/// A fold of 16 channels to an image of side x side pixels; the default side is large enough for several threads.
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
    // Guards lie on both sides of the scratch memory, which begins at an odd address.
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
    // Scratch memory that ends in the source or the destination.
    for (std::vector<float>* tensor : {&problem.columns.values, &problem.image.values}) {
      std::vector<float> together(bytes / sizeof(float) + tensor->size());
      float* const place = together.data() + bytes / sizeof(float) - 1;
      const bool is_source = tensor == &problem.columns.values;
      EXPECT_EQ(outcome(pf_plan_run(plan.get(), is_source ? place : problem.columns.values.data(),
                                    is_source ? problem.image.values.data() : place, together.data(), bytes, executor)),
                "overlap: fold: scratch: must not share memory with the source or the destination");
    }
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
            "null_data: fold: image: a tensor with elements must have data");
  EXPECT_EQ(outcome(pf_plan_run(plan.get(), data, image, nullptr, 8, nullptr)),
            "missing: fold: scratch: must not be NULL; given 8, expected 0");
  EXPECT_EQ(outcome(pf_plan_run(plan.get(), data, data + 1, nullptr, 0, nullptr)),
            "overlap: fold: image: source and destination must not share memory");
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

/// A problem that is large enough to be shared between threads.
struct Large {
  Tensor<float> image{{1, 8, 128, 128}};
  Tensor<float> columns{{1, 72, 126 * 126}};
  pf_attribute kernel = pf_text("kernel_size", "3,3");

  Large() { image.count_up(); }
  pf_status run(const pf_executor* executor) {
    std::fill(columns.values.begin(), columns.values.end(), -1.0f);
    const pf_tensor input = image.view(), output = columns.view();
    return pf_run("unfold", &kernel, 1, &input, 1, &output, executor);
  }
  std::vector<float> expected() {
    EXPECT_OK(run(pf_serial_executor()));
    return columns.values;
  }
};

/// An executor that records its calls, and breaks its contract on demand.
struct Pool {
  std::int64_t pieces = 0;
  int calls = 0;
  int threads = 4;
  enum class Fault { none, refuses, throws, forgets_one, runs_one_twice, strays, runs_the_next } fault = Fault::none;

  static std::int32_t run(void* context, std::int64_t pieces, pf_body body, void* body_context) {
    auto& pool = *static_cast<Pool*>(context);
    pool.pieces = pieces;
    ++pool.calls;
    if (pool.fault == Fault::refuses) return 7;
    if (pool.fault == Fault::runs_the_next) {
      for (std::int64_t piece = 0; piece < pieces; ++piece) body(body_context, piece + 1);
      return 0;
    }
    std::atomic<std::int64_t> next{pool.fault == Fault::forgets_one ? 1 : 0};
    std::vector<std::thread> workers;
    for (int i = 0; i < pool.threads; ++i) {
      workers.emplace_back([&] {
        for (std::int64_t piece = next++; piece < pieces; piece = next++) body(body_context, piece);
      });
    }
    for (auto& worker : workers) worker.join();
    if (pool.fault == Fault::throws) throw std::runtime_error("stopped");
    if (pool.fault == Fault::runs_one_twice) body(body_context, 0);
    if (pool.fault == Fault::strays) {
      body(body_context, pieces);
      body(body_context, -1);
    }
    return 0;
  }
  pf_executor executor() { return {sizeof(pf_executor), threads, this, run}; }
};

TEST(CallerExecutor, RunsTheWork) {
  Large problem;
  const auto expected = problem.expected();
  Pool pool;
  const pf_executor executor = pool.executor();
  ASSERT_OK(problem.run(&executor));
  EXPECT_EQ(pool.calls, 1);
  EXPECT_GT(pool.pieces, 1);
  EXPECT_EQ(problem.columns.values, expected);
}

TEST(CallerExecutor, IsToldNothingWhenTheWorkIsTooSmallToShare) {
  Pool pool{.fault = Pool::Fault::refuses};
  const pf_executor executor = pool.executor();
  Tensor<float> image({1, 1, 2, 2}, {1, 2, 3, 4}), deep({1, 4, 1, 1});
  const pf_tensor input = image.view(), output = deep.view();
  const pf_attribute block = pf_integer("block", 2);
  ASSERT_OK(pf_run("space_to_depth", &block, 1, &input, 1, &output, &executor));
  EXPECT_EQ(pool.calls, 0);
  EXPECT_EQ(deep.values, (std::vector<float>{1, 2, 3, 4}));
}

TEST(CallerExecutor, ThatDoesNotRunEachPieceOnceFailsTheCall) {
  using enum Pool::Fault;
  Large problem;
  for (const auto fault : {refuses, throws, forgets_one, runs_one_twice, strays, runs_the_next}) {
    Pool pool{.fault = fault};
    const pf_executor executor = pool.executor();
    EXPECT_EQ(problem.run(&executor), PF_ERROR_EXECUTOR) << static_cast<int>(fault);
    EXPECT_STREQ(pf_last_error(), "unfold: executor: the executor did not run the work");
  }
}

TEST(CallerExecutor, MayRunOtherOperatorsInsideAPiece) {
  Large problem;
  struct Nested {
    Large inner;
    pf_status status = PF_ERROR_INTERNAL;
    static std::int32_t run(void* context, std::int64_t pieces, pf_body body, void* body_context) {
      auto& nested = *static_cast<Nested*>(context);
      nested.status = nested.inner.run(nullptr);
      for (std::int64_t piece = 0; piece < pieces; ++piece) body(body_context, piece);
      return 0;
    }
  } nested;
  const auto expected = problem.expected();
  const pf_executor executor = {sizeof(pf_executor), 2, &nested, Nested::run};
  ASSERT_OK(problem.run(&executor));
  EXPECT_EQ(nested.status, PF_OK);
  EXPECT_EQ(problem.columns.values, expected);
  EXPECT_EQ(nested.inner.columns.values, expected);
}

TEST(SerialExecutor, RunsOnTheCallingThread) {
  const pf_executor* serial = pf_serial_executor();
  ASSERT_NE(serial, nullptr);
  EXPECT_EQ(serial->size, sizeof(pf_executor));
  EXPECT_EQ(serial->threads, 1);
  std::vector<std::int64_t> seen;
  EXPECT_EQ(
      serial->run(
          serial->context, 3,
          [](void* context, std::int64_t piece) { static_cast<std::vector<std::int64_t>*>(context)->push_back(piece); },
          &seen),
      0);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(NumThreads, AreThoseSet) {
  const std::int32_t machine = pf_get_num_threads();
  EXPECT_GE(machine, 1);
  Large problem;
  const auto expected = problem.expected();
  for (const std::int32_t threads : {1, 3}) {
    ASSERT_OK(pf_set_num_threads(threads));
    EXPECT_TRUE(pf_get_num_threads() == threads || pf_get_num_threads() == 1);  // 1 without oneTBB
    ASSERT_OK(problem.run(nullptr));
    EXPECT_EQ(problem.columns.values, expected);
  }
  ASSERT_OK(pf_set_num_threads(0));
  EXPECT_EQ(pf_get_num_threads(), machine);
  EXPECT_EQ(pf_set_num_threads(-1), PF_ERROR_VALUE);
  EXPECT_EQ(pf_get_num_threads(), machine);
}

TEST(InstructionSets, AllGiveTheSameResult) {
  Large problem;
  const auto expected = problem.expected();
  ASSERT_GE(pf_instruction_set_count(), 1);
  for (std::int32_t i = 0; i < pf_instruction_set_count(); ++i) {
    ASSERT_OK(pf_use_instruction_set(pf_instruction_set_name(i)));
    ASSERT_OK(problem.run(nullptr));
    EXPECT_EQ(problem.columns.values, expected) << pf_instruction_set_name(i);
  }
  EXPECT_EQ(pf_use_instruction_set("Z80"), PF_ERROR_VALUE);
  EXPECT_OK(pf_use_instruction_set(""));
  EXPECT_OK(pf_use_instruction_set(nullptr));
  EXPECT_EQ(pf_instruction_set_name(-1), nullptr);
  EXPECT_EQ(pf_instruction_set_name(pf_instruction_set_count()), nullptr);
}

}  // namespace
}  // namespace patchfold::test
