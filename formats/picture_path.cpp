// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "formats/picture.hpp"

namespace patchfold::formats {

bool is_picture_path(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

}  // namespace patchfold::formats
