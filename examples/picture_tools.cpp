// SPDX-License-Identifier: Apache-2.0
#include "picture_tools.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "formats/picture.hpp"

namespace example {
namespace {

using patchfold::Dims;

Dims nchw_shape(const Picture& picture) {
  return {1, picture.channels, picture.height, picture.width};
}

Dims nchw_strides(const Picture& picture) {
  const std::int64_t element = sizeof(float), pixel = picture.channels * element, line = picture.width * pixel;
  return {picture.height * line, element, line, pixel};
}

/// Copies a part of a picture to a canvas, each pixel as `zoom` x `zoom` pixels.
void paste(Picture& canvas, std::int64_t top, std::int64_t left, const Picture& part, std::int64_t part_top,
           std::int64_t part_left, std::int64_t height, std::int64_t width, std::int64_t zoom) {
  for (std::int64_t y = 0; y < height * zoom; ++y)
    for (std::int64_t x = 0; x < width * zoom; ++x)
      for (std::int64_t c = 0; c < canvas.channels; ++c)
        canvas.at(top + y, left + x, c) = part.at(part_top + y / zoom, part_left + x / zoom, c);
}

}  // namespace

patchfold::TensorView Picture::nchw() {
  return {pixels.data(), nchw_shape(*this), nchw_strides(*this), patchfold::DType::float32, sizeof(float)};
}

patchfold::ConstTensorView Picture::nchw() const {
  return {pixels.data(), nchw_shape(*this), nchw_strides(*this), patchfold::DType::float32, sizeof(float)};
}

Picture like(const Picture& picture) {
  return {picture.height, picture.width, picture.channels, std::vector<float>(picture.pixels.size())};
}

Picture read(const std::filesystem::path& path) {
  const auto file = patchfold::formats::read_picture(path);
  if (file.view.dtype != patchfold::DType::uint8)
    throw patchfold::Error({.code = patchfold::ErrorCode::file_unsupported,
                            .op = "photo",
                            .argument = path.string(),
                            .rule = "must have 8 bits",
                            .given = std::string(name_of(file.view.dtype)),
                            .expected = "uint8"});
  Picture picture{file.view.shape[0], file.view.shape[1], file.view.shape[2], {}};
  picture.pixels.resize(static_cast<std::size_t>(element_count(file.view.shape)));
  const auto* bytes = static_cast<const std::uint8_t*>(file.view.data);
  for (std::int64_t y = 0; y < picture.height; ++y)
    for (std::int64_t x = 0; x < picture.width; ++x)
      for (std::int64_t c = 0; c < picture.channels; ++c)
        picture.at(y, x, c) = bytes[y * file.view.strides[0] + x * file.view.strides[1] + c * file.view.strides[2]];
  return picture;
}

void write(const std::filesystem::path& path, const Picture& picture) {
  patchfold::formats::write_picture(
      path, patchfold::view(picture.pixels.data(), {picture.height, picture.width, picture.channels}));
}

void divide(Picture& picture, const patchfold::Coverage& coverage) {
  std::vector<float> counts(static_cast<std::size_t>(picture.height * picture.width));
  patchfold::coverage(coverage, patchfold::view(counts.data(), coverage.output_size));
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    picture.pixels[i] /= counts[i / static_cast<std::size_t>(picture.channels)];
}

void rotate_colours(Picture& picture, bool back) {
  if (picture.channels != 3) return;
  using std::sqrt;
  const std::array<std::array<double, 3>, 3> matrix{{{sqrt(1.0 / 3), sqrt(1.0 / 3), sqrt(1.0 / 3)},
                                                     {sqrt(1.0 / 2), 0, -sqrt(1.0 / 2)},
                                                     {sqrt(1.0 / 6), -2 * sqrt(1.0 / 6), sqrt(1.0 / 6)}}};
  for (std::size_t pixel = 0; pixel < picture.pixels.size(); pixel += 3) {
    std::array<double, 3> turned{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        turned[i] += (back ? matrix[j][i] : matrix[i][j]) * static_cast<double>(picture.pixels[pixel + j]);
    for (std::size_t i = 0; i < 3; ++i) picture.pixels[pixel + i] = static_cast<float>(turned[i]);
  }
}

Picture with_noise(Picture picture, float deviation) {
  std::mt19937_64 random(25);
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  for (float& value : picture.pixels) {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    value += deviation * static_cast<float>(radius * std::cos(2 * std::numbers::pi * uniform()));
  }
  return picture;
}

std::int64_t different_pixels(const Picture& a, const Picture& b) {
  if (a.height != b.height || a.width != b.width || a.channels != b.channels) return a.height * a.width;
  std::int64_t different = 0;
  for (std::int64_t y = 0; y < a.height; ++y)
    for (std::int64_t x = 0; x < a.width; ++x) {
      bool same = true;
      for (std::int64_t c = 0; c < a.channels; ++c) same = same && a.at(y, x, c) == b.at(y, x, c);
      different += !same;
    }
  return different;
}

double psnr(const Picture& a, const Picture& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    const double difference = static_cast<double>(a.pixels[i]) - static_cast<double>(b.pixels[i]);
    sum += difference * difference;
  }
  if (sum == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.pixels.size()) / sum);
}

Picture side_by_side(const std::vector<const Picture*>& pictures) {
  constexpr std::int64_t gap = 8, zoom = 3;
  const Picture& first = *pictures.front();
  const std::int64_t count = static_cast<std::int64_t>(pictures.size());
  const std::int64_t part_height = first.height / zoom, part_width = first.width / zoom;
  Picture canvas{first.height + gap + part_height * zoom, count * (first.width + gap) - gap, first.channels, {}};
  canvas.pixels.assign(static_cast<std::size_t>(canvas.height * canvas.width * canvas.channels), 255.0F);
  for (std::int64_t i = 0; i < count; ++i) {
    const Picture& picture = *pictures[static_cast<std::size_t>(i)];
    const std::int64_t left = i * (first.width + gap);
    paste(canvas, 0, left, picture, 0, 0, first.height, first.width, 1);
    paste(canvas, first.height + gap, left, picture, (first.height - part_height) / 2, (first.width - part_width) / 2,
          part_height, part_width, zoom);
  }
  return canvas;
}

}  // namespace example
