// SPDX-License-Identifier: Apache-2.0
// Small sound files of every kind that is read, and their readers.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace patchfold::inputs {

/// Takes a file with one false number, and the description of the change.
using TakeLie = std::function<void(const std::string& what, const std::string& bytes)>;

struct Sample {
  std::string name{};
  std::filesystem::path file{};    ///< the file to damage, relative to a folder
  std::vector<std::string> ops{};  ///< operations that errors may name
  /// Writes the file, and the other files that it needs, to a folder.
  std::function<void(const std::filesystem::path& folder)> write{};
  /// Reads everything in every possible way; returns the content as bytes.
  std::function<std::string(const std::filesystem::path& folder)> read{};
  /// Calls `take` for the file with each of its numbers replaced by each edge.
  std::function<void(const TakeLie& take)> lie{};
};

/// Prints the name of a sample in a test's output.
inline void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.name;
}

/// Returns all samples; a build without a format has no samples of it.
std::vector<Sample> all_samples();

std::vector<Sample> array_samples();
std::vector<Sample> plan_samples();
std::vector<Sample> picture_samples();
std::vector<Sample> tiff_samples();

/// Calls `take` for every number of a text, replaced by every edge, and by numbers of more than 64 bits.
void lie_in_text(const std::string& text, const TakeLie& take);
/// Returns the edges, cut to this many bits.
std::vector<std::uint64_t> edges_of_bits(int bits);

}  // namespace patchfold::inputs
