// SPDX-License-Identifier: Apache-2.0
// Tests settings of the process that change while other threads run.
// Tests plans that are made and destroyed while other plans run, and memory that threads keep.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "at_once.hpp"
#include "executors.hpp"
#include "patchfold/patchfold.h"
#include "patchfold/patchfold.hpp"
#include "work.hpp"

namespace patchfold::testing {
namespace {

/// Problems whose kernels depend on the instruction set. All but the last are large enough to be shared between threads.
const char* const problems[] = {
    "fold f32 1x144x4096 output_size=64,64 kernel_size=3 padding=1",
    "fold f16 1x144x4096 output_size=64,64 kernel_size=3 padding=1 accumulate=true",
    "fold i16 1x64x64x72 output_size=64,64 kernel_size=3 padding=1 layout=channels_last order=kernel positions=grid",
    "unfold f32 1x16x64x64 kernel_size=3 padding=1",
    "unfold u8 1x128x128x3 kernel_size=4 stride=2 layout=channels_last order=kernel positions=grid",
    "space_to_depth f32 1x8x128x64 block=4",
    "depth_to_space u8 1x64x64x48 block=4 layout=channels_last",
    "reorder f32 1x256x576 kernel_size=3,3 layout=channels_last",
    "fold f32 1x9x64 output_size=8,8 kernel_size=3 padding=1",
};

/// Runs all problems in four threads, with old and new plans, while a fifth thread calls `change`. Returns the fault, if
/// any.
template <class F>
std::optional<std::string> run_while(F change) {
  std::vector<Work> works;
  for (const char* text : problems) works.emplace_back(parse_problem(text), 1);
  std::atomic<int> running{4};
  return at_once(5, [&](int i) -> std::optional<std::string> {
    if (i == 4) {
      for (int n = 0; running > 0; ++n) change(n);
      return std::nullopt;
    }
    PlainThreads plain(2);
    std::optional<std::string> wrong;
    for (int n = 0; n < 40 && !wrong; ++n) {
      const Work& work = works[static_cast<std::size_t>(i + n) % works.size()];
      Executor& executor = n % 3 == 0 ? static_cast<Executor&>(plain) : default_executor();
      wrong = n % 2 == 0 ? work.run(0, executor) : work.run(work.plan_anew(), 0, executor);
    }
    --running;
    return wrong;
  });
}

TEST(InstructionSet, MayChangeWhileOthersRun) {
  const std::vector<std::string> sets = instruction_sets();
  const auto wrong = run_while([&](int n) { use_instruction_set(sets[static_cast<std::size_t>(n) % sets.size()]); });
  use_instruction_set("");
  EXPECT_EQ(wrong, std::nullopt);
}

TEST(NumberOfThreads, MayChangeWhileOthersRun) {
  const auto wrong = run_while([](int n) {
    set_num_threads(n % 5);
    ASSERT_GE(get_num_threads(), 1);
    ASSERT_FALSE(default_executor().threads() < 1);
  });
  set_num_threads(0);
  EXPECT_EQ(wrong, std::nullopt);
}

// Tests that nothing is printed. oneTBB itself prints a warning, once in a process, if more threads than processors are
// requested.
TEST(NumberOfThreads, AboveThatOfProcessorsPrintsNothing) {
  const Work work(parse_problem(problems[0]), 1);
  set_num_threads(4096);
  ::testing::internal::CaptureStderr();
  const auto wrong = work.run(0, default_executor());
  const std::string printed = ::testing::internal::GetCapturedStderr();
  set_num_threads(0);
  EXPECT_EQ(wrong, std::nullopt);
  EXPECT_EQ(printed, "");
}

TEST(Settings, AreRefusedInOneThreadWhileOthersRun) {
  const auto wrong = run_while([](int) {
    EXPECT_EQ(pf_set_num_threads(-1), PF_ERROR_VALUE);
    EXPECT_EQ(pf_use_instruction_set("none of them"), PF_ERROR_VALUE);
  });
  EXPECT_EQ(wrong, std::nullopt);
}

TEST(Tables, AreReadByAllThreadsFromTheFirstCallOn) {
  const auto wrong = at_once(8, [](int) -> std::optional<std::string> {
    if (pf_operator_count() != static_cast<std::int32_t>(operators().size())) return "another number of operators";
    for (std::int32_t i = 0; i < pf_operator_count(); ++i)
      if (pf_operator_name(i) != operators()[static_cast<std::size_t>(i)].name) return "another name";
    if (pf_instruction_set_count() != static_cast<std::int32_t>(instruction_sets().size())) return "another number of sets";
    if (pf_status_name(PF_ERROR_SHAPE) != std::string_view("shape")) return "another name of a status";
    return std::nullopt;
  });
  EXPECT_EQ(wrong, std::nullopt);
}

/// How many pieces run now, how many at most ran at the same time, and how often each piece ran.
struct Seen {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  std::vector<std::atomic<int>> times = std::vector<std::atomic<int>>(200);

  static void run(void* context, std::int64_t piece) noexcept {
    Seen& seen = *static_cast<Seen*>(context);
    const int running = ++seen.now;
    for (int most = seen.most; most < running && !seen.most.compare_exchange_weak(most, running);) {
    }
    ++seen.times[static_cast<std::size_t>(piece)];
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    --seen.now;
  }
};

TEST(NumberOfThreads, IsLimitedForCallsOfOneThread) {
  const int before = get_num_threads();
  set_num_threads(8);
  const int all = get_num_threads();  // 1 in a build without oneTBB
  for (const int limit : {1, 2, 3, 100}) {
    const ThreadLimit limited(limit);
    EXPECT_EQ(get_num_threads(), std::min(limit, all));
    Seen seen;
    EXPECT_TRUE(default_executor().run(200, Seen::run, &seen));
    EXPECT_LE(seen.most, limit);
    for (const auto& times : seen.times) EXPECT_EQ(times, 1);
    {
      const ThreadLimit larger(limit + 5);
      EXPECT_EQ(get_num_threads(), std::min(limit, all));
    }
    int others = 0;
    std::thread([&] { others = get_num_threads(); }).join();
    EXPECT_EQ(others, all);
    std::int32_t old = -1;
    EXPECT_EQ(pf_limit_threads(1, &old), PF_OK);
    EXPECT_EQ(old, limit);
    EXPECT_EQ(get_num_threads(), 1);
    EXPECT_EQ(pf_limit_threads(old, nullptr), PF_OK);
  }
  EXPECT_EQ(get_num_threads(), all);
  EXPECT_EQ(pf_limit_threads(-1, nullptr), PF_ERROR_VALUE);
  EXPECT_THROW(ThreadLimit{0}, Error);
  EXPECT_EQ(get_num_threads(), all);
  set_num_threads(0);
  EXPECT_EQ(get_num_threads(), before);
}

const char* const small = "unfold f32 1x3x12x12 kernel_size=3 padding=1";
const char* const large = "fold f32 1x144x4096 output_size=64,64 kernel_size=3 padding=1";
const char* const staged = "unfold f32 1x16x64x64 kernel_size=3 padding=1";

Work work_of(const char* text) {
  return {parse_problem(text), 1};
}

TEST(Plans, AreMadeCopiedMovedAndDestroyedWhileOthersRun) {
  const Work works[] = {work_of(small), work_of(large), work_of(staged)};
  Plan copied = works[1].plan();  // copied by all threads at once, never written
  const auto wrong = at_once(4, [&](int i) -> std::optional<std::string> {
    PlainThreads plain(2);
    std::vector<Plan> kept;
    for (int n = 0; n < 30; ++n) {
      const Work& work = works[(i + n) % 3];
      Plan made = work.plan_anew();
      Plan moved = std::move(made);
      kept.push_back(n % 2 == 0 ? moved : std::move(moved));
      if (auto one = work.run(kept.back(), 0, n % 5 == 0 ? static_cast<Executor&>(plain) : default_executor())) return one;
      const Plan copy = copied;
      if (n % 10 == i)
        if (auto one = works[1].run(copy, 0, serial_executor())) return one;
      if (kept.size() > 3) kept.erase(kept.begin());
    }
    return std::nullopt;
  });
  EXPECT_EQ(wrong, std::nullopt);
}

TEST(Plans, OutliveTheThreadThatMadeThem) {
  const Work work = work_of(large);
  Plan made;
  std::thread([&] {
    made = work.plan_anew();
    EXPECT_EQ(work.run(made, 0, default_executor()), std::nullopt);
  }).join();
  EXPECT_EQ(work.run(made, 0, default_executor()), std::nullopt);
}

/// Calls run(op, ..) for unfold and fold of an image of this extent, which copy since the kernel is 1. Returns the fault, if
/// any.
std::optional<std::string> run_by_operator(std::int64_t extent) {
  std::vector<float> image(static_cast<std::size_t>(extent * extent));
  std::iota(image.begin(), image.end(), static_cast<float>(extent));
  std::vector<float> columns(image.size()), back(image.size());
  run(Unfold{.kernel_size = 1}, view(image.data(), {1, 1, extent, extent}), view(columns.data(), {1, 1, extent * extent}));
  if (columns != image) return "unfold of " + std::to_string(extent);
  run(Fold{.output_size = {extent, extent}, .kernel_size = 1}, view(columns.data(), {1, 1, extent * extent}),
      view(back.data(), {1, 1, extent, extent}));
  if (back != image) return "fold of " + std::to_string(extent);
  return std::nullopt;
}

TEST(RecentPlans, AreEachThreadsOwnAndGoWithIt) {
  for (int generation = 0; generation < 10; ++generation) {
    const auto wrong = at_once(8, [&](int i) -> std::optional<std::string> {
      for (std::int64_t n = 0; n < 20; ++n)
        if (auto one = run_by_operator(1 + (i + n * (generation + 1)) % 7)) return one;
      return run_by_operator(200 + i);  // large enough to be shared
    });
    ASSERT_EQ(wrong, std::nullopt);
  }
}

TEST(Handles, OfTheCInterfaceAreSharedAndDestroyedByAnyThread) {
  const std::int64_t image_shape[] = {1, 8, 64, 64}, columns_shape[] = {1, 72, 4096};
  std::vector<float> image(8 * 64 * 64);
  std::iota(image.begin(), image.end(), 0.0f);
  const pf_tensor input{image.data(), image_shape, nullptr, 4, PF_DTYPE_FLOAT32, 0};
  std::vector<float> expected(72 * 4096);
  const pf_tensor output{expected.data(), columns_shape, nullptr, 3, PF_DTYPE_FLOAT32, 0};
  const pf_attribute attributes[] = {pf_text("kernel_size", "3,3"), pf_integer("padding", 1)};
  ASSERT_EQ(pf_run("unfold", attributes, 2, &input, 1, &output, pf_serial_executor()), PF_OK) << pf_last_error();

  pf_plan* plan = nullptr;
  ASSERT_EQ(pf_plan_create("unfold", attributes, 2, &input, 1, &output, &plan), PF_OK) << pf_last_error();
  std::atomic<int> users{4};
  const auto wrong = at_once(4, [&](int) -> std::optional<std::string> {
    std::vector<float> columns(expected.size());
    for (int n = 0; n < 10; ++n) {
      std::fill(columns.begin(), columns.end(), -1.0f);
      if (pf_plan_run(plan, image.data(), columns.data(), nullptr, 0, nullptr) != PF_OK) return pf_last_error();
      if (columns != expected) return "wrong columns";
      pf_plan* own = nullptr;
      if (pf_plan_create("unfold", attributes, 2, &input, 1, &output, &own) != PF_OK) return pf_last_error();
      pf_plan_destroy(own);
    }
    if (--users == 0) pf_plan_destroy(plan);  // the last user
    return std::nullopt;
  });
  EXPECT_EQ(wrong, std::nullopt);
}

TEST(Errors, BelongToTheThreadWhoseCallFailed) {
  const auto wrong = at_once(6, [&](int i) -> std::optional<std::string> {
    const std::int64_t shape[] = {1, 1, 4 + i, 4};
    const pf_tensor input{nullptr, shape, nullptr, 4, PF_DTYPE_FLOAT32, 0};
    const pf_attribute block = pf_integer("block", 3 + i);
    const std::string unknown = "nothing_" + std::to_string(i);
    for (int n = 0; n < 200; ++n) {
      std::int64_t result[PF_MAX_RANK];
      std::int32_t rank = PF_MAX_RANK;
      if (pf_output_shape("space_to_depth", &block, 1, &input, 1, result, &rank) != PF_ERROR_DIVISIBLE)
        return "the shape was taken";
      if (std::string(pf_last_error()).find(std::to_string(3 + i)) == std::string::npos) return pf_last_error();
      std::int32_t index = 0;
      if (pf_find_operator(unknown.c_str(), &index) != PF_ERROR_UNKNOWN_OPERATOR) return "the operator was found";
      if (std::string(pf_last_error()).find(unknown) == std::string::npos) return pf_last_error();
      if (n % 3 == 0 && (pf_find_operator("fold", &index) != PF_OK || *pf_last_error() != '\0')) return pf_last_error();
      try {
        parse_problem(unknown);
        return "the problem was read";
      } catch (const Error& error) {
        if (std::string(error.what()).find(unknown) == std::string::npos) return error.what();
      }
    }
    return std::nullopt;
  });
  EXPECT_EQ(wrong, std::nullopt);
}

TEST(Errors, OfRunsBelongToTheThreadWhoseRunFailed) {
  const Work work = work_of(large);
  const auto wrong = at_once(4, [&](int i) -> std::optional<std::string> {
    CallableExecutor refusing(2, [](std::int64_t, const auto&) { throw 1; });
    std::vector<std::byte> src(static_cast<std::size_t>(work.bytes())), dst(src.size());
    for (int n = 0; n < 20; ++n) {
      if (i % 2 == 0) {
        if (auto one = work.run(0, default_executor())) return one;
        continue;
      }
      if (work.plan().run(src.data(), src.data()) != Status::overlap) return "overlap was not seen";
      if (work.plan().run(nullptr, dst.data()) != Status::null_data) return "no data was not seen";
      if (work.plan().run(src.data(), dst.data(), refusing) != Status::executor_failed) return "the executor was not asked";
    }
    return std::nullopt;
  });
  EXPECT_EQ(wrong, std::nullopt);
}

}  // namespace
}  // namespace patchfold::testing
