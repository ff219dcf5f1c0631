// SPDX-License-Identifier: Apache-2.0
// Basics of the picture codecs. The C libraries for PNG and JPEG report errors by longjmp, so a function that calls setjmp owns no
// object with a destructor. Every function that calls these libraries calls setjmp first.
#pragma once

#include <limits>

#include "formats/row_codecs.hpp"

namespace patchfold::formats {

/// Converts rows of H x W x C to the pixels of a PNG or JPEG file: uint8, or uint16 in native byte order.
class PixelRows {
 public:
  /// Begins a picture. Throws Error(rank, shape, dtype, value) if the tensor is not a picture. Floating-point pixels become uint8:
  /// the numbers from `range`, by default 0 to 255, become 0 to 255.
  PixelRows(const Dims& shape, DType dtype, const std::optional<ValueRange>& range, const Subject& subject);

  std::int64_t height() const noexcept { return shape_[0]; }
  std::int64_t width() const noexcept { return shape_[1]; }
  int channels() const noexcept { return static_cast<int>(shape_[2]); }
  /// Returns the bytes of a sample: 1 or 2.
  int depth() const noexcept { return dtype_ == DType::uint16 ? 2 : 1; }
  std::size_t row_bytes() const noexcept { return static_cast<std::size_t>(width() * channels() * depth()); }
  void copy_row(const ConstTensorView& rows, std::int64_t y, std::byte* dst) noexcept;
  /// Throws Error(value) if no range was given and all floating-point numbers are at most 1: then most likely 1 is white, and the
  /// picture would be black. Must be called after all rows are copied.
  void check_brightness(const Subject& subject) const;
  /// Returns how many numbers lay outside the range and became 0 or 255; NaN counts.
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
/// Copies row y of H x W x C to memory without gaps; elements have 1, 2, 4 or 8 bytes.
void copy_picture_row(const ConstTensorView& rows, std::int64_t y, std::byte* dst);
/// Copies row y of H x W x C, of bfloat16, to memory as float32 without gaps.
void copy_bfloat16_row(const ConstTensorView& rows, std::int64_t y, std::byte* dst);

/// Writes 1 + `bytes` bytes to `dst`: the number of a filter (PNG specification, section 9) and the row filtered by it. Chooses the
/// filter whose bytes, as signed numbers, have the smallest sum of absolute values. If this sum is not a tenth below that of the
/// unfiltered row, chooses no filter. `pixel` is the size of a pixel in bytes. `row` and `above`, the row above, must have
/// `pixel` zeros before them; for the first row `above` must be all zeros.
void filter_png_row(const std::uint8_t* row, const std::uint8_t* above, std::size_t bytes, std::size_t pixel,
                    std::uint8_t* dst) noexcept;
/// Returns a number in the form of PNG files: four bytes, the highest first.
std::string big_endian(std::uint32_t number);

/// Returns "640 x 480 pixels".
std::string pixels_text(std::int64_t width, std::int64_t height);

}  // namespace patchfold::formats
