// SPDX-License-Identifier: Apache-2.0
// What all fuzz targets use. A target is a function of bytes: libFuzzer calls it with bytes that it makes, and replay.cpp with the
// files of the corpus.
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

/// Prints a fault and aborts, so that libFuzzer keeps the input.
[[noreturn]] void report(std::string_view what);

inline void expect(bool is_right, std::string_view what) {
  if (!is_right) report(what);
}

/// Checks that an error is a sentence: it has a rule and no control characters, and fits on a screen.
void check_sentence(const Error& error);

/// Runs f. Returns the code of the Error that it throws, after check_sentence(); nothing if it throws none. Any other exception
/// ends the program.
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

/// Returns the folder for the target's files, in memory if the system has such a file system. The first call makes the
/// folder, which is empty then; the end of the program removes the folder with its content.
const std::filesystem::path& folder();
/// Removes all files and folders in folder().
void clear_folder();
/// Writes a file into folder(), under the relative path `name`. Returns the file's path.
std::filesystem::path put_file(std::string_view name, std::span<const std::uint8_t> content);

}  // namespace patchfold::fuzz
