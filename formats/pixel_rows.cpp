// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "formats/picture_codec.hpp"
#include "src/base/small_float.hpp"

namespace patchfold::formats {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

double number_at(DType dtype, const std::byte* from) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> double {
    if constexpr (SmallFloat<T>)
      return decode(T::format, load<T>(from).bits);
    else if constexpr (std::is_floating_point_v<T>)
      return load<T>(from);
    else
      return 0;
  });
}

std::string number_text(double number) {
  char text[32];
  const int length = std::snprintf(text, sizeof(text), "%.6g", number);
  return {text, static_cast<std::size_t>(length)};
}

bool is_float_pixel(DType dtype) {
  return kind_of(dtype) == ElementKind::real && size_of(dtype) > 1;
}

template <class Convert>
void copy_converted(const ConstTensorView& rows, std::int64_t y, std::byte* dst, std::size_t size, Convert&& convert) {
  const auto* row = static_cast<const std::byte*>(rows.data) + y * rows.strides[0];
  for (std::int64_t x = 0; x < rows.shape[1]; ++x)
    for (std::int64_t c = 0; c < rows.shape[2]; ++c, dst += size)
      convert(row + x * rows.strides[1] + c * rows.strides[2], dst);
}

template <std::size_t size>
void copy_sized(const ConstTensorView& rows, std::int64_t y, std::byte* dst) {
  copy_converted(rows, y, dst, size, [](const std::byte* from, std::byte* to) { std::memcpy(to, from, size); });
}

}  // namespace

void copy_picture_row(const ConstTensorView& rows, std::int64_t y, std::byte* dst) {
  const auto size = static_cast<std::int64_t>(rows.element_size);
  if (rows.strides[2] == size && rows.strides[1] == size * rows.shape[2]) {
    std::memcpy(dst, static_cast<const std::byte*>(rows.data) + y * rows.strides[0],
                static_cast<std::size_t>(size * rows.shape[1] * rows.shape[2]));
    return;
  }
  switch (size) {
    case 1: return copy_sized<1>(rows, y, dst);
    case 2: return copy_sized<2>(rows, y, dst);
    case 4: return copy_sized<4>(rows, y, dst);
    default: return copy_sized<8>(rows, y, dst);
  }
}

void copy_bfloat16_row(const ConstTensorView& rows, std::int64_t y, std::byte* dst) {
  copy_converted(rows, y, dst, sizeof(float), [](const std::byte* from, std::byte* to) {
    const std::uint32_t bits = std::uint32_t{load<std::uint16_t>(from)} << 16;
    std::memcpy(to, &bits, sizeof(bits));
  });
}

void check_picture_rank(const Dims& shape, const Subject& subject) {
  if (shape.size() != 3)
    subject.fail(ErrorCode::rank, "must have 3 axes (height, width, channels) to be a picture", to_string(shape));
}

PixelRows::PixelRows(const Dims& shape, DType dtype, const std::optional<ValueRange>& range, const Subject& subject)
    : shape_(shape), dtype_(dtype), range_(range.value_or(ValueRange{})), has_range_(range.has_value()) {
  check_picture_rank(shape, subject);
  if (shape[0] < 1 || shape[1] < 1 || shape[2] < 1 || shape[2] > 4)
    subject.fail(ErrorCode::shape, "must be H x W x C with H and W from 1 and C from 1 to 4 to be a picture",
                 to_string(shape));
  if (dtype != DType::uint8 && dtype != DType::uint16 && !is_float_pixel(dtype))
    subject.fail(ErrorCode::dtype, "must be uint8, uint16, float16, bfloat16, float32 or float64 to be a picture",
                 std::string(name_of(dtype)));
  if (has_range_ && !is_float_pixel(dtype))
    subject.fail(ErrorCode::value, "must hold floating-point numbers for a range", std::string(name_of(dtype)));
  const double width = range_.white - range_.black;
  if (!std::isfinite(width) || width == 0)
    subject.fail(ErrorCode::value, "must have a range of two different numbers",
                 number_text(range_.black) + " to " + number_text(range_.white));
}

std::uint8_t PixelRows::pixel_of(double value) noexcept {
  lowest_ = std::min(lowest_, value);  // NaN changes neither of the two
  highest_ = std::max(highest_, value);
  has_nan_ = has_nan_ || std::isnan(value);
  const double pixel = has_range_ ? (value - range_.black) / (range_.white - range_.black) * 255 : value;
  clipped_ += !(pixel >= -0.5 && pixel <= 255.5);
  if (!(pixel > 0)) return 0;  // true for NaN too
  return pixel >= 255 ? std::uint8_t{255} : static_cast<std::uint8_t>(std::nearbyint(pixel));
}

void PixelRows::check_brightness(const Subject& subject) const {
  const bool is_zero = lowest_ == 0 && highest_ == 0 && !has_nan_;
  if (!is_float_pixel(dtype_) || has_range_ || is_zero || highest_ > 1) return;
  const bool has_numbers = lowest_ <= highest_;
  subject.fail(ErrorCode::value, "would be black: 255 is white, and no number is above 1",
               has_numbers ? "numbers from " + number_text(lowest_) + " to " + number_text(highest_) : "NaN",
               "--range 0,1, which makes 1 white, --range 0,255 if it is to be so dark, or a .tif file, which holds the "
               "numbers themselves");
}

void RowWriter::finish_values(const PixelRows& pixels) {
  pixels.check_brightness(subject());
  if (pixels.clipped() > 0)
    lose(std::to_string(pixels.clipped()) + (pixels.clipped() == 1 ? " number" : " numbers") + " beyond " +
         number_text(pixels.range().black) + " to " + number_text(pixels.range().white) + " became black or white");
}

void PixelRows::copy_row(const ConstTensorView& rows, std::int64_t y, std::byte* dst) noexcept {
  if (!is_float_pixel(dtype_)) return copy_picture_row(rows, y, dst);
  copy_converted(rows, y, dst, 1,
                 [this](const std::byte* from, std::byte* to) { *to = std::byte{pixel_of(number_at(dtype_, from))}; });
}

std::string pixels_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + " x " + std::to_string(height) + " pixels";
}

}  // namespace patchfold::formats
