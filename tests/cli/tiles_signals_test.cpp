// SPDX-License-Identifier: Apache-2.0
// Tests splits and merges that are stopped, that lack disk space, or that show progress.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "cli/workers.hpp"
#include "formats/picture.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

namespace fs = std::filesystem;
using cli::for_each_index;
using cli::InterruptGuard;

/// A folder with photo.png: 3000 x 2000 pixels of noise, which PNG compresses slowly.
class TilesStopped : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!formats::has_pictures()) GTEST_SKIP() << "built without pictures";
    write_array(folder_, "photo.png", photo_);
  }

  Array photo_ = random_array({2000, 3000, 3}, DType::uint8);
  Folder folder_;
  std::string split_ = "split photo.png tiles --tile 128 --overlap 16";
};

// Runs on several threads, if the library has threads.
TEST(WorkersStopped, EndsThemAtASignal) {
  set_num_threads(4);
  EXPECT_EXIT(
      {
        std::atomic<std::int64_t> count = 0;
        try {
          InterruptGuard guard("out.npy");
          for_each_index("test", guard, 4, 0, 1'000'000, [&](std::int64_t index, std::int64_t) {
            if (index == 10) std::raise(SIGTERM);
            ++count;
          });
        } catch (const Error&) {
          std::_Exit(3);  // not reached: the guard ends the process
        }
        std::_Exit(count < 1000 ? 4 : 5);
      },
      testing::KilledBySignal(SIGTERM), "");
  set_num_threads(0);
}

TEST_F(TilesStopped, ASignalLeavesWholeTilesOfASplit) {
  for (const int signal : {SIGINT, SIGTERM}) {
    fs::remove_all(folder_.path("tiles"));
    const Outcome stopped = folder_.run(split_, {.signal = signal, .signal_once = "tiles/tile-005.png"});
    EXPECT_EQ(stopped.signal, signal) << stopped.code << stopped.err;
    EXPECT_EQ(stopped.out + stopped.err, "");
    const std::string names = entries_of(folder_, "tiles");
    EXPECT_EQ(names.find(".tmp"), std::string::npos) << names;
    EXPECT_EQ(names.find("plan.json"), std::string::npos) << names;
    for (const auto& name : words(names))
      if (name != "unfinished-split") {
        EXPECT_EQ(read_array(folder_, "tiles/" + name).shape, (Dims{128, 128, 3})) << name;
      }
    run_badly(folder_, "merge tiles out.png", {"plan: tiles/plan.json: is not written yet: split did not finish"});
  }
  const std::size_t there = words(entries_of(folder_, "tiles")).size() - 1;  // without unfinished-split
  const std::string out = run_well(folder_, split_);
  EXPECT_NE(out.find(std::to_string(there) + " skipped"), std::string::npos) << out;
  run_well(folder_, "merge tiles out.png");
  EXPECT_TRUE(read_array(folder_, "out.png") == photo_);
}

TEST_F(TilesStopped, ASignalLeavesNothingOfAMerge) {
  run_well(folder_, split_);
  for (const char* name : {"out.png", "out.npy", "out.tif"}) {
    if (std::string_view(name) == "out.tif" && !formats::has_tiff()) continue;
    folder_.write(name, "as it was");
    const Outcome stopped = folder_.run(std::string("merge tiles ") + name, {.signal = SIGINT});
    EXPECT_EQ(stopped.signal, SIGINT) << stopped.code << stopped.err;
    EXPECT_EQ(stopped.out + stopped.err, "");
    EXPECT_EQ(folder_.read(name), "as it was");
    fs::remove(folder_.path(name));
    EXPECT_EQ(folder_.entries(), "photo.png tiles");
  }
}

TEST_F(TilesStopped, ATerminalShowsHowFarItIs) {
  const Outcome split = folder_.run(split_, {.terminal = true, .environment = {"NO_COLOR=1"}});
  EXPECT_EQ(split.code, 0);
  EXPECT_NE(split.err.find("\r\033[Ksplit  [--------------------]  1/486 tiles  "), std::string::npos) << split.err;
  EXPECT_NE(split.err.find(" MB/s  "), std::string::npos) << split.err;
  EXPECT_NE(split.err.find(" s left\r\033[Ktiles: 486 tiles (18 x 27)"), std::string::npos) << split.err;
  EXPECT_LE(count_of(split.err, " tiles "), 201U);
  const Outcome merge = folder_.run("merge tiles out.png", {.terminal = true});
  EXPECT_NE(merge.err.find("merge  [--------------------]  1/486 tiles"), std::string::npos) << merge.err;
  EXPECT_EQ(folder_.run("merge tiles out.png --quiet", {.terminal = true}).err, "");
}

TEST(TilesRefused, AFullDiskLeavesNothingBehind) {
  const Folder folder;
  write_array(folder, "in.npy", random_array({64, 64}, DType::uint8));
  const Outcome split = folder.run("split in.npy tiles --tile 32", {.largest_file = 1000});
  EXPECT_EQ(split.code, 1) << split.signal;
  EXPECT_NE(split.err.find("tiles/tile-0.npy"), std::string::npos) << split.err;
  EXPECT_EQ(folder.entries(), "in.npy");
  // Disk space for the tiles, but not for the plan.
  const Outcome plan = folder.run("split in.npy tiles --tile 16 --overlap 8", {.largest_file = 500});
  EXPECT_EQ(plan.code, 1) << plan.signal;
  EXPECT_EQ(entries_of(folder, "tiles").find("plan.json"), std::string::npos);
  EXPECT_EQ(entries_of(folder, "tiles").find(".tmp"), std::string::npos);
  run_well(folder, "split in.npy tiles --tile 16 --overlap 8");
  folder.write("out.npy", "as it was");
  const Outcome merge = folder.run("merge tiles out.npy", {.largest_file = 1000});
  EXPECT_EQ(merge.code, 1) << merge.signal;
  EXPECT_NE(merge.err.find("out.npy"), std::string::npos) << merge.err;
  EXPECT_EQ(folder.entries(), "in.npy out.npy tiles");
  EXPECT_EQ(folder.read("out.npy"), "as it was");
}

TEST(TilesRefused, AFolderThatCannotBeWrittenIsNamed) {
  const Folder folder;
  write_array(folder, "in.npy", random_array({8, 8}, DType::uint8));
  fs::create_directory(folder.path("tiles"));
  fs::permissions(folder.path(""), fs::perms(0755));
  fs::permissions(folder.path("tiles"), fs::perms(0555));
  for (const char* name : {"tiles", "new"}) {
    fs::permissions(folder.path(""), fs::perms(0555));
    const Outcome outcome = folder.run(std::string("split in.npy ") + name + " --tile 4", {.unprivileged = true});
    EXPECT_EQ(outcome.code, 1) << outcome.signal;
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
  }
  fs::permissions(folder.path(""), fs::perms(0755));
  EXPECT_EQ(entries_of(folder, "tiles"), "");
}

TEST(TilesRefused, AFolderThatCannotBeReadIsNamed) {
  const Folder folder;
  write_array(folder, "in.npy", random_array({8, 8}, DType::uint8));
  fs::create_directory(folder.path("tiles"));
  fs::permissions(folder.path(""), fs::perms(0755));
  fs::permissions(folder.path("tiles"), fs::perms(0));
  const Outcome outcome = folder.run("split in.npy tiles --tile 4", {.unprivileged = true});
  fs::permissions(folder.path("tiles"), fs::perms(0755));
  EXPECT_EQ(outcome.code, 1) << outcome.signal;
  EXPECT_NE(outcome.err.find("plan: tiles/plan.json: cannot be opened: "), std::string::npos) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with("[file_open]\n")) << outcome.err;
}

}  // namespace
}  // namespace patchfold::cli_test
