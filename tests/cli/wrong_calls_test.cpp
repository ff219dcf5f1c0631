// SPDX-License-Identifier: Apache-2.0
// Tests the wrong command lines in wrong_calls.txt, with the whole text of each error and the exit code.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "formats/picture.hpp"
#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

/// Writes the files that the table names.
void write_files(const Folder& folder) {
  const std::vector<float> zeros(4096);
  const auto floats = [&](const char* name, const std::vector<std::int64_t>& shape) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    folder.write(name, npy_bytes(npy<float>("<f4", shape, {zeros.begin(), zeros.begin() + count})));
  };
  floats("image.npy", {1, 3, 6, 8});
  floats("chw.npy", {3, 6, 8});
  floats("hwc.npy", {6, 8, 3});
  floats("grey.npy", {6, 8});
  floats("video.npy", {1, 2, 3, 6, 8});
  floats("columns.npy", {1, 12, 35});
  floats("chw-columns.npy", {12, 35});
  floats("hwc-columns.npy", {35, 12});
  floats("swapped.npy", {1, 35, 12});
  floats("grid.npy", {1, 12, 5, 7});
  folder.write("bytes.npy", npy_bytes(npy<std::uint8_t>("|u1", {1, 1, 4, 4}, std::vector<std::uint8_t>(16))));
  folder.write("words.npy", npy_bytes({"|S3", {1, 4, 9}, std::string(108, 'x')}));
  folder.write("junk.npy", "this is no array at all, but it is long enough to be one");
  folder.write("empty.npy", "");
  folder.write("junk.png", "this is no picture");
  folder.write("notes.txt", "text");
  std::filesystem::create_directory(folder.path("folder"));
  const std::vector<std::uint8_t> pixels(6 * 8 * 3);
  formats::write_picture(folder.path("photo.png"), view(pixels.data(), {6, 8, 3}));
  ASSERT_EQ(folder.run("split photo.png tiles --tile 4 -q").code, 0);
  ASSERT_EQ(folder.run("split grey.npy halves --tile 4 -q").code, 0);
  floats("halves/tile-0.npy", {8, 8});
}

struct Row {
  int line;
  std::string command;
  std::string said;  ///< "CODE: TEXT", the exit code and the text on standard error
};

std::vector<Row> table() {
  std::ifstream file(PATCHFOLD_SOURCES "/tests/cli/wrong_calls.txt");
  std::vector<Row> rows;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (text.empty() || text.front() == '#') continue;
    if (text.front() == ' ' && !rows.empty())
      rows.back().said += text.substr(text.find_first_not_of(' ')) + "\n";
    else
      rows.push_back({line, text, ""});
  }
  return rows;
}

TEST(WrongCalls, SayWhatToTypeInstead) {
  if (!formats::has_pictures()) GTEST_SKIP() << "built without pictures";
  const Folder folder;
  ASSERT_NO_FATAL_FAILURE(write_files(folder));
  const std::string entries = folder.entries();
  const std::vector<Row> rows = table();
  EXPECT_GE(rows.size(), 150U);
  for (const Row& row : rows) {
    const Outcome outcome = folder.run(row.command);
    EXPECT_EQ(std::to_string(outcome.code) + ": " + outcome.err, row.said)
        << "tests/cli/wrong_calls.txt:" << row.line << ": " << row.command;
  }
  EXPECT_EQ(folder.entries(), entries);
}

}  // namespace
}  // namespace patchfold::cli_test
