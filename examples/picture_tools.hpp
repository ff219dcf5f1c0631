// SPDX-License-Identifier: Apache-2.0
// Helpers of the photo example: pixels as float32, noise, quality, and pictures side by side.
#pragma once

#include <filesystem>
#include <patchfold/patchfold.hpp>
#include <vector>

namespace example {

/// A picture: height x width x channels, row-major, 0 to 255.
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
  /// Returns a view of the picture as (1, C, H, W). No element moves.
  patchfold::TensorView nchw();
  patchfold::ConstTensorView nchw() const;
};

/// Returns a black picture of the same size.
Picture like(const Picture& picture);
Picture read(const std::filesystem::path& path);
/// Writes a file, rounded and clipped to 8 bit.
void write(const std::filesystem::path& path, const Picture& picture);

/// Divides every pixel by the number of patches that cover it.
void divide(Picture& picture, const patchfold::Coverage& coverage);
/// Turns RGB into brightness and two colour differences orthonormally, or back. Leaves pictures without three channels unchanged.
void rotate_colours(Picture& picture, bool back);
/// Returns the picture with Gaussian noise, equal in every run. Values may lie outside of 0 to 255.
Picture with_noise(Picture picture, float deviation);
std::int64_t different_pixels(const Picture& a, const Picture& b);
/// Returns the peak signal-to-noise ratio in dB; infinite for equal pictures.
double psnr(const Picture& a, const Picture& b);
/// Puts pictures of one size beside each other, and below each one its middle, enlarged three times.
Picture side_by_side(const std::vector<const Picture*>& pictures);

/// Calls f(piece) for every piece in [0, pieces) on the threads of the library. f must not throw.
template <class F>
void parallel(std::int64_t pieces, F f) {
  const auto body = [](void* context, std::int64_t piece) noexcept { (*static_cast<F*>(context))(piece); };
  if (!patchfold::default_executor().run(pieces, body, &f))
    patchfold::throw_if_failed(patchfold::Status::executor_failed, "example");
}

}  // namespace example
