// SPDX-License-Identifier: Apache-2.0
// Tests the program when it is killed, stopped, or denied disk space at any of its system calls.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>

#include "formats/picture.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

namespace fs = std::filesystem;

/// A fault, such as "any:3:SIGKILL", of all programs that are started while the object lives.
class Fault {
 public:
  explicit Fault(const std::string& text) { ::setenv("PATCHFOLD_FAULT", text.c_str(), 1); }
  ~Fault() { ::unsetenv("PATCHFOLD_FAULT"); }
};

/// A command that reads in.npy and writes `out`, a file or a folder.
struct Command {
  const char* words;
  const char* out;
};

std::vector<Command> commands() {
  std::vector<Command> all = {
      {"run unfold image.npy --kernel_size 3,3 --padding 1 -o out.npy -q", "out.npy"},
      {"merge tiles out.npy --quiet", "out.npy"},
  };
  if (formats::has_pictures()) {
    all.push_back({"run space_to_depth in.npy --block 1,1 --layout channels_last -o out.png -q", "out.png"});
    all.push_back({"merge tiles out.png --quiet", "out.png"});
  }
  if (formats::has_tiff()) all.push_back({"merge tiles out.tif --quiet", "out.tif"});
  return all;
}

void prepare(const Folder& folder) {
  folder.write("image.npy", npy_bytes(counting({1, 2, 16, 16})));
  write_array(folder, "in.npy", random_array({40, 40, 3}, DType::uint8));
  run_well(folder, "split in.npy tiles --tile 24,24 --overlap 8 --axes 0,1 --quiet");
}

std::string temporaries(const Folder& folder) {
  std::string found;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path("")))
    if (entry.path().extension() == ".tmp") found += entry.path().string() + " ";
  return found;
}

/// Returns n: tests stop the program at every n-th system call.
int step_of_run() {
  const char* text = std::getenv("PATCHFOLD_CASES");
  return text != nullptr && std::strtod(text, nullptr) > 1 ? 1 : 3;
}

class Stopped : public testing::TestWithParam<int> {};

/// Returns the fault in which the n-th call of any kind raises the signal.
std::string stopped_at(int n, int signal) {
  const char* const name = signal == SIGKILL ? "KILL" : signal == SIGTERM ? "TERM" : "INT";
  return "any:" + std::to_string(n) + ":SIG" + name;
}

TEST_P(Stopped, AtAnyCallLeavesTheOldFileOrTheNewOne) {
  const int signal = GetParam();
  const Folder folder;
  prepare(folder);
  for (const auto& [words, out] : commands()) {
    run_well(folder, words);
    const std::string whole = folder.read(out);
    bool was_old = false, ended = false;
    // Each signal begins at a different call, so that all signals together cover most calls.
    for (int n = signal % step_of_run(); !ended && n < 3000; n += step_of_run()) {
      folder.write(out, "as it was");
      Outcome outcome;
      {
        const Fault fault(stopped_at(n, signal));
        outcome = folder.run(words);
      }
      const std::string where = std::string(words) + ": call " + std::to_string(n);
      ended = outcome.signal == 0;
      EXPECT_EQ(outcome.signal != 0 ? outcome.signal : signal, signal) << where << outcome.err;
      EXPECT_LE(outcome.code, 0) << where << outcome.err;
      const std::string now = folder.read(out);
      EXPECT_TRUE(now == "as it was" || now == whole) << where;
      was_old |= now == "as it was";
      EXPECT_TRUE(signal == SIGKILL || temporaries(folder).empty()) << where << temporaries(folder);
    }
    EXPECT_TRUE(was_old && ended) << words;
    // The next run removes the temporary files of killed runs.
    run_well(folder, words);
    EXPECT_TRUE(folder.read(out) == whole) << words;
    EXPECT_EQ(temporaries(folder), "") << words;
    fs::remove(folder.path(out));
  }
}

TEST_P(Stopped, AtAnyCallASplitGoesOnWhereItWas) {
  const int signal = GetParam();
  const Folder folder;
  prepare(folder);
  const std::string split = "split in.npy new --tile 24,24 --overlap 8 --axes 0,1 --quiet";
  bool ended = false;
  for (int n = signal % step_of_run(); !ended && n < 3000; n += 3 * step_of_run()) {
    Outcome outcome;
    {
      const Fault fault(stopped_at(n, signal));
      outcome = folder.run(split);
    }
    ended = outcome.signal == 0;
    EXPECT_LE(outcome.code, 0) << n << outcome.err;
    if (fs::exists(folder.path("new")))
      for (const auto& entry : fs::directory_iterator(folder.path("new"))) {
        const std::string name = entry.path().filename().string();
        if (entry.path().extension() == ".tmp") {
          EXPECT_EQ(signal, SIGKILL) << name;
          continue;
        }
        if (name == "unfinished-split") continue;  // this file marks an unfinished split
        EXPECT_TRUE(folder.read("new/" + name) == folder.read("tiles/" + name)) << n << ": " << name;
      }
    run_well(folder, split);
    EXPECT_FALSE(fs::exists(folder.path("new/unfinished-split"))) << n;
    EXPECT_EQ(temporaries(folder), "") << n;
    run_well(folder, "merge new again.npy --quiet");
    EXPECT_TRUE(folder.read("again.npy") == folder.read("in.npy")) << n;
    fs::remove_all(folder.path("new"));
  }
  EXPECT_TRUE(ended);
}

INSTANTIATE_TEST_SUITE_P(By, Stopped, testing::Values(SIGKILL, SIGTERM, SIGINT), [](const auto& signal) {
  return signal.param == SIGKILL ? "SIGKILL" : signal.param == SIGTERM ? "SIGTERM" : "SIGINT";
});

/// Expects exit code 1, and one line on standard error that contains `part`, the file or the cause.
void expect_one_line(const Outcome& outcome, const std::string& part, const std::string& where) {
  EXPECT_EQ(outcome.code, 1) << where << ": signal " << outcome.signal << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("patchfold: ") && count_of(outcome.err, "\n") == 1) << where << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << where << outcome.err;
}

TEST(WithoutRoom, EveryWriteThatFailsIsOneLineAndLeavesTheOldFile) {
  const Folder folder;
  prepare(folder);
  std::map<std::string, int> failures;
  for (const auto& [words, out] : commands())
    for (const char* call : {"write", "pwrite", "fallocate", "close", "rename"}) {
      // A failing close of an input file does no harm.
      const int most_harmless = std::string_view(call) == "close" ? 12 : 1;
      int harmless = 0;
      for (int n = 0; harmless < most_harmless; ++n) {
        folder.write(out, "as it was");
        Outcome outcome;
        {
          const Fault fault(std::string(call) + ":" + std::to_string(n) + ":ENOSPC");
          outcome = folder.run(words);
        }
        const std::string where = std::string(words) + ": " + call + " " + std::to_string(n) + ": ";
        const bool failed = outcome.code != 0;
        harmless = failed ? 0 : harmless + 1;
        EXPECT_EQ(outcome.signal, 0) << where;
        EXPECT_EQ(temporaries(folder), "") << where;
        failures[call] += failed;
        if (!failed) continue;
        EXPECT_TRUE(folder.read(out) == "as it was") << where;
        EXPECT_TRUE(outcome.err.starts_with("patchfold: ") && count_of(outcome.err, "\n") == 1) << where << outcome.err;
      }
      fs::remove(folder.path(out));
    }
  // Only the TIFF writer calls pwrite, since it does not write from the first byte to the last.
  for (const auto& [call, count] : failures)
    EXPECT_TRUE(count > 0 || (call == "pwrite" && !formats::has_tiff())) << call << " is never called";
}

TEST(WithoutRoom, ADeviceThatIsFullIsNamed) {
  const Folder folder;
  prepare(folder);
  for (const char* words : {"run unfold image.npy --kernel_size 3,3 -o /dev/full", "merge tiles /dev/full --quiet"})
    expect_one_line(folder.run(words), "/dev/full", words);
  // The shell makes /dev/full the standard output, to which /dev/stdout also leads.
  for (const char* words : {"ops", "ops unfold", "--help", "--version", "explain unfold --shape 1,1,8,8 --kernel_size 3",
                            "run unfold image.npy --kernel_size 3,3 -o /dev/stdout", "merge tiles /dev/stdout --quiet"}) {
    const std::string command =
        "cd '" + folder.path("").string() + "' && '" PATCHFOLD_PROGRAM "' " + words + " 2>err >/dev/full";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status)) << words;
    expect_one_line({.code = WEXITSTATUS(status), .err = folder.read("err")}, "space left on device", words);
  }
}

TEST(WithoutRoom, AReaderThatGoesAwayEndsTheProgramWithoutAWord) {
  const Folder folder;
  prepare(folder);
  for (const char* words :
       {"explain unfold --shape 1,1,8,8 --kernel_size 3", "run unfold image.npy --kernel_size 3,3 -o /dev/stdout",
        "merge tiles /dev/stdout --quiet", "ops --markdown"}) {
    const Outcome outcome = folder.run(words, {.break_pipe = true});
    EXPECT_EQ(outcome.signal, SIGPIPE) << words << outcome.code;
    EXPECT_EQ(outcome.err, "") << words;
  }
}

TEST(WithoutRoom, AFileSystemThatIsFullWhereOneCanBeMounted) {
  const Folder folder;
  prepare(folder);
  fs::create_directory(folder.path("small"));
  const std::string place = folder.path("small").string();
  if (::mount("none", place.c_str(), "tmpfs", 0, "size=16k") != 0) GTEST_SKIP() << "no file system can be mounted here";
  struct Mounted {
    std::string place;
    ~Mounted() { ::umount2(place.c_str(), MNT_DETACH); }
  } mounted{place};
  std::vector<std::string> all = {"run unfold image.npy --kernel_size 3,3 --padding 1 -o small/out.npy",
                                  "split big.npy small --tile 40,24 --axes 0,1"};
  write_array(folder, "big.npy", random_array({200, 200, 3}, DType::uint8));
  run_well(folder, "split big.npy bigtiles --tile 100,100 --axes 0,1 --quiet");
  all.push_back("merge bigtiles small/out.npy");
  if (formats::has_pictures()) {
    all.push_back("merge bigtiles small/out.png");
    all.push_back("run space_to_depth big.npy --block 1,1 --layout channels_last -o small/out.png");
  }
  if (formats::has_tiff()) all.push_back("merge bigtiles small/out.tif");
  for (const auto& words : all) {
    expect_one_line(folder.run(words), "space left on device", words);
    EXPECT_EQ(temporaries(folder), "") << words;
    EXPECT_FALSE(fs::exists(folder.path("small/plan.json"))) << words;
    for (const char* name : {"out.npy", "out.png", "out.tif"})
      EXPECT_FALSE(fs::exists(folder.path("small/" + std::string(name)))) << words;
    for (const auto& entry : fs::directory_iterator(place)) fs::remove(entry.path());
  }
}

}  // namespace
}  // namespace patchfold::cli_test
