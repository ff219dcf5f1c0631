// SPDX-License-Identifier: Apache-2.0
// Tests early ends of the program: signals, closed outputs, full disks.
// Tests splits and merges that are stopped, that lack disk space, or that show progress.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "cli/interrupt.hpp"
#include "cli/workers.hpp"
#include "formats/picture.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

namespace fs = std::filesystem;
using cli::for_each_index;
using cli::InterruptGuard;

bool is_one_line(const std::string& text) {
  return text.starts_with("patchfold: ") && std::count(text.begin(), text.end(), '\n') == 1 && text.back() == '\n';
}

TEST(Signals, RemoveTheTemporaryFileAndEndTheProgram) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Folder folder;
    folder.write("out.npy", "as it was");
    // 844 MB in a sparse file, so that the program is still running when its output appears.
    constexpr std::int64_t taps = 64 * 64, positions = 321 * 321;
    const std::string header = npy_bytes({"<f2", {1, taps, positions}, ""});
    folder.write("in.npy", header);
    std::filesystem::resize_file(folder.path("in.npy"), header.size() + static_cast<std::size_t>(2 * taps * positions));
    const Outcome outcome =
        folder.run("run fold in.npy --output_size 384,384 --kernel_size 64,64 -o out.npy", {.signal = signal});
    EXPECT_EQ(outcome.signal, signal) << outcome.code << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(folder.entries(), "in.npy out.npy");
    EXPECT_EQ(folder.read("out.npy"), "as it was");
  }
}

/// Plans need scratch memory for the threads that an executor announces.
TEST(Signals, DoNotMakeTheProgramAnnounceMoreThreads) {
  cli::InterruptGuard guard("out.npy");
  EXPECT_EQ(guard.executor().threads(), default_executor().threads());
}

TEST(Signals, EndAProgramThatWaitsForAReader) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(counting({1, 3, 64, 64})));
  ASSERT_EQ(::mkfifo(folder.path("out.npy").c_str(), 0600), 0);
  // Opens both ends of the pipe, so that the program can open it to write. The output is larger than the pipe's buffer.
  const int pipe = ::open(folder.path("out.npy").c_str(), O_RDWR | O_CLOEXEC);
  const Outcome outcome =
      folder.run("run unfold in.npy --kernel_size 3,3 -o out.npy", {.signal = SIGTERM, .signal_once = "out.npy"});
  EXPECT_EQ(outcome.signal, SIGTERM) << outcome.code << outcome.err;
  ::close(pipe);
}

TEST(Signals, ABrokenPipeIsAnError) {
  const Folder folder;
  for (const char* command : {"ops", "ops --markdown", "ops unfold", "--help", "--version", "run --help"}) {
    const Outcome broken = folder.run(command, {.break_pipe = true});
    EXPECT_EQ(broken.code, 1) << command << broken.signal;
    EXPECT_TRUE(is_one_line(broken.err)) << broken.err;
    const Outcome closed = folder.run(command, {.close_output = true});
    EXPECT_EQ(closed.code, 1) << command << closed.signal;
    EXPECT_TRUE(is_one_line(closed.err)) << closed.err;
  }
}

TEST(Signals, AClosedOutputDoesNotSpoilFiles) {
  const Folder folder;
  folder.write("in.npy", npy_bytes(counting({1, 1, 4, 4})));
  EXPECT_EQ(folder.run("run space_to_depth in.npy --block 2,2 -o out.npy", {.close_output = true}).code, 0);
  EXPECT_EQ(npy_of(folder.read("out.npy")).data.size(), 128U);
}

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
    run_badly(folder_, "merge tiles out.png", {"plan: tiles/plan.json: cannot be opened"});
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
