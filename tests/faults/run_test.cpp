// SPDX-License-Identifier: Apache-2.0
// Tests that running a plan allocates no memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "engine/table.hpp"
#include "memory.hpp"
#include "operators.hpp"

namespace patchfold::faults {
namespace {

/// Sets the way to store results for plans that are made while the object lives.
class Stores {
 public:
  explicit Stores(kernels::Store store) { engine::force({.store = store}); }
  ~Stores() { engine::force({}); }
};

/// Returns the number of allocations of a run, in the given scratch memory or in the thread's scratch memory.
std::int64_t allocations_of(const Plan& plan, const Task& task, std::byte* dst, std::span<std::byte> scratch,
                            Executor& executor) {
  const FailingMemory memory;
  const Status status = scratch.empty() && plan.scratch_bytes(executor.threads()) > 0
                            ? plan.run(task.src().data, dst, executor)
                            : plan.run(task.src().data, dst, scratch, executor);
  const std::int64_t count = memory.count();
  EXPECT_EQ(status, Status::ok);
  return count;
}

TEST(Run, AllocatesNothingForAnyOperatorStrategyAndStore) {
  Pair pair;
  for (const auto store : {kernels::Store::plain, kernels::Store::past_cache})
    for (const auto& text : all_problems()) {
      const Stores stores(store);
      Task task(text);
      const Plan plan = task.plan();
      std::vector<std::byte> elsewhere(task.result().size() + 128);
      for (Executor* executor : {&serial_executor(), static_cast<Executor*>(&pair)}) {
        std::vector<std::byte> scratch(plan.scratch_bytes(executor->threads()));
        // Destinations that start at the beginning of a cache line, and within a line.
        const auto line = -reinterpret_cast<std::uintptr_t>(elsewhere.data()) % 64;
        for (const std::size_t offset : {line, line + 4}) {
          std::byte* const dst = elsewhere.data() + offset;
          std::fill(elsewhere.begin(), elsewhere.end(), std::byte{0x11});
          EXPECT_EQ(allocations_of(plan, task, dst, scratch, *executor), 0) << text;
          // The first run allocates the thread's memory and its holder.
          EXPECT_LE(allocations_of(plan, task, dst, {}, *executor), 2) << text;
          EXPECT_EQ(allocations_of(plan, task, dst, {}, *executor), 0) << text;
        }
      }
    }
}

// glibc ends the process if it has no memory to register the destructor of a thread's first thread_local object. So each thread of
// this test first runs a plan that needs no scratch memory.
TEST(Run, WithoutMemoryIsAStatusAndTheNextRunIsRightOnceGlibcHasNotedTheThreadsDestructors) {
  const Task small("unfold f32 1x1x4 kernel_size=1,");
  for (const auto& text : problems_of_strategies()) {
    Task task(text);
    const Plan plan = task.plan();
    EXPECT_EQ(plan.run(task.src().data, task.dst().data, serial_executor()), Status::ok);
    const auto expected = task.result();
    // A new thread has no scratch memory yet.
    Status failed = Status::ok, again = Status::ok;
    std::thread([&] {
      (void)small.plan().run(small.src().data, small.dst().data, serial_executor());
      task.spoil();
      {
        const FailingMemory memory(0, true);
        failed = plan.run(task.src().data, task.dst().data, serial_executor());
      }
      task.spoil();
      again = plan.run(task.src().data, task.dst().data, serial_executor());
    }).join();
    EXPECT_EQ(failed, plan.scratch_bytes(1) > 0 ? Status::out_of_memory : Status::ok) << text;
    EXPECT_EQ(again, Status::ok) << text;
    EXPECT_EQ(task.result(), expected) << text;
  }
}

}  // namespace
}  // namespace patchfold::faults
