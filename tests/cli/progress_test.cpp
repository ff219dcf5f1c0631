// SPDX-License-Identifier: Apache-2.0
// Tests progress on standard error: on a terminal a line that disappears at the end, elsewhere nothing.
#include "cli/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

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
    // The line of progress is erased; after it, standard error has only the report, if any.
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
  const std::vector<std::string> two = {"bench", problem, problem, "--rounds", "1"};  // halfway, the bar is half full
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
