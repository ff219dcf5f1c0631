// SPDX-License-Identifier: Apache-2.0
// Makes new folders in the system's folder for temporary files.
#pragma once

#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>

namespace patchfold::tests {

/// Returns a new, empty folder whose name begins with `begin`.
inline std::filesystem::path make_temporary_folder(const std::string& begin) {
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto path = std::filesystem::temp_directory_path() / (begin + std::to_string(random()));
    if (!std::filesystem::create_directory(path)) continue;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  throw std::runtime_error("no temporary folder");
}

}  // namespace patchfold::tests
