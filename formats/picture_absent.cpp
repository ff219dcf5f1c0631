// SPDX-License-Identifier: Apache-2.0
// The functions of picture.hpp for builds without PATCHFOLD_WITH_PICTURES.
#include "formats/picture.hpp"
#include "formats/row_codecs.hpp"

namespace patchfold::formats {
namespace {

[[noreturn]] void refuse_to_read(const std::filesystem::path& path) {
  Subject{"picture", path}.fail(ErrorCode::file_unsupported, "cannot be read: this build reads no PNG and JPEG pictures");
}

[[noreturn]] void refuse_to_write(const std::filesystem::path& path) {
  Subject{"picture", path}.fail(ErrorCode::file_unsupported,
                                "cannot be written: this build writes no PNG and JPEG pictures");
}

}  // namespace

bool has_pictures() noexcept {
  return false;
}

std::unique_ptr<RowReader> open_png(InputFile, const std::filesystem::path& path) {
  refuse_to_read(path);
}
std::unique_ptr<RowReader> open_jpeg(InputFile, const std::filesystem::path& path) {
  refuse_to_read(path);
}
std::vector<std::byte> encode_jpeg(const std::filesystem::path& path, const ConstTensorView&, const WriteOptions&) {
  refuse_to_write(path);
}
std::unique_ptr<RowWriter> create_png(const std::filesystem::path& path, const Dims&, const ElementType&,
                                      const WriteOptions&) {
  refuse_to_write(path);
}
std::unique_ptr<RowWriter> create_jpeg(const std::filesystem::path& path, const Dims&, const ElementType&,
                                       const WriteOptions&) {
  refuse_to_write(path);
}

}  // namespace patchfold::formats
