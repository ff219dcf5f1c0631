// SPDX-License-Identifier: Apache-2.0
// Small valid files of every kind that patchfold reads, and their readers.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace patchfold::inputs {

/// A function of a file with one false number. Its arguments are a description of the change, and the bytes of the file.
using TakeLie = std::function<void(const std::string& what, const std::string& bytes)>;

struct Sample {
  std::string name{};
  std::filesystem::path file{};    ///< the file to damage, relative to a folder
  std::vector<std::string> ops{};  ///< the operations that errors may name
  /// Writes the file, and the other files that it needs, to a folder.
  std::function<void(const std::filesystem::path& folder)> write{};
  /// Reads the whole file in every possible way; returns the content as bytes.
  std::function<std::string(const std::filesystem::path& folder)> read{};
  /// Calls `take` for copies of the file in which one number is replaced by an edge, which is a number near the limit of a
  /// type.
  std::function<void(const TakeLie& take)> lie{};
};

/// Prints the name of a sample in a test's output.
inline void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.name;
}

/// Returns the samples of all formats of this build.
std::vector<Sample> all_samples();

std::vector<Sample> array_samples();
std::vector<Sample> plan_samples();
std::vector<Sample> picture_samples();
std::vector<Sample> tiff_samples();

/// Calls `take` for copies of a text in which one number is replaced by an edge, or by a number of more than 64 bits.
void lie_in_text(const std::string& text, const TakeLie& take);
/// Returns the lowest `bits` bits and the highest `bits` bits of every edge.
std::vector<std::uint64_t> edges_of_bits(int bits);

}  // namespace patchfold::inputs
