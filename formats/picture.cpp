// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"

#include "formats/row_codecs.hpp"

namespace patchfold::formats {

bool is_picture_path(const std::filesystem::path& path) {
  return format_of_name(path).value_or(FileFormat::npy) != FileFormat::npy;
}

LoadedTensor read_picture(const std::filesystem::path& path, std::optional<int> page, Metadata* metadata) {
  const auto reader = open_picture(path, page);
  const std::int64_t height = reader->shape()[0];
  auto memory = allocate(height * reader->row_bytes(), {"picture", path});
  reader->read(height, memory.get());
  const ElementType& type = reader->type();
  if (metadata != nullptr) *metadata = reader->metadata();
  return {{memory.get(), reader->shape(), dense_strides(reader->shape(), type.size), type.dtype, type.size},
          type,
          std::move(memory)};
}

std::vector<std::string> write_picture(const std::filesystem::path& path, const ConstTensorView& picture,
                                       const WriteOptions& options) {
  if (!options.format && !is_picture_path(path))
    Subject{"picture", path}.fail(ErrorCode::file_unsupported, "must end in .png, .jpg, .jpeg, .tif or .tiff",
                                  path.extension().string());
  const auto writer = create_rows(path, picture.shape, element_type(picture.dtype), options);
  writer->write(picture);
  writer->commit();
  return writer->losses();
}

}  // namespace patchfold::formats
