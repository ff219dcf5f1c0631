// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "capi.hpp"

namespace patchfold::test {
namespace {

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
