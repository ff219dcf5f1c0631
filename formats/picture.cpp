// SPDX-License-Identifier: Apache-2.0
#include "formats/picture.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "formats/picture_codec.hpp"
#include "src/tensor/checked.hpp"

namespace patchfold::formats {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view png_signature = "\x89PNG\r\n\x1A\n"sv;
constexpr std::string_view jpeg_signature = "\xFF\xD8"sv;

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t magnitude = half & 0x7FFF;
  if (magnitude >= 0x7C00) return std::bit_cast<float>(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
  // Below the exponent of 1.0 by 112: multiplying restores it, subnormal numbers included.
  return std::bit_cast<float>(sign | magnitude << 13) * 0x1p112F;
}

std::uint8_t pixel_of(double value) {
  if (!(value > 0)) return 0;  // NaN too
  return value >= 255 ? std::uint8_t{255} : static_cast<std::uint8_t>(std::nearbyint(value));
}

std::uint8_t float_pixel(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::float16: return pixel_of(float_of_half(load<std::uint16_t>(from)));
    case DType::bfloat16: return pixel_of(std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(from)} << 16));
    case DType::float32: return pixel_of(load<float>(from));
    default: return pixel_of(load<double>(from));
  }
}

bool is_float_pixel(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float32 || dtype == DType::float64;
}

}  // namespace

PixelRows::PixelRows(const ConstTensorView& picture, const Subject& subject) : picture_(picture) {
  if (picture.shape.size() != 3)
    subject.fail(ErrorCode::rank, "must have 3 axes (height, width, channels) to be a picture", to_string(picture.shape));
  if (picture.shape[0] < 1 || picture.shape[1] < 1 || picture.shape[2] < 1 || picture.shape[2] > 4)
    subject.fail(ErrorCode::shape, "must be H x W x C with H and W from 1 and C from 1 to 4 to be a picture",
                 to_string(picture.shape));
  if (picture.dtype != DType::uint8 && picture.dtype != DType::uint16 && !is_float_pixel(picture.dtype))
    subject.fail(ErrorCode::dtype, "must be uint8, uint16, float16, bfloat16, float32 or float64 to be a picture",
                 std::string(name_of(picture.dtype)));
}

void PixelRows::copy_row(std::int64_t y, std::byte* dst) const noexcept {
  const auto* row = static_cast<const std::byte*>(picture_.data) + y * picture_.strides[0];
  const std::int64_t across = picture_.strides[1];
  const std::int64_t between = picture_.strides[2];
  const bool is_integer = !is_float_pixel(picture_.dtype);
  if (is_integer && between == depth() && across == depth() * channels()) {
    std::memcpy(dst, row, row_bytes());
    return;
  }
  for (std::int64_t x = 0; x < width(); ++x) {
    for (int c = 0; c < channels(); ++c, dst += depth()) {
      const std::byte* from = row + x * across + c * between;
      if (!is_integer)
        *dst = std::byte{float_pixel(picture_.dtype, from)};
      else if (depth() == 2)
        std::memcpy(dst, from, 2);
      else
        *dst = *from;
    }
  }
}

std::string pixels_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + " x " + std::to_string(height) + " pixels";
}

LoadedTensor new_picture(std::int64_t height, std::int64_t width, int channels, DType dtype, const Subject& subject,
                         std::byte*& data) {
  const Dims shape = {height, width, channels};
  const auto bytes = byte_count(shape, size_of(dtype));
  if (!bytes) subject.fail(ErrorCode::out_of_memory, "has a size that does not fit into 63 bits", to_string(shape));
  auto memory = allocate(*bytes, subject);
  data = memory.get();
  return {
      {data, shape, dense_strides(shape, size_of(dtype)), dtype, size_of(dtype)}, element_type(dtype), std::move(memory)};
}

bool has_pictures() noexcept {
  return true;
}

LoadedTensor read_picture(const std::filesystem::path& path) {
  const Subject subject{"picture", path};
  const FileBytes file = open_file(subject);
  const std::string_view first(reinterpret_cast<const char*>(file.bytes.data()),
                               std::min<std::size_t>(file.bytes.size(), 8));
  if (first == png_signature) return read_png(file, {"png", path});
  if (first.starts_with(jpeg_signature)) return read_jpeg(file, {"jpeg", path});
  if (png_signature.starts_with(first) || jpeg_signature.starts_with(first))
    subject.fail(ErrorCode::file_format, "is cut short", bytes_text(first.size()));
  subject.fail(ErrorCode::file_unsupported, "must be a PNG or JPEG file; other pictures are not read",
               "a file that begins with \"" + excerpt(first) + "\"");
}

void write_picture(const std::filesystem::path& path, const ConstTensorView& picture) {
  if (!is_picture_path(path))
    Subject{"picture", path}.fail(ErrorCode::file_unsupported, "must end in .png, .jpg or .jpeg", path.extension().string());
  const std::string extension = path.extension().string();
  const bool is_png = extension.size() == 4 && (extension[1] == 'p' || extension[1] == 'P');
  const Subject subject{is_png ? "png" : "jpeg", path};
  const PixelRows rows(picture, subject);
  is_png ? write_png(rows, subject) : write_jpeg(rows, subject);
}

}  // namespace patchfold::formats
