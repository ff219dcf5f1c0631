// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <type_traits>

#include "formats/picture_codec.hpp"
#include "src/tensor/small_float.hpp"

namespace patchfold::formats {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

std::uint8_t pixel_of(double value) {
  if (!(value > 0)) return 0;  // NaN too
  return value >= 255 ? std::uint8_t{255} : static_cast<std::uint8_t>(std::nearbyint(value));
}

std::uint8_t float_pixel(DType dtype, const std::byte* from) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (SmallFloat<T>)
      return pixel_of(decode(T::format, load<T>(from).bits));
    else if constexpr (std::is_floating_point_v<T>)
      return pixel_of(load<T>(from));
    else
      return std::uint8_t{0};
  });
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

PixelRows::PixelRows(const Dims& shape, DType dtype, const Subject& subject) : shape_(shape), dtype_(dtype) {
  check_picture_rank(shape, subject);
  if (shape[0] < 1 || shape[1] < 1 || shape[2] < 1 || shape[2] > 4)
    subject.fail(ErrorCode::shape, "must be H x W x C with H and W from 1 and C from 1 to 4 to be a picture",
                 to_string(shape));
  if (dtype != DType::uint8 && dtype != DType::uint16 && !is_float_pixel(dtype))
    subject.fail(ErrorCode::dtype, "must be uint8, uint16, float16, bfloat16, float32 or float64 to be a picture",
                 std::string(name_of(dtype)));
}

void PixelRows::copy_row(const ConstTensorView& rows, std::int64_t y, std::byte* dst) const noexcept {
  if (!is_float_pixel(dtype_)) return copy_picture_row(rows, y, dst);
  copy_converted(rows, y, dst, 1,
                 [this](const std::byte* from, std::byte* to) { *to = std::byte{float_pixel(dtype_, from)}; });
}

std::string pixels_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + " x " + std::to_string(height) + " pixels";
}

}  // namespace patchfold::formats
