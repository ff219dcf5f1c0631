// SPDX-License-Identifier: Apache-2.0
// Options that several commands share, and the options of operators, which are made from the operator table.
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

/// The example in an operator's row of the operator table, as a command line.
struct Example {
  std::string command{};  ///< "patchfold run fold columns.npy --output_size 4,4 --kernel_size 2,2 -o output.npy"
  std::string options{};  ///< the options in `command`: " --output_size 4,4 --kernel_size 2,2"
  Dims shape{};           ///< shape of the data input
  Dims output{};          ///< shape of the output
};

Example example_of(const OperatorSpec& op);

/// The end of a help text: how values are written.
inline constexpr const char* value_forms =
    "Values: N is an integer; N,.. a list with one entry for each axis; B:E,.. a list of (begin, end); padding is valid,\n"
    "same_upper (same), same_lower, N, a list, or a list of pairs. A dash may stand for an underscore: --kernel-size.";

/// Adds the options for the report of a command: -q and --json.
void add_reporting(Command& command, Reporting& reporting);
/// Adds the option for the number of threads.
void add_threads(Command& command, int& threads);
/// Adds the option for the format of a result whose name has no known extension; format_of_output() reads it.
void add_format(Command& command, std::string& format);
/// Returns the format of a result: by its name, else by the option, else .npy for a stream. `option` names the result: "-o" or
/// "OUT". Throws Error(usage), also for a stream that is a terminal.
formats::FileFormat format_of_output(std::string_view command, std::string_view option, const std::string& output,
                                     const std::string& format);
/// Returns the names of all element types, for completions.
std::vector<std::string> dtype_names();

/// Returns the element type with this name; nothing if the text is empty. Throws Error(usage).
std::optional<DType> parse_dtype(std::string_view command, std::string_view option, const std::string& text);

/// Returns the value that a text stands for. Throws Error(type, value), which commands report as errors of usage.
ArgumentValue parse_argument(std::string_view command, std::string_view option, ArgumentKind kind, const std::string& text);

/// The options of an operator, one for each argument.
class OperatorOptions {
 public:
  /// Adds the options to `command`, which must live as long as this object.
  OperatorOptions(Command& command, const OperatorSpec& op);
  OperatorOptions(const OperatorOptions&) = delete;
  OperatorOptions& operator=(const OperatorOptions&) = delete;

  /// Reads words as Command::parse() does. Throws Error(unknown_argument) too, which names the known options.
  std::string parse(const std::vector<std::string>& words);
  bool given(std::size_t argument) const { return command_.given(options_[argument]); }
  /// Returns the arguments from the command line, in the operator's order. Throws Error(type).
  std::vector<Argument> arguments() const;

 private:
  Command& command_;
  const OperatorSpec& op_;
  std::vector<std::string> values_;
  std::vector<Command::Option> options_;
};

}  // namespace patchfold::cli
