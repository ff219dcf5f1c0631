// SPDX-License-Identifier: Apache-2.0
// Helpers of all fuzz targets. A target is a function of bytes; libFuzzer calls it with bytes that libFuzzer makes, and replay.cpp
// with the files of the corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "patchfold/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace patchfold::fuzz {

/// Prints the fault and aborts, so that the input is kept.
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

/// Returns a folder for the files of the target, in memory where the system has such a file system. The first call makes an empty
/// folder; the end of the program removes the folder with its content.
const std::filesystem::path& folder();
/// Removes the files and folders in the folder.
void clear_folder();
/// Writes a file with the name, a relative path, into the folder. Returns the file's path.
std::filesystem::path put_file(std::string_view name, std::span<const std::uint8_t> content);

}  // namespace patchfold::fuzz
