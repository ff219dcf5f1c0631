// SPDX-License-Identifier: Apache-2.0
// Basics of the codecs of pictures. PNG's and JPEG's call C libraries that report errors by longjmp: their functions that
// call setjmp own nothing that a destructor would have to release, and each one that reaches the library calls setjmp anew.
#pragma once

#include <limits>

#include "formats/row_codecs.hpp"

namespace patchfold::formats {

/// Rows of H x W x C on their way into a PNG or JPEG file: uint8, or uint16 in native byte order.
class PixelRows {
 public:
  /// Throws Error(rank, shape, dtype, value) if the tensor is not a picture. Floating-point pixels become uint8: those of
  /// `range`, or of 0 to 255.
  PixelRows(const Dims& shape, DType dtype, const std::optional<ValueRange>& range, const Subject& subject);

  std::int64_t height() const noexcept { return shape_[0]; }
  std::int64_t width() const noexcept { return shape_[1]; }
  int channels() const noexcept { return static_cast<int>(shape_[2]); }
  /// Bytes of a sample: 1 or 2.
  int depth() const noexcept { return dtype_ == DType::uint16 ? 2 : 1; }
  std::size_t row_bytes() const noexcept { return static_cast<std::size_t>(width() * channels() * depth()); }
  void copy_row(const ConstTensorView& rows, std::int64_t y, std::byte* dst) noexcept;
  /// To be called after all rows. Throws Error(value) if no range was given and floating-point numbers that all lie at or
  /// below 1, as where 1 is white, would be black.
  void check_brightness(const Subject& subject) const;
  /// Numbers that became 0 or 255 because they lie beyond; NaN too.
  std::int64_t clipped() const noexcept { return clipped_; }
  const ValueRange& range() const noexcept { return range_; }

 private:
  std::uint8_t pixel_of(double value) noexcept;

  Dims shape_;
  DType dtype_;
  ValueRange range_;
  bool has_range_;
  double lowest_ = std::numeric_limits<double>::infinity();
  double highest_ = -std::numeric_limits<double>::infinity();
  bool has_nan_ = false;
  std::int64_t clipped_ = 0;
};

void check_picture_rank(const Dims& shape, const Subject& subject);
/// Copies row y of H x W x C without gaps; elements have 1, 2, 4 or 8 bytes.
void copy_picture_row(const ConstTensorView& rows, std::int64_t y, std::byte* dst);
/// The same from bfloat16 to float32.
void copy_bfloat16_row(const ConstTensorView& rows, std::int64_t y, std::byte* dst);

/// "640 x 480 pixels".
std::string pixels_text(std::int64_t width, std::int64_t height);

}  // namespace patchfold::formats
