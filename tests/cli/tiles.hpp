// SPDX-License-Identifier: Apache-2.0
// Pictures and helpers for the tests of split and merge.
#pragma once

#include <string>
#include <vector>

#include "formats/npy.hpp"
#include "tests/cli/program.hpp"

namespace patchfold::cli_test {

/// Returns noise that is the same in every call.
std::vector<std::byte> noise(std::size_t bytes);

/// A picture or an array: its shape, type and bytes.
struct Array {
  Dims shape{};
  DType dtype = DType::uint8;
  std::vector<std::byte> bytes{};
  friend bool operator==(const Array&, const Array&) = default;
};

/// Returns an array of noise; floats are numbers from 0 to 255.
Array random_array(const Dims& shape, DType dtype);
/// Writes an array in the format that the name implies.
void write_array(const Folder& folder, const std::string& name, const Array& array);
Array read_array(const Folder& folder, const std::string& name);
/// Returns the names in a subfolder, sorted: "a.png b.png".
std::string entries_of(const Folder& folder, const std::string& name);
std::size_t count_of(const std::string& text, const std::string& part);

/// Returns whether the system has a program of that name.
bool has_program(const std::string& name);
/// Runs a command, expects success, and returns what it prints: its output or its report.
std::string run_well(const Folder& folder, const std::string& command);
/// Runs a command. Expects exit code `code`, one line on standard error that contains every fragment, and an unchanged
/// folder.
void run_badly(const Folder& folder, const std::string& command, const std::vector<std::string>& fragments, int code = 1);

}  // namespace patchfold::cli_test
