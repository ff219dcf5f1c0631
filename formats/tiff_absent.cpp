// SPDX-License-Identifier: Apache-2.0
// The functions for TIFF files in builds without PATCHFOLD_WITH_TIFF.
#include "formats/picture.hpp"
#include "formats/row_codecs.hpp"

namespace patchfold::formats {

bool has_tiff() noexcept {
  return false;
}

std::unique_ptr<RowReader> open_tiff(InputFile, const std::filesystem::path& path, std::optional<int>, int) {
  Subject{"tiff", path}.fail(ErrorCode::file_unsupported, "cannot be read: this build reads no TIFF files");
}

std::unique_ptr<RowWriter> create_tiff(const std::filesystem::path& path, const Dims&, const ElementType&,
                                       const WriteOptions&) {
  Subject{"tiff", path}.fail(ErrorCode::file_unsupported, "cannot be written: this build writes no TIFF files");
}

}  // namespace patchfold::formats
