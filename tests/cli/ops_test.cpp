// SPDX-License-Identifier: Apache-2.0
// Tests the lists of operators, help and version.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "formats/picture.hpp"
#include "patchfold/table.hpp"
#include "patchfold/version.hpp"
#include "tests/cli/program.hpp"

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

/// Skips one JSON value; returns its end, or npos if there is none.
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

/// Runs the examples of --help unchanged.
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

}  // namespace
}  // namespace patchfold::cli_test
