// SPDX-License-Identifier: Apache-2.0
// Small sound files of everything that is read, and what reads them.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace patchfold::inputs {

/// Gets a file with one number that lies, and what was done to it.
using TakeLie = std::function<void(const std::string& what, const std::string& bytes)>;

struct Sample {
  std::string name{};
  std::filesystem::path file{};    ///< that is damaged, within a folder
  std::vector<std::string> ops{};  ///< that errors may name
  /// Makes the file, and what else must be there, in a folder.
  std::function<void(const std::filesystem::path& folder)> write{};
  /// Reads all of it in every way there is; what was read, as bytes.
  std::function<std::string(const std::filesystem::path& folder)> read{};
  /// The file with each of its numbers replaced by each edge.
  std::function<void(const TakeLie& take)> lie{};
};

/// The name is enough to tell a sample in a test's output.
inline void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.name;
}

/// In builds without a format, its samples are left out.
std::vector<Sample> all_samples();

std::vector<Sample> array_samples();
std::vector<Sample> plan_samples();
std::vector<Sample> picture_samples();
std::vector<Sample> tiff_samples();

/// Every number in a text replaced by every edge, and by numbers that do not fit into 64 bits.
void lie_in_text(const std::string& text, const TakeLie& take);
/// Edges cut to so many bits.
std::vector<std::uint64_t> edges_of_bits(int bits);

}  // namespace patchfold::inputs
