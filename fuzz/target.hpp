// SPDX-License-Identifier: Apache-2.0
// Helpers of all fuzz targets. A target is a function of bytes; libFuzzer calls it with bytes of its own making, and replay.cpp
// with the files of the corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// Runs f. An Error must be a sentence: it has a rule, no control characters, and is not longer than a screen. Any other exception
/// ends the program.
template <class F>
std::optional<ErrorCode> refusal(F f);

/// Checks an error as `refusal` does.
void check_sentence(const Error& error);

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

}  // namespace patchfold::fuzz
