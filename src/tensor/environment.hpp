// SPDX-License-Identifier: Apache-2.0
// Environment variables. An unusable value counts as not set, and is reported once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "base/printable.hpp"

namespace patchfold {

class EnvironmentVariable {
 public:
  constexpr explicit EnvironmentVariable(const char* name) noexcept : name_(name) {}

  /// Returns the variable's value; null if it is unset or empty.
  const char* value() const noexcept {
    const char* const text = std::getenv(name_);
    return text == nullptr || *text == 0 ? nullptr : text;
  }
  /// Writes to standard error, at the first call only, that the value is not used, and which form it must have. This message is the
  /// only output of the library, since no call could return it to the person who set the variable.
  void ignore(const char* expected) noexcept {
    const char* const text = value();
    if (text == nullptr || is_ignored_.exchange(true, std::memory_order_relaxed)) return;
    std::array<char, 200> shown;  // not a string, since kernels must not allocate memory
    const std::size_t size = cut_of(text, shown.size());
    for (std::size_t i = 0; i < size; ++i) shown[i] = printable(text[i]);
    std::fprintf(stderr, "patchfold: %s=%.*s is ignored: must be %s\n", name_, static_cast<int>(size), shown.data(), expected);
  }

 private:
  const char* name_;
  std::atomic<bool> is_ignored_{false};
};

}  // namespace patchfold
