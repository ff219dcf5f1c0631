// SPDX-License-Identifier: Apache-2.0
// For builds without PATCHFOLD_WITH_PICTURES.
#include "formats/file.hpp"
#include "formats/picture.hpp"

namespace patchfold::formats {

bool has_pictures() noexcept {
  return false;
}

LoadedTensor read_picture(const std::filesystem::path& path) {
  Subject{"picture", path}.fail(ErrorCode::file_unsupported, "cannot be read: this build reads no pictures");
}

void write_picture(const std::filesystem::path& path, const ConstTensorView&) {
  Subject{"picture", path}.fail(ErrorCode::file_unsupported, "cannot be written: this build writes no pictures");
}

}  // namespace patchfold::formats
