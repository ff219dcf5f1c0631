// SPDX-License-Identifier: Apache-2.0
// Tests early ends of the program: signals, closed outputs, full disks, also during splits and merges.
// Tests progress on standard error: on a terminal a line that disappears at the end, elsewhere nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
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
    // The input is a sparse file of 844 MB, so that the program is still running when its output appears.
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

/// Tests that the guard's executor announces as many threads as the default executor, since plans need scratch memory for
/// each thread.
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

TEST(Signals, AReaderThatGoesAwayEndsTheProgramWithoutAWord) {
  const Folder folder;
  for (const char* command : {"ops", "ops --markdown", "ops unfold", "--help", "run --help", "explain unfold f32 1x3x8x8 k3x3"}) {
    const Outcome broken = folder.run(command, {.break_pipe = true});
    EXPECT_EQ(broken.signal, SIGPIPE) << command << broken.code;
    EXPECT_EQ(broken.err, "") << command;
    const Outcome closed = folder.run(command, {.close_output = true});
    EXPECT_EQ(closed.code, 1) << command << closed.signal;
    EXPECT_TRUE(is_one_line(closed.err)) << closed.err;
  }
  EXPECT_TRUE(is_one_line(folder.run("ops nonsense", {.break_pipe = true}).err));
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

// Tests workers on several threads, or on one if the library has no threads.
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
      ::testing::KilledBySignal(SIGTERM), "");
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
  const std::size_t there = words(entries_of(folder_, "tiles")).size() - 1;  // unfinished-split is no tile
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
  // A file may have 500 bytes, which is enough for each tile, but not for the plan.
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

using cli::progress_line;

const char* const problem = "unfold f32 1x3x16x16 kernel_size=3,3";
const char* const green = "\033[32m";
const char* const red = "\033[31m";

/// A folder with an array of 64 x 64 bytes.
struct Progress : ::testing::Test {
  Progress() { folder.write("in.npy", npy_bytes({.descr = "|u1", .shape = {64, 64}, .data = std::string(4096, 'a')})); }

  bool shows(const Outcome& outcome, const std::string& text) const { return outcome.err.find(text) != std::string::npos; }

  Folder folder{};
  std::string split = "split in.npy tiles --tile 8 --force";
};

TEST(ProgressLine, SaysWhatIsDoneAndWhatIsLeft) {
  const auto line = progress_line("split", "tiles", 3, 4, 30'000'000, 6, "", 80);
  EXPECT_EQ(line.text, "split  [###############-----]  3/4 tiles  5 MB/s  2 s left");
  EXPECT_EQ(line.text.substr(line.bar, line.fill), std::string(15, '#'));
  EXPECT_EQ(progress_line("bench", "problems", 0, 2, 0, 1, "2 threads", 80).text,
            "bench  [--------------------]  0/2 problems  2 threads");
  EXPECT_EQ(progress_line("bench", "problems", 1, 4, 0, 600, "", 80).text,
            "bench  [#####---------------]  1/4 problems  30 min left");
  EXPECT_EQ(progress_line("split", "tiles", 4, 4, 0, 6, "", 80).text, "split  [####################]  4/4 tiles  0 s left");
  EXPECT_EQ(progress_line("merge", "tiles", 0, 0, 0, 0, "", 80).text, "merge  [####################]  0/0 tiles");
}

TEST(ProgressLine, FitsIntoTheTerminal) {
  for (const int width : {0, 1, 5, 9, 12, 30, 200}) {
    const auto line = progress_line("split", "tiles", 3, 4, 1'000'000, 1, "now", width);
    EXPECT_LE(line.text.size(), static_cast<std::size_t>(std::max(width - 1, 0)));
    EXPECT_LE(line.bar + line.fill, line.text.size());
    EXPECT_EQ(line.text.substr(line.bar, line.fill), std::string(line.fill, '#'));
  }
}

TEST_F(Progress, IsShownOnATerminalAlone) {
  for (const std::vector<std::string>& command :
       {words(split), words("merge tiles out.npy"), std::vector<std::string>{"bench", problem, "--rounds", "1"}}) {
    const Outcome shown = folder.run(command, {.terminal = true});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_TRUE(shows(shown, "\r\033[K" + command[0] + "  [")) << shown.err;
    EXPECT_EQ(shown.out.find('\033'), std::string::npos) << shown.out;
    // The program erases the line of progress. After that, standard error has only the report, if there is one.
    const std::string rest = shown.err.substr(shown.err.rfind("\r\033[K") + 4);
    EXPECT_EQ(rest.find('['), std::string::npos) << rest;
    const Outcome silent = folder.run(command);
    EXPECT_EQ(silent.code, 0) << silent.err;
    EXPECT_EQ(silent.err.find('\033'), std::string::npos) << silent.err;
    EXPECT_EQ(silent.err.find('\r'), std::string::npos) << silent.err;
    EXPECT_FALSE(shows(silent, "left")) << silent.err;
    const Outcome dumb = folder.run(command, {.terminal = true, .environment = {"TERM=dumb"}});
    EXPECT_EQ(dumb.code, 0) << dumb.err;
    EXPECT_EQ(dumb.err.find('\033'), std::string::npos) << dumb.err;
  }
}

TEST_F(Progress, CountsProblems) {
  const Outcome outcome = folder.run({"bench", problem, "fold f32 1x4x9 output_size=4,4 kernel_size=2,2", "--rounds", "1"},
                                     {.terminal = true, .environment = {"NO_COLOR=1"}});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(shows(outcome, "[--------------------]  0/2 problems  1 threads\r\033[K")) << outcome.err;
  EXPECT_TRUE(shows(outcome, "[##########----------]  1/2 problems  ")) << outcome.err;
}

TEST_F(Progress, HasColoursOnATerminalThatWantsThem) {
  const std::vector<std::string> two = {"bench", problem, problem, "--rounds", "1"};  // after one, half the bar is green
  EXPECT_TRUE(shows(folder.run(two, {.terminal = true}), std::string("[") + green + "##########\033[0m-"));
  EXPECT_TRUE(shows(folder.run(two, {.terminal = true, .environment = {"NO_COLOR="}}), green));
  for (const char* variable : {"NO_COLOR=1", "NO_COLOR=0"}) {
    const Outcome outcome = folder.run(two, {.terminal = true, .environment = {variable}});
    EXPECT_TRUE(shows(outcome, "[##########----------]  1/2 problems")) << outcome.err;
    EXPECT_FALSE(std::regex_search(outcome.err, std::regex("\033\\[[0-9;]*m"))) << outcome.err;
  }
}

TEST_F(Progress, ColoursSayNothingThatWordsDoNot) {
  const std::string wrong = "run unfold in.npy -o out.npy";
  const std::string plain = folder.run(wrong).err;
  ASSERT_EQ(plain.substr(0, 11), "patchfold: ");
  const std::regex colour("\033\\[[0-9;]*m|\r");
  for (const std::vector<std::string>& environment :
       {std::vector<std::string>{}, std::vector<std::string>{"NO_COLOR=1"}, std::vector<std::string>{"TERM=dumb"}}) {
    const Outcome shown = folder.run(wrong, {.terminal = true, .environment = environment});
    EXPECT_EQ(shows(shown, std::string(red) + "patchfold:\033[0m "), environment.empty()) << shown.err;
    EXPECT_EQ(std::regex_replace(shown.err, colour, ""), plain);
  }
  const Outcome json = folder.run(wrong + " --json", {.terminal = true});
  EXPECT_EQ(json.err.find('\033'), std::string::npos) << json.err;
}

TEST_F(Progress, OfANarrowTerminalFits) {
  const Outcome outcome = folder.run(split, {.terminal = true, .columns = 24, .environment = {"NO_COLOR=1"}});
  std::size_t lines = 0;
  const std::string begin = "\r\033[K";
  for (std::size_t at = 0; (at = outcome.err.find(begin + "split", at)) != std::string::npos; ++at, ++lines) {
    const std::size_t end = outcome.err.find('\r', at + 1);
    EXPECT_LE(end - at - begin.size(), 23U) << outcome.err;
  }
  EXPECT_GE(lines, 1U) << outcome.err;
}

}  // namespace
}  // namespace patchfold::cli_test
