// SPDX-License-Identifier: Apache-2.0
// Tests work on several files at a time: the order, failures, and the memory in use.
#include "cli/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "formats/picture.hpp"
#include "tests/cli/tiles.hpp"

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

/// Tests on three threads, or on one thread if the library has no threads.
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

/// A picture in PNG tiles. Every second tile is changed, so that overlapping tiles differ.
class MergeOnThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!formats::has_pictures()) GTEST_SKIP() << "built without pictures";
    write_array(folder_, "photo.png", random_array({300, 400, 3}, DType::uint8));
    run_well(folder_, "split photo.png tiles --tile 64 --overlap 10");
    for (const char* number : {"03", "11", "27", "34"})
      write_array(folder_, std::string("tiles/tile-") + number + ".png", random_array({64, 64, 3}, DType::uint8));
  }
  Folder folder_;
};

TEST_F(MergeOnThreads, GivesTheSameBytesAsOnOne) {
  for (const std::string name : {".png", ".npy"}) {
    run_well(folder_, "merge tiles one" + name + " --processed --threads 1");
    for (const char* threads : {"2", "7"}) {
      run_well(folder_, "merge tiles many" + name + " --processed --threads " + threads);
      EXPECT_EQ(folder_.read("many" + name), folder_.read("one" + name)) << threads;
    }
  }
}

TEST_F(MergeOnThreads, HoldsUpToFourTilesForEachThread) {
  set_num_threads(3);
  const bool has_threads = get_num_threads() == 3;  // builds without oneTBB have one thread
  set_num_threads(0);
  const auto bytes = [&](const std::string& threads) {
    const std::string line = run_well(folder_, "merge tiles out.png --dry-run --json --threads " + threads);
    const std::size_t at = line.find("\"memory_bytes\": ");
    return at == std::string::npos ? 0 : std::atoll(line.c_str() + at + 16);
  };
  constexpr long long tile = 64 * 64 * 3;
  const long long one = bytes("1");
  EXPECT_GE(one, tile);
  EXPECT_EQ(bytes("3") - one, has_threads ? 11 * tile : 0);
  EXPECT_EQ(bytes("7") - one, has_threads ? 27 * tile : 0);
  EXPECT_EQ(bytes("1000") - one, has_threads ? 47 * tile : 0);  // there are 48
}

TEST_F(MergeOnThreads, NamesTheFirstTileThatIsDamaged) {
  folder_.write("tiles/tile-13.png", "no picture");
  folder_.write("tiles/tile-14.png", "nor this");
  for (int round = 0; round < 10; ++round)
    run_badly(folder_, "merge tiles out.png --processed --threads 4", {"tile 13 at [1, 5]: tiles/tile-13.png: "});
  EXPECT_EQ(folder_.entries().find("out.png"), std::string::npos);
}

}  // namespace
}  // namespace patchfold::cli_test
