// SPDX-License-Identifier: Apache-2.0
// Settings of the process that change while other threads run.
#include <gtest/gtest.h>

#include <atomic>

#include "at_once.hpp"
#include "executors.hpp"
#include "patchfold/patchfold.h"
#include "patchfold/patchfold.hpp"
#include "work.hpp"

namespace patchfold::testing {
namespace {

/// Strategies whose kernels depend on the instruction set; large enough to be shared, but for the last one.
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

/// Runs all problems in four threads, plans made before and plans made meanwhile, while a fifth calls `change`.
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

}  // namespace
}  // namespace patchfold::testing
