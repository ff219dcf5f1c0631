// SPDX-License-Identifier: Apache-2.0
// Tests the lists of operators, help and version.
// Tests the catalogue of errors on the command line, and the page that is written from the catalogue.
// Tests that the manual pages have every option, and that man, groff and mandoc accept the pages without warnings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "cli/commands.hpp"
#include "formats/picture.hpp"
#include "patchfold/error.hpp"
#include "patchfold/table.hpp"
#include "patchfold/version.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

TEST(Ops, ListsEveryOperatorInItsDialect) {
  const std::string text = Folder().run("ops").out;
  std::size_t at = 0;
  for (const auto& op : operators()) {
    const auto found = text.find("\n  " + std::string(op.name) + " ", at);
    ASSERT_NE(found, std::string::npos) << op.name;
    const auto line = text.substr(found + 1, text.find('\n', found + 1) - found - 1);
    EXPECT_TRUE(line.ends_with(op.doc)) << line;
    at = found;
  }
  for (const DialectSpec& dialect : all_dialects()) {
    const std::string line = std::string(dialect.name) + ": " + std::string(dialect.doc) + "\n  ";
    EXPECT_NE(("\n" + text).find("\n" + line), std::string::npos) << line;
  }
}

TEST(Ops, ShowsOneOperatorWithItsArguments) {
  const Folder folder;
  for (const auto& op : operators()) {
    const std::string text = folder.run("ops " + std::string(op.name)).out;
    const bool is_neutral = op.dialect == "neutral";
    EXPECT_EQ(text.find("Neutral operator of the example: " + op.neutral) == std::string::npos, is_neutral) << op.name;
    for (const auto part : {op.name, op.doc, op.definition, op.data_input})
      EXPECT_NE(text.find(part), std::string::npos) << part;
    for (const auto& argument : op.arguments) {
      EXPECT_NE(text.find("--" + std::string(argument.name)), std::string::npos) << argument.name;
      EXPECT_NE(text.find(argument.doc), std::string::npos) << argument.doc;
      for (const auto choice : argument.choices) EXPECT_NE(text.find(choice), std::string::npos) << choice;
    }
  }
  EXPECT_EQ(folder.run("ops onnx.Col2Im").out, folder.run("ops onnx.Col2Im-18").out);
}

TEST(Ops, ThePageOfOperatorsIsUpToDate) {
  const std::string text = Folder().run("ops --markdown").out;
  std::ifstream file(PATCHFOLD_SOURCES "/docs/operators.md", std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(page == text) << "write it again: patchfold ops --markdown > docs/operators.md";
}

/// Returns the end of the JSON value that begins at `at`, or npos if there is none.
std::size_t skip_json(std::string_view text, std::size_t at) {
  const auto skip_space = [&] { at = std::min(text.find_first_not_of(" \n", at), text.size()); };
  const auto literal = [&](std::string_view word) {
    return text.substr(at, word.size()) == word ? at + word.size() : std::string::npos;
  };
  skip_space();
  if (at >= text.size()) return std::string::npos;
  if (text[at] == '"') {
    for (++at; at < text.size() && text[at] != '"'; ++at)
      if (text[at] == '\\')
        ++at;
      else if (static_cast<unsigned char>(text[at]) < ' ')
        return std::string::npos;
    return at < text.size() ? at + 1 : std::string::npos;
  }
  if (text[at] != '[' && text[at] != '{') return std::min({literal("true"), literal("false"), literal("null")});
  const char close = text[at] == '[' ? ']' : '}';
  ++at;
  skip_space();
  while (at < text.size() && text[at] != close) {
    if (close == '}') {
      at = skip_json(text, at);
      if (at == std::string::npos || text[at] != ':') return std::string::npos;
      ++at;
    }
    at = skip_json(text, at);
    if (at == std::string::npos) return at;
    skip_space();
    if (at < text.size() && text[at] == ',') ++at, skip_space();
  }
  return at < text.size() ? at + 1 : std::string::npos;
}

TEST(Ops, GivesTheTableAsJson) {
  const std::string text = Folder().run("ops --json").out;
  EXPECT_EQ(skip_json(text, 0), text.size() - 1) << text;
  for (const auto& op : operators())
    EXPECT_NE(text.find("{\"name\": \"" + std::string(op.name) + "\""), std::string::npos) << op.name;
}

TEST(Help, IsThereForEveryCommand) {
  const Folder folder;
  for (const char* command : {"--help", "-h", "help", "run --help", "ops --help", "run unfold --help", "errors --help",
                              "explain --help", "explain unfold --help", "split --help", "merge --help"}) {
    const Outcome outcome = folder.run(command);
    EXPECT_EQ(outcome.code, 0) << command;
    EXPECT_NE(outcome.out.find("Usage: patchfold"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.err, "");
    std::size_t line = 0;
    for (std::size_t at = 0; at < outcome.out.size(); at = line + 1) {
      line = std::min(outcome.out.find('\n', at), outcome.out.size());
      EXPECT_LE(line - at, 160U) << outcome.out.substr(at, line - at);
    }
  }
  EXPECT_EQ(folder.run("--version").out, "patchfold " PATCHFOLD_VERSION_STRING "\n");
}

/// Tests that the examples of --help run unchanged.
TEST(Help, ShowsExamplesThatWork) {
  const Folder folder;
  folder.write("image.npy", npy_bytes(npy<float>("<f4", {1, 3, 16, 16}, std::vector<float>(768, 1.0F))));
  const std::vector<std::uint8_t> pixels(600 * 700 * 3);
  if (formats::has_pictures()) formats::write_picture(folder.path("photo.png"), view(pixels.data(), {600, 700, 3}));
  const std::string text = folder.run("--help").out;
  int count = 0;
  for (auto at = text.find("\n  patchfold "); at != std::string::npos; at = text.find("\n  patchfold ", at + 1)) {
    const std::string command = text.substr(at + 13, text.find('\n', at + 1) - at - 13);
    if (command.find("photo") != std::string::npos && !formats::has_pictures()) {
      EXPECT_NE(folder.run(command).code, 2) << command;
    } else {
      const Outcome outcome = folder.run(command);
      EXPECT_EQ(outcome.code, 0) << command << '\n' << outcome.err;
    }
    ++count;
  }
  EXPECT_EQ(count, 6);
}

TEST(Help, IsShownWithTheErrorWhereNothingIsGiven) {
  const Folder folder;
  for (const char* command : {"", "run", "explain"}) {
    const Outcome outcome = folder.run(command);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.out.find("Usage: patchfold"), std::string::npos);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

std::string content_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Errors, ThePageHasEveryCodeAndQuotesTheProgram) {
  const Folder folder;
  const std::string page = folder.run("errors --markdown").out;
  EXPECT_TRUE(page == content_of(PATCHFOLD_SOURCES "/docs/errors.md")) << "patchfold errors --markdown > docs/errors.md";
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

/// Returns the text with one blank in place of each sequence of blanks and line ends.
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

/// Compares the names and numbers of the error codes with the header of the C interface.
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

/// Raises every error code that a command line and small files can raise, and compares the exit codes with the page of
/// errors.
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

const std::filesystem::path pages = PATCHFOLD_PAGES;

/// Runs a shell command for each page, whose path is in $page, and returns the output.
std::string for_each_page(const std::string& command) {
  const Folder folder;
  const std::string whole =
      "for page in '" + pages.string() + "'/*; do " + command + "; done > '" + folder.path("out").string() + "' 2>&1";
  EXPECT_NE(std::system(whole.c_str()), -1);
  return folder.read("out");
}

/// Returns a page without the marks of roff, with one blank in place of each sequence of blanks and line ends.
std::string plain(const std::string& page) {
  std::string text;
  for (std::size_t i = 0; i < page.size(); ++i) {
    if (page[i] == '\\' && i + 1 < page.size()) {
      ++i;
      if (page[i] == 'f')
        ++i;
      else if (page[i] == '-')
        text += '-';
      else if (page[i] == 'e')
        text += '\\';
      else if (page[i] == '(') {
        const std::string name = page.substr(i + 1, 2);
        text += name == "aq" ? '\'' : name == "ga" ? '`' : name == "ha" ? '^' : '~';
        i += 2;
      }
    } else if (page[i] == '\n' || page[i] == ' ') {
      if (!text.ends_with(' ')) text += ' ';
    } else {
      text += page[i];
    }
  }
  return text;
}

std::string read_page(const std::string& name) {
  std::ifstream file(pages / (name + ".1"));
  return plain({std::istreambuf_iterator<char>(file), {}});
}

TEST(Manual, HasAPageForEveryCommandWithItsOptions) {
  if (!std::filesystem::exists(pages)) GTEST_SKIP() << "help2man is not installed";
  const std::string overview = read_page("patchfold");
  for (const auto& command : cli::commands()) {
    const std::string name(command.name);
    EXPECT_NE(overview.find(std::string(command.summary)), std::string::npos) << overview;
    const std::string page = read_page("patchfold-" + name);
    EXPECT_NE(page.find(" patchfold-" + name + " - " + std::string(command.summary)), std::string::npos) << page;
    for (const cli::OptionInfo& option : command.options()) {
      EXPECT_NE(page.find(option.names.back()), std::string::npos) << option.names.back();
      if (name == "explain") continue;  // explain's help shows options in sentences
      EXPECT_NE(page.find(option.doc), std::string::npos) << option.doc << "\n" << page;
    }
  }
}

TEST(Manual, IsSoundForManGroffAndMandoc) {
  if (!std::filesystem::exists(pages)) GTEST_SKIP() << "help2man is not installed";
  std::string missing;
  if (has_program("groff"))
    EXPECT_EQ(for_each_page("groff -man -ww -z -Tutf8 \"$page\""), "");
  else
    missing += " groff";
  if (has_program("man"))
    EXPECT_EQ(for_each_page("MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -P cat \"$page\" 2>&1 >/dev/null"), "");
  else
    missing += " man";
  if (has_program("mandoc"))
    EXPECT_EQ(for_each_page("mandoc -Tlint -W warning \"$page\" | grep -v 'cannot parse date'"), "");  // pages have no date
  else
    missing += " mandoc";
  if (!missing.empty()) GTEST_SKIP() << "not installed:" << missing;
}

}  // namespace
}  // namespace patchfold::cli_test
