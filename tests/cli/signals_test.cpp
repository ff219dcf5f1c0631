// SPDX-License-Identifier: Apache-2.0
// Tests early ends of the program: signals, closed outputs, full disks.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "cli/interrupt.hpp"
#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

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

}  // namespace
}  // namespace patchfold::cli_test
