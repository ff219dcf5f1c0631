// SPDX-License-Identifier: Apache-2.0
// What the program prints. Standard output gets the result of a command: data, lists, explanations, forecasts, figures, and the
// JSON of --json. Standard error gets reports, progress and errors.
#pragma once

#include <string>
#include <string_view>

#include "cli/json.hpp"
#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::cli {

/// Returns whether standard error is a terminal on which a line can be rewritten; with TERM=dumb it is not.
bool has_terminal() noexcept;
/// Returns the characters in a line of the terminal; 80 if unknown.
int terminal_width() noexcept;

enum class Colour { green = 32, red = 31 };
/// Returns the text in a colour if standard error shows colours, else unchanged. There are no colours without a terminal, or if
/// NO_COLOR is set and not empty (https://no-color.org). Colours only repeat what words say.
std::string in_colour(Colour colour, std::string_view text);

/// Exit codes. wrong_usage: the command line is wrong. failed: every other error.
inline constexpr int done = 0;
inline constexpr int failed = 1;
inline constexpr int wrong_usage = 2;

/// Returns the exit code for an error. `in_words`: the error was found while the command line was read, before any file was
/// opened.
int exit_code(ErrorCode code, bool in_words) noexcept;
/// Throws Error(usage) with the given parts.
[[noreturn]] void fail_usage(std::string_view command, std::string_view argument, std::string_view rule,
                             std::string_view given = {}, std::string_view expected = {}, ErrorValue hint = {});

/// Writes to standard output at once; throws Error(file_write).
void print(std::string_view text);
/// Writes to standard error at once; a failure is ignored.
void note(std::string_view text) noexcept;
/// Writes "patchfold: MESSAGE [CODE]" to standard error, as one line whatever the message holds; with `json` a JSON object.
void print_error(const Error& error, int exit_code, bool json) noexcept;
/// Writes a message as "patchfold: MESSAGE [CODE]", without [CODE] if `code` is empty; with `json` a JSON object.
void print_error(std::string_view message, std::string_view code, int exit_code, bool json) noexcept;

/// How a command reports that its work is done.
struct Reporting {
  bool quiet = false;
  bool json = false;

  /// Reports a command that wrote `output`: a line on standard error, or JSON on standard output. If standard output got the data,
  /// the JSON goes to standard error.
  void report(std::string_view output, const std::string& line, const JsonObject& object) const;
  /// Prints the result of --dry-run on standard output; on standard error if the data would go to standard output.
  void forecast(std::string_view output, const std::string& line, const JsonObject& object) const;
};
/// Returns whether data that is written to this path goes to standard output.
bool is_standard_output(std::string_view path) noexcept;
/// Returns "standard output" for "-", otherwise the path.
std::string output_name(std::string_view path);

}  // namespace patchfold::cli
