// SPDX-License-Identifier: Apache-2.0
// All readers and writers of files, as functions that tests run many times.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/formats/support.hpp"

namespace patchfold::faults {

/// A function that reads a file of the folder and checks the result, with a name for messages.
struct Reading {
  std::string name{};
  std::filesystem::path path{};
  std::function<void()> read{};
};

/// A function that writes a file of the folder, with equal bytes in every run, and a name for messages.
struct Writing {
  std::string name{};
  std::filesystem::path path{};
  std::function<void()> write{};
  std::string bytes{};  ///< the written bytes
};

/// Returns a reading for each reader of this build, and makes its file in the folder.
std::vector<Reading> readings(const formats::test::TempFolder& folder);
std::vector<Writing> writings(const formats::test::TempFolder& folder);

/// The content of a file before a writer replaces it.
inline constexpr const char* as_it_was = "as it was";

}  // namespace patchfold::faults
