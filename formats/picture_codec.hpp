// SPDX-License-Identifier: Apache-2.0
// What a codec offers to picture.cpp. The codecs call C libraries that report errors by longjmp: their functions that call
// setjmp own nothing that a destructor would have to release.
#pragma once

#include "formats/file.hpp"
#include "formats/picture.hpp"

namespace patchfold::formats {

/// A picture on its way into a file: rows of uint8, or of uint16 in native byte order.
class PixelRows {
 public:
  /// Throws Error(rank, shape, dtype) if it is no picture. Pixels that are floating-point numbers become uint8.
  PixelRows(const ConstTensorView& picture, const Subject& subject);

  std::int64_t height() const noexcept { return picture_.shape[0]; }
  std::int64_t width() const noexcept { return picture_.shape[1]; }
  int channels() const noexcept { return static_cast<int>(picture_.shape[2]); }
  /// Bytes of a sample: 1 or 2.
  int depth() const noexcept { return picture_.dtype == DType::uint16 ? 2 : 1; }
  std::size_t row_bytes() const noexcept { return static_cast<std::size_t>(width() * channels() * depth()); }
  void copy_row(std::int64_t y, std::byte* dst) const noexcept;

 private:
  ConstTensorView picture_;
};

/// "640 x 480 pixels".
std::string pixels_text(std::int64_t width, std::int64_t height);

/// Memory for a picture, and the tensor that shows it. `data` is where its rows go.
LoadedTensor new_picture(std::int64_t height, std::int64_t width, int channels, DType dtype, const Subject& subject,
                         std::byte*& data);

LoadedTensor read_png(const FileBytes& file, const Subject& subject);
LoadedTensor read_jpeg(const FileBytes& file, const Subject& subject);
void write_png(const PixelRows& rows, const Subject& subject);
void write_jpeg(const PixelRows& rows, const Subject& subject);

}  // namespace patchfold::formats
