// SPDX-License-Identifier: Apache-2.0
// Tests settings of the process that change while other threads run.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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

/// Runs all problems in four threads, with old and new plans, while a fifth thread calls `change`.
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

// oneTBB itself would print a warning, once in a process, if more threads than processors are requested.
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

/// The number of pieces that ran at the same time, and the runs of each piece.
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

}  // namespace
}  // namespace patchfold::testing
