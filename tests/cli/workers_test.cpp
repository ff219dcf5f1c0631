// SPDX-License-Identifier: Apache-2.0
// Tests work on several files at a time: the order, failures, and the memory in use.
#include "cli/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace patchfold::cli_test {
namespace {

using cli::for_each_index;
using cli::InterruptGuard;
using cli::pieces_in_memory;

TEST(Workers, HoldAPieceEachInAtMost64Megabytes) {
  EXPECT_EQ(pieces_in_memory(1000, 8), 8);
  EXPECT_EQ(pieces_in_memory(std::int64_t{16} << 20, 8), 4);
  EXPECT_EQ(pieces_in_memory((std::int64_t{16} << 20) + 1, 8), 3);
  EXPECT_EQ(pieces_in_memory(std::int64_t{1} << 40, 8), 1);
  EXPECT_EQ(pieces_in_memory(INT64_MAX, 8), 1);
  EXPECT_EQ(pieces_in_memory(0, 8), 8);
}

/// A fixture of tests on four threads, or on one thread if the library is built without threads.
class Threads : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(4); }
  void TearDown() override { set_num_threads(0); }
};

TEST_F(Threads, TakeEveryIndexOnce) {
  InterruptGuard guard("out.npy");
  for (const std::int64_t workers : {1, 3, 4, 50}) {
    std::vector<std::atomic<int>> taken(40);
    std::atomic<bool> outside = false;
    for_each_index("test", guard, workers, 5, 38, [&](std::int64_t index, std::int64_t worker) {
      ++taken[static_cast<std::size_t>(index)];
      if (worker < 0 || worker >= workers) outside = true;
    });
    for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], i >= 5 && i < 38 ? 1 : 0) << i;
    EXPECT_FALSE(outside);
    for_each_index("test", guard, workers, 7, 7, [&](std::int64_t, std::int64_t) { outside = true; });
    EXPECT_FALSE(outside);
  }
}

TEST_F(Threads, WorkAtTheSameTime) {
  if (get_num_threads() != 4 || std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one thread works at a time here";
  InterruptGuard guard("out.npy");
  std::atomic<int> begun = 0;
  for_each_index("test", guard, 2, 0, 2, [&](std::int64_t, std::int64_t) {
    ++begun;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (begun < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_EQ(begun, 2);
  });
}

TEST_F(Threads, ThrowWhatTheLowestIndexThrewAndBeginNoOther) {
  InterruptGuard guard("out.npy");
  for (int round = 0; round < 20; ++round) {
    std::atomic<std::int64_t> last = 0;
    try {
      for_each_index("test", guard, 4, 0, 10'000, [&](std::int64_t index, std::int64_t) {
        for (std::int64_t before = last; index > before && !last.compare_exchange_weak(before, index);) {
        }
        if (index == 10) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (index >= 10) throw std::runtime_error(std::to_string(index));
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "10");
    }
    EXPECT_LT(last, 100);
  }
}

}  // namespace
}  // namespace patchfold::cli_test
