// SPDX-License-Identifier: Apache-2.0
#include "cli/report.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/text.hpp"

namespace patchfold::cli {
namespace {

/// Returns 0, or the error number.
int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

int exit_code(ErrorCode code, bool in_words) noexcept {
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::unknown_operator:
    case ErrorCode::unknown_argument:
    case ErrorCode::missing: return wrong_usage;
    case ErrorCode::file_write:
    case ErrorCode::out_of_memory: return failed;
    default: return in_words ? wrong_usage : failed;
  }
}

void fail_usage(std::string_view command, std::string_view argument, std::string_view rule, std::string_view given,
                std::string_view expected) {
  throw Error({ErrorCode::usage, std::string(command), std::string(argument), std::string(rule), std::string(given),
               std::string(expected)});
}

void print(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text))
    throw Error({ErrorCode::file_write, "", "standard output", "cannot be written", std::strerror(error), ""});
}

void note(std::string_view text) noexcept {
  write_all(STDERR_FILENO, text);
}

void print_error(const Error& error) noexcept {
  print_error(error.what(), describe(error.code()).name);
}

void print_error(std::string_view message, std::string_view code) noexcept {
  try {
    std::string line = "patchfold: ";
    for (const char c : message) line += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
    if (!code.empty()) line += text_of(" [", code, "]");
    write_all(STDERR_FILENO, line + "\n");
  } catch (...) {
    write_all(STDERR_FILENO, "patchfold: out of memory\n");
  }
}

std::string shape_text(const Dims& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += text_of(text.empty() ? "" : ", ", extent);
  return text_of("(", text, shape.size() == 1 ? ",)" : ")");
}

}  // namespace patchfold::cli
