// SPDX-License-Identifier: Apache-2.0
// The manual pages: what they hold, and that man, groff and mandoc find nothing to complain about.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cli/commands.hpp"
#include "patchfold/table.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

/// What a command of the shell prints that is run for each page, as `page`.
std::string for_each_page(const Folder& folder, const std::string& command) {
  const std::string whole =
      "cd '" + folder.path("").string() + "' && for page in pages/man?/*; do " + command + "; done > out 2>&1";
  EXPECT_NE(std::system(whole.c_str()), -1);
  return folder.read("out");
}

/// Without the marks of roff, and blanks and line ends as one blank.
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

// claim: manual-pages
TEST(Manual, HasAPageForEveryCommandWithItsOptions) {
  const Folder folder;
  EXPECT_EQ(folder.run("man").out, folder.run("man patchfold").out);
  const std::string overview = plain(folder.run("man").out);
  for (const auto& command : cli::commands()) {
    const std::string name(command.name);
    EXPECT_NE(overview.find("patchfold-" + name + " (1)"), std::string::npos) << name;
    const std::string page = plain(folder.run("man " + name).out);
    EXPECT_NE(page.find(" patchfold-" + name + " - " + std::string(command.summary)), std::string::npos) << page;
    for (const cli::OptionInfo& option : command.info().options) {
      EXPECT_NE(page.find(option.names.back()), std::string::npos) << option.names.back();
      std::string doc = option.doc;
      std::replace(doc.begin(), doc.end(), '\n', ' ');
      EXPECT_NE(page.find(doc), std::string::npos) << option.doc << "\n" << page;
    }
  }
}

// claim: manual-pages
TEST(Manual, ListsEveryOperatorWithItsArguments) {
  const std::string page = plain(Folder().run("man operators").out);
  std::size_t at = 0;
  for (const auto& op : operators()) {
    at = page.find(".SS " + std::string(op.name) + " " + std::string(op.doc), at);
    ASSERT_NE(at, std::string::npos) << op.name;
    for (const auto& argument : op.arguments) {
      const std::string entry = ".TP --" + std::string(argument.name) + " " + std::string(name_of(argument.kind));
      EXPECT_LT(page.find(entry, at), page.find(".SS ", at + 1)) << op.name << " " << entry;
    }
  }
}

// claim: manual-pages
TEST(Manual, IsSoundForManGroffAndMandoc) {
  const Folder folder;
  ASSERT_EQ(folder.run("man --all pages").code, 0);
  EXPECT_EQ(entries_of(folder, "pages/man7"), "patchfold-operators.7");
  EXPECT_EQ(count_of(entries_of(folder, "pages/man1"), "patchfold"), cli::commands().size() + 1);
  EXPECT_EQ(folder.read("pages/man1/patchfold-split.1"), folder.run("man split").out);
  std::string missing;
  if (has_program("groff"))
    EXPECT_EQ(for_each_page(folder, "groff -man -ww -z -Tutf8 \"$page\""), "");
  else
    missing += " groff";
  if (has_program("man"))
    EXPECT_EQ(for_each_page(folder, "MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -P cat \"$page\" 2>&1 >/dev/null"),
              "");
  else
    missing += " man";
  if (has_program("mandoc"))
    EXPECT_EQ(for_each_page(folder, "mandoc -Tlint -W warning \"$page\""), "");
  else
    missing += " mandoc";
  if (!missing.empty()) GTEST_SKIP() << "not installed:" << missing;
}

TEST(Manual, RefusesWhatIsNoPage) {
  const Folder folder;
  run_badly(folder, "man splt", {"man: PAGE: there is no page of this name", "splt", "split"}, 2);
  run_badly(folder, "man split --all pages", {"man"}, 2);
  folder.write("file", "");
  run_badly(folder, "man --all file", {"file/man1", "cannot be made"});
}

}  // namespace
}  // namespace patchfold::cli_test
