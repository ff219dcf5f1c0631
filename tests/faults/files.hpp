// SPDX-License-Identifier: Apache-2.0
// Everything that reads or writes a file, ready to be done again and again.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/formats/support.hpp"

namespace patchfold::faults {

/// Reads a file of the folder and checks what it gets.
struct Reading {
  std::string name{};
  std::filesystem::path path{};
  std::function<void()> read{};
};

/// Writes a file of the folder: the same bytes every time.
struct Writing {
  std::string name{};
  std::filesystem::path path{};
  std::function<void()> write{};
  std::string bytes{};  ///< that it writes
};

/// What this build reads and writes.
std::vector<Reading> readings(const formats::test::TempFolder& folder);
std::vector<Writing> writings(const formats::test::TempFolder& folder);

/// What stood at a path before somebody writes there.
inline constexpr const char* as_it_was = "as it was";

}  // namespace patchfold::faults
