// SPDX-License-Identifier: Apache-2.0
// Whole pictures: PNG (8 and 16 bit, grey, grey + alpha, RGB, RGBA), JPEG (grey, RGB) and TIFF, through libpng, libjpeg and
// libtiff.
#pragma once

#include <filesystem>
#include <optional>

#include "formats/rows.hpp"

namespace patchfold::formats {

/// Returns whether the file's name ends in .png, .jpg, .jpeg, .tif or .tiff, in any case.
bool is_picture_path(const std::filesystem::path& path);
/// Returns whether this build reads and writes PNG and JPEG.
bool has_pictures() noexcept;
/// Returns whether this build reads and writes TIFF.
bool has_tiff() noexcept;

/// Returns a picture as H x W x C, also for C = 1: uint8 or uint16 from PNG and JPEG, any type that TIFF files hold. `metadata`
/// gets the metadata of the file. Palettes become RGB of 8 bits, CMYK becomes RGB, and greys of 1, 2 and 4 bits become 8 bits.
/// `page` and `level` have the same meanings as in open_rows. Throws Error with op "picture", "png", "jpeg" or "tiff".
LoadedTensor read_picture(const std::filesystem::path& path, std::optional<int> page = std::nullopt,
                          Metadata* metadata = nullptr, int level = 0);

/// Writes a picture of H x W x C, of any strides, with the conversions of create_rows. The file appears complete or not at all. C
/// is 1 to 4 for PNG, 1 or 3 for JPEG. Returns RowWriter::losses().
std::vector<std::string> write_picture(const std::filesystem::path& path, const ConstTensorView& picture,
                                       const WriteOptions& options = {});

/// Returns the bytes of a JPEG file with the picture H x W x C. Errors name `path`.
std::vector<std::byte> encode_jpeg(const std::filesystem::path& path, const ConstTensorView& picture,
                                   const WriteOptions& options);

}  // namespace patchfold::formats
