// SPDX-License-Identifier: Apache-2.0
// All readers and writers of files, as functions that tests run many times.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/formats/support.hpp"

namespace patchfold::faults {

/// The name of a reading for messages, a file, and a function that reads the file and checks the result.
struct Reading {
  std::string name{};
  std::filesystem::path path{};
  std::function<void()> read{};
};

/// The name of a writing for messages, a file, and a function that writes the file with equal bytes in every run.
struct Writing {
  std::string name{};
  std::filesystem::path path{};
  std::function<void()> write{};
  std::string bytes{};  ///< the written bytes
  int files = 1;        ///< the number of files that are written under temporary names at the same time
};

/// Returns a reading for each reader of this build, and makes the file of each reading in the folder.
std::vector<Reading> readings(const formats::test::TempFolder& folder);
std::vector<Writing> writings(const formats::test::TempFolder& folder);

/// The content of a file before a writer replaces it.
inline constexpr const char* as_it_was = "as it was";

}  // namespace patchfold::faults
