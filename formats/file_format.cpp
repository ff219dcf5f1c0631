// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "formats/picture.hpp"
#include "formats/row_codecs.hpp"

namespace patchfold::formats {

std::optional<FileFormat> format_of_name(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (extension == ".npy") return FileFormat::npy;
  if (extension == ".png") return FileFormat::png;
  if (extension == ".jpg" || extension == ".jpeg") return FileFormat::jpeg;
  if (extension == ".tif" || extension == ".tiff") return FileFormat::tiff;
  return std::nullopt;
}

bool is_picture_path(const std::filesystem::path& path) {
  return format_of_name(path).value_or(FileFormat::npy) != FileFormat::npy;
}

}  // namespace patchfold::formats
