// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "cli/commands.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "patchfold/table.hpp"
#include "patchfold/version.hpp"
#include "src/base/nearest.hpp"
#include "system/process.hpp"

namespace patchfold::cli {
namespace {

/// Throws Error(usage) for an unknown command; `names` is the list of all commands.
[[noreturn]] void refuse_command(const std::string& word, const std::string& names) {
  Nearest nearest(word);
  for (const auto& entry : commands()) nearest.offer(entry.name);
  for (const std::string_view option : {"--help", "--version"}) nearest.offer(option);
  const bool is_operator = std::ranges::any_of(operators(), [&](const OperatorSpec& op) { return op.name == word; });
  ErrorValue hint;
  if (is_operator)
    hint = {"operators are run: patchfold run ", word, " INPUT -o OUT"};
  else if (!nearest.found().empty())
    hint = {"did you mean ", nearest.found(), "?"};
  fail_usage({}, word, "is not a command", {}, hint.empty() ? names : "", hint);
}

void run_command(const std::vector<std::string>& words, bool& in_words) {
  std::string names;
  for (const auto& entry : commands())
    names += text_of(names.empty() ? "" : &entry == &commands().back() ? " or " : ", ", entry.name);
  if (words.empty()) {
    print(program_help());
    fail_usage("", "", "a command is needed", "", names);
  }
  const std::string& command = words.front();
  for (const auto& entry : commands())
    if (entry.name == command) return entry.run({words.begin() + 1, words.end()}, in_words);
  if (command == "--help" || command == "-h" || command == "help")
    print(program_help());
  else if (command == "--version")
    print("patchfold " PATCHFOLD_VERSION_STRING "\n");
  else if (command == "__complete")
    print(candidates({words.begin() + 1, words.end()}));
  else
    refuse_command(command, names);
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  bool in_words = true;
  try {
    run_command(words, in_words);
    return done;
  } catch (const Error& error) {
    const bool is_output = error.argument() == "standard output" || is_standard_output(error.argument());
    if (error.code() == ErrorCode::file_write && is_output) system::end_if_nothing_reads();
    const int code = exit_code(error.code(), in_words);
    print_error(error, code, json);
    return code;
  } catch (const std::bad_alloc&) {
    print_error("out of memory", describe(ErrorCode::out_of_memory).name, failed, json);
  } catch (const std::exception& error) {
    print_error(error.what(), "", failed, json);
  }
  return failed;
}

}  // namespace patchfold::cli
