// SPDX-License-Identifier: Apache-2.0
// Tests that the manual pages have every option, and that man, groff and mandoc accept the pages without warnings.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/commands.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

const std::filesystem::path pages = PATCHFOLD_PAGES;

/// Runs a shell command for each page, whose path is in $page, and returns the output.
std::string for_each_page(const std::string& command) {
  const Folder folder;
  const std::string whole =
      "for page in '" + pages.string() + "'/*; do " + command + "; done > '" + folder.path("out").string() + "' 2>&1";
  EXPECT_NE(std::system(whole.c_str()), -1);
  return folder.read("out");
}

/// Returns a page without the marks of roff, with one blank in place of each run of blanks and line ends.
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
      if (name == "explain") continue;  // the help of explain shows its options in sentences
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
    EXPECT_EQ(for_each_page("mandoc -Tlint -W warning \"$page\" | grep -v 'cannot parse date'"), "");  // pages have no day
  else
    missing += " mandoc";
  if (!missing.empty()) GTEST_SKIP() << "not installed:" << missing;
}

}  // namespace
}  // namespace patchfold::cli_test
