// SPDX-License-Identifier: Apache-2.0
// The program's output. Standard output has the answer of a command: data, lists, explanations, forecasts, figures, and with
// --json the JSON. Standard error has words about the work: reports, progress and errors.
#pragma once

#include <string>
#include <string_view>

#include "cli/json.hpp"
#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::cli {

/// Exit codes. wrong_usage: the command line alone shows the error. failed: everything that is found with the data.
inline constexpr int done = 0;
inline constexpr int failed = 1;
inline constexpr int wrong_usage = 2;

/// The exit code for an error; `in_words`: it is found while the command line is read, and no file is.
int exit_code(ErrorCode code, bool in_words) noexcept;
/// Throws Error(usage).
[[noreturn]] void fail_usage(std::string_view command, std::string_view argument, std::string_view rule,
                             std::string_view given = {}, std::string_view expected = {});

/// Writes to standard output at once; throws Error(file_write).
void print(std::string_view text);
/// Writes to standard error at once; a failure is ignored.
void note(std::string_view text) noexcept;
/// Writes "patchfold: MESSAGE [CODE]" as one line to standard error, whatever characters the message holds; with `json` an
/// object.
void print_error(const Error& error, int exit_code, bool json) noexcept;
/// Writes the same, without a code where that is empty.
void print_error(std::string_view message, std::string_view code, int exit_code, bool json) noexcept;

/// Reports the work of a command when it is done.
struct Reporting {
  bool quiet = false;
  bool json = false;

  /// The report of a command that wrote `output`: a line on standard error, or JSON on standard output; on standard error
  /// too if that is where the data went.
  void report(std::string_view output, const std::string& line, const JsonObject& object) const;
  /// The answer to --dry-run: on standard output, unless data would go there.
  void forecast(std::string_view output, const std::string& line, const JsonObject& object) const;
};
/// Returns whether data that is written to this path goes to standard output.
bool is_standard_output(std::string_view path) noexcept;
/// "standard output" for "-", otherwise the path.
std::string output_name(std::string_view path);

/// "(1, 27, 49)", "(3,)", "()": as Python writes a shape.
std::string shape_text(const Dims& shape);

}  // namespace patchfold::cli
