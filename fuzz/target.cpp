// SPDX-License-Identifier: Apache-2.0
#include "fuzz/target.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace patchfold::fuzz {

void report(std::string_view what) {
  std::fprintf(stderr, "WRONG: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

void check_sentence(const Error& error) {
  const std::string_view message = error.what();
  expect(!error.rule().empty(), "an error without a rule: " + std::string(message));
  expect(message.size() < 4000, "an error of " + std::to_string(message.size()) + " characters");
  expect(std::none_of(message.begin(), message.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }),
         "an error with control characters: " + std::string(message));
}

}  // namespace patchfold::fuzz
