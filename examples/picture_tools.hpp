// SPDX-License-Identifier: Apache-2.0
// Helpers of the photo example: pictures as float32, noise, quality, and pictures side by side.
#pragma once

#include <filesystem>
#include <patchfold/patchfold.hpp>
#include <vector>

namespace example {

/// A picture: height x width x channels, row-major, numbers from 0 to 255.
struct Picture {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::vector<float> pixels{};

  float& at(std::int64_t y, std::int64_t x, std::int64_t c) {
    return pixels[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
  float at(std::int64_t y, std::int64_t x, std::int64_t c) const {
    return pixels[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
  /// Returns a view of the picture as (1, C, H, W), on the same memory.
  patchfold::TensorView nchw();
  patchfold::ConstTensorView nchw() const;
};

/// Returns a black picture of the same size.
Picture like(const Picture& picture);
Picture read(const std::filesystem::path& path);
/// Writes a picture file, with numbers rounded and clipped to 8 bits.
void write(const std::filesystem::path& path, const Picture& picture);

/// Divides each pixel by the number of patches that cover it.
void divide(Picture& picture, const patchfold::Coverage& coverage);
/// Turns RGB into brightness and two colour differences by an orthonormal matrix, or back. A picture without three channels stays
/// as it is.
void rotate_colours(Picture& picture, bool back);
/// Returns the picture with Gaussian noise, the same in every run. Numbers may lie outside of 0 to 255.
Picture with_noise(Picture picture, float deviation);
std::int64_t different_pixels(const Picture& a, const Picture& b);
/// Returns the peak signal-to-noise ratio in dB; infinite for equal pictures.
double psnr(const Picture& a, const Picture& b);
/// Returns one picture: pictures of one size side by side, and below each its middle, three times as large.
Picture side_by_side(const std::vector<const Picture*>& pictures);

/// Calls f(piece) for each piece in [0, pieces) on the library's threads. f must not throw.
template <class F>
void parallel(std::int64_t pieces, F f) {
  const auto body = [](void* context, std::int64_t piece) noexcept { (*static_cast<F*>(context))(piece); };
  if (!patchfold::default_executor().run(pieces, body, &f))
    patchfold::throw_if_failed(patchfold::Status::executor_failed, "example");
}

}  // namespace example
