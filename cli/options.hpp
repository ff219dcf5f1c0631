// SPDX-License-Identifier: Apache-2.0
// Options that several commands share, among them those of operators, which come from the table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "formats/rows.hpp"
#include "patchfold/table.hpp"

namespace patchfold::cli {

/// Explains the forms of values at the end of a help text.
inline constexpr const char* value_forms =
    "Values: N is an integer; N,.. a list with one entry for each axis; B:E,.. a list of (begin, end); padding is valid,\n"
    "same_upper, same_lower, N, a list, or a list of pairs. A dash may stand for an underscore: --kernel-size.";

/// The options that say what a command reports: -q and --json.
void add_reporting(Command& command, Reporting& reporting);
/// The option that says how many threads run.
void add_threads(Command& command, int& threads);
/// The option that says the format of a result whose name does not, and what the value is read into: `format_of_output`.
Command::Option add_format(Command& command, std::string& format);
/// The format of a result: as its name says, otherwise as the option says, otherwise .npy where data goes to a stream.
/// Throws Error(usage), also for a stream that is a terminal. `option`: what names the result, "-o" or "OUT".
formats::FileFormat format_of_output(std::string_view command, std::string_view option, const std::string& output,
                                     const std::string& format);
/// Element types, for completions.
std::vector<std::string> dtype_names();

/// The element type of that name, or nothing for an empty text. Throws Error(usage).
std::optional<DType> parse_dtype(std::string_view command, std::string_view option, const std::string& text);

/// The value that an option has. Throws Error(type, value), which is one of usage here.
ArgumentValue parse_argument(std::string_view command, std::string_view option, ArgumentKind kind, const std::string& text);

/// One option for each argument of an operator.
class OperatorOptions {
 public:
  /// Adds the options to `command`, which must live as long.
  OperatorOptions(Command& command, const OperatorSpec& op);
  OperatorOptions(const OperatorOptions&) = delete;
  OperatorOptions& operator=(const OperatorOptions&) = delete;

  /// Reads words as Command::parse() does. Throws Error(unknown_argument) too, which names the options that there are.
  std::string parse(const std::vector<std::string>& words);
  bool given(std::size_t argument) const { return command_.given(options_[argument]); }
  /// Those that were given, in the operator's order. Throws Error(type).
  std::vector<Argument> arguments() const;

 private:
  Command& command_;
  const OperatorSpec& op_;
  std::vector<std::string> values_;
  std::vector<Command::Option> options_;
};

}  // namespace patchfold::cli
