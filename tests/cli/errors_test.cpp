// SPDX-License-Identifier: Apache-2.0
// Tests the catalogue of errors on the command line, and the page that is written from the catalogue.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "patchfold/error.hpp"
#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

std::string content_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Errors, ThePageHasEveryCodeAndQuotesTheProgram) {
  const Folder folder;
  const std::string page = folder.run("errors --markdown").out;
  std::size_t at = 0;
  for (const auto& entry : error_catalogue()) {
    at = page.find("\n## " + std::string(entry.name) + "\n", at);
    ASSERT_NE(at, std::string::npos) << entry.name;
    EXPECT_NE(page.find("\n    " + std::string(entry.example) + "\n\n**What to do:** ", at), std::string::npos) << entry.name;
  }
  const std::string refused = folder.run("ops unfodl").err;
  EXPECT_NE(page.find("```sh fails\npatchfold ops unfodl\n```\n```text output\n" + refused + "```\n"), std::string::npos);
}

TEST(Errors, AreListedWithWhenTheyAreRaised) {
  const std::string text = Folder().run("errors").out;
  std::size_t at = 0;
  for (const auto& entry : error_catalogue()) {
    at = text.find("  " + std::string(entry.name) + " ", at);
    ASSERT_NE(at, std::string::npos) << entry.name;
    EXPECT_TRUE(text.substr(at, text.find('\n', at) - at).ends_with("  " + std::string(entry.when))) << entry.name;
  }
}

/// Returns the text with one blank in place of each run of blanks and line ends.
std::string unwrapped(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

TEST(Errors, AreShownOneByOne) {
  const Folder folder;
  for (const auto& entry : error_catalogue()) {
    const std::string name(entry.name);
    const Outcome outcome = folder.run("errors " + name);
    EXPECT_EQ(outcome.code, 0);
    const std::string text = unwrapped(outcome.out);
    for (const auto part : {entry.name, entry.when, entry.example, entry.advice, entry.python})
      EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(folder.run("errors PF_ERROR_FILE_OPEN").out, folder.run("errors file_open").out);
}

/// Compares names and numbers of the C interface with its header.
TEST(Errors, HaveTheNamesThatTheHeadersDeclare) {
  const std::string header = content_of(PATCHFOLD_SOURCES "/include/patchfold/patchfold.h");
  const std::regex declaration("PF_ERROR_([A-Z_]+) = ([0-9]+)");
  const Folder folder;
  std::size_t count = 0;
  for (std::sregex_iterator each(header.begin(), header.end(), declaration), end; each != end; ++each, ++count) {
    const std::string text = folder.run("errors " + (*each)[0].str().substr(0, (*each)[0].str().find(' '))).out;
    EXPECT_NE(text.find("\nC: PF_ERROR_" + (*each)[1].str() + " (" + (*each)[2].str() + ")\n"), std::string::npos) << text;
  }
  EXPECT_EQ(count, error_catalogue().size());
}

/// Raises every code that words and small files can raise, and compares the exit codes with the page.
TEST(Errors, EndMessagesWithTheirCode) {
  const Folder folder;
  folder.write("image.npy", npy_bytes(counting({1, 2, 4, 6})));
  folder.write("columns.npy", npy_bytes(counting({1, 4, 9})));
  folder.write("floats.npy", npy_bytes(npy<float>("<f4", {2}, {4, 4})));
  folder.write("cut.npy", npy_bytes(counting({1, 4, 9})).substr(0, 200));
  folder.write("object.npy", npy_bytes({"|O", {1}, "some bytes"}));
  const struct {
    const char* command;
    const char* code;
    int exit_code;
  } rows[] = {
      {"run unfold floats.npy --kernel_size 2,2 -o out.npy", "rank", 1},
      {"run unfold image.npy --kernel_size 2,2 --stride 1,1,1 -o out.npy", "length", 1},
      {"run openvino.Col2Im columns.npy floats.npy --kernel_size 2,2 -o out.npy", "type", 1},
      {"run unfold image.npy --kernel_size 0,2 -o out.npy", "value", 1},
      {"run unfold image.npy --kernel_size 2,2 --layout sideways -o out.npy", "value", 2},
      {"run space_to_depth image.npy --block 4 -o out.npy", "divisible", 1},
      {"run fold columns.npy --output_size 5,4 --kernel_size 2,2 -o out.npy", "position_count", 1},
      {"run coverage --output_size 4,4 --kernel_size 1 --dtype float8_e5m2 -o out.npy", "dtype", 1},
      {"run unfold image.npy --kernel_size 1 --padding 4611686018427387904 -o out.npy", "overflow", 1},
      {"explain unfold --shape 1,1,9,9 --kernel_size 3,3 --dilation 2305843009213693952", "overflow", 2},
      {"run unfold image.npy -o out.npy", "missing", 2},
      {"explain unfold f32 1x1x4x4 kernal=2", "unknown_argument", 2},
      {"ops unfolt", "unknown_operator", 2},
      {"run unfold none.npy --kernel_size 2,2 -o out.npy", "file_open", 1},
      {"run unfold image.npy --kernel_size 2,2 -o none/out.npy", "file_write", 1},
      {"run unfold cut.npy --kernel_size 2,2 -o out.npy", "file_format", 1},
      {"run unfold object.npy --kernel_size 1 -o out.npy", "file_unsupported", 1},
      {"walk", "usage", 2},
  };
  for (const auto& row : rows) {
    const Outcome outcome = folder.run(row.command);
    EXPECT_EQ(outcome.code, row.exit_code) << row.command;
    EXPECT_TRUE(outcome.err.ends_with(std::string(" [") + row.code + "]\n")) << row.command << "\n" << outcome.err;
    const std::string entry = folder.run(std::string("errors ") + row.code).out;
    const std::string exit_codes = entry.substr(entry.find("\nExit code: ") + 1);
    EXPECT_NE(exit_codes.find(std::to_string(row.exit_code)), std::string::npos) << entry;
  }
}

}  // namespace
}  // namespace patchfold::cli_test
