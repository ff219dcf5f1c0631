// SPDX-License-Identifier: Apache-2.0
// What the commands that take an operator share: its options, which come from the table, and the way that words are read.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patchfold/table.hpp"

namespace patchfold::cli {

/// How values are written, for the end of a help text.
inline constexpr const char* value_forms =
    "Values: N is an integer; N,.. a list with one entry for each axis; B:E,.. a list of (begin, end); padding is valid,\n"
    "same_upper, same_lower, N, a list, or a list of pairs. A dash may stand for an underscore: --kernel-size.";

/// Gives a command its usage line and the columns of its help.
void set_usage(CLI::App& app, std::string usage);
/// Reads the words that follow a command. Returns the help text if it was asked for, or nothing. Throws Error(usage).
std::string parse(CLI::App& app, std::vector<std::string> words, std::string_view command);
/// The element type of that name, or nothing for an empty text. Throws Error(usage).
std::optional<DType> parse_dtype(std::string_view command, std::string_view option, const std::string& text);

/// The value that an option has. Throws Error(type, value), which is one of usage here.
ArgumentValue parse_argument(std::string_view command, std::string_view option, ArgumentKind kind, const std::string& text);

/// One option for each argument of an operator.
class OperatorOptions {
 public:
  /// Adds the options to `app`, which must live as long.
  OperatorOptions(CLI::App& app, const OperatorSpec& op);
  OperatorOptions(const OperatorOptions&) = delete;
  OperatorOptions& operator=(const OperatorOptions&) = delete;

  /// As cli::parse(). Throws Error(unknown_argument) too, which names the options that there are.
  std::string parse(const std::vector<std::string>& words, std::string_view command);
  bool given(std::size_t argument) const { return options_[argument]->count() > 0; }
  /// Those that were given, in the operator's order. Throws Error(type).
  std::vector<Argument> arguments() const;

 private:
  CLI::App& app_;
  const OperatorSpec& op_;
  std::vector<std::string> values_;
  std::vector<CLI::Option*> options_;
};

}  // namespace patchfold::cli
