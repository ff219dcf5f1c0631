// SPDX-License-Identifier: Apache-2.0
// Helpers of all fuzz targets. A target is a function of bytes; libFuzzer calls it with bytes of its own making, and replay.cpp
// with the files of the corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "patchfold/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace patchfold::fuzz {

/// Prints what is wrong and aborts, so that the input is kept.
[[noreturn]] void report(std::string_view what);

inline void expect(bool is_right, std::string_view what) {
  if (!is_right) report(what);
}

/// Checks that an error is a sentence: it has a rule, no control characters, and is not longer than a screen.
void check_sentence(const Error& error);

/// Runs f and checks its Error. Any other exception ends the program.
template <class F>
std::optional<ErrorCode> refusal(F f) {
  try {
    f();
    return std::nullopt;
  } catch (const Error& error) {
    check_sentence(error);
    return error.code();
  }
}

/// Returns a folder for the files of the target, in memory where the system has such a file system. It is made empty by the
/// first call and removed with its content when the program ends.
const std::filesystem::path& folder();
/// Removes the files and folders in the folder.
void clear_folder();
/// Writes a file of that name (a relative path) and returns its path.
std::filesystem::path put_file(std::string_view name, std::span<const std::uint8_t> content);

}  // namespace patchfold::fuzz
