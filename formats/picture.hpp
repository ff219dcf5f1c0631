// SPDX-License-Identifier: Apache-2.0
// Pictures: PNG (8 and 16 bit, grey, grey + alpha, RGB, RGBA) and JPEG (grey, RGB), through libpng and libjpeg.
#pragma once

#include <filesystem>

#include "formats/npy.hpp"

namespace patchfold::formats {

/// Whether the file's name ends in .png, .jpg or .jpeg, in any case.
bool is_picture_path(const std::filesystem::path& path);
/// Whether this build reads and writes pictures.
bool has_pictures() noexcept;

/// Reads a picture as H x W x C, uint8 or uint16, C always present. Palettes and 1, 2 and 4 bit greys become 8 bit.
/// The pixels are decoded straight into the memory that the view shows. Throws Error with op "png" or "jpeg".
LoadedTensor read_picture(const std::filesystem::path& path);

/// Writes H x W x C (C = 1, 2, 3, 4; JPEG 1 or 3), any strides, atomically. uint8 and uint16 are written as they are
/// (JPEG: uint8 only); floating-point values are rounded to nearest even and clipped to 0..255.
void write_picture(const std::filesystem::path& path, const ConstTensorView& picture);

}  // namespace patchfold::formats
