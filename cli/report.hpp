// SPDX-License-Identifier: Apache-2.0
// What the program says: text on standard output, errors as one line on standard error, exit codes.
#pragma once

#include <string>
#include <string_view>

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
/// Writes "patchfold: MESSAGE [CODE]" as one line to standard error, whatever characters the message holds.
void print_error(const Error& error) noexcept;
/// Without a code where that is empty.
void print_error(std::string_view message, std::string_view code = {}) noexcept;

/// "(1, 27, 49)", "(3,)", "()": as Python writes a shape.
std::string shape_text(const Dims& shape);

}  // namespace patchfold::cli
