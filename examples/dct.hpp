// SPDX-License-Identifier: Apache-2.0
// The orthonormal cosine transform of patches of 8 x 8 that are columns: 64 rows, one patch in each column.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace example {

inline constexpr int side = 8;
inline constexpr int taps = side * side;
inline constexpr int group = 64;  // the number of patches that are transformed together

using Matrix = std::array<std::array<float, side>, side>;
using Group = std::array<std::array<float, group>, taps>;

inline Matrix dct_matrix() {
  Matrix matrix{};
  for (int k = 0; k < side; ++k)
    for (int x = 0; x < side; ++x)
      matrix[static_cast<std::size_t>(k)][static_cast<std::size_t>(x)] = static_cast<float>(
          std::sqrt((k == 0 ? 1.0 : 2.0) / side) * std::cos(std::numbers::pi * (2 * x + 1) * k / (2.0 * side)));
  return matrix;
}

inline Matrix transposed(const Matrix& matrix) {
  Matrix result{};
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j) result[j][i] = matrix[i][j];
  return result;
}

/// Multiplies one line of every patch, along one axis, by a matrix. The line's first tap is row `first`; its taps are `step` rows
/// apart.
inline void transform_line(const Matrix& matrix, Group& patches, std::size_t first, std::size_t step) {
  std::array<std::array<float, group>, side> result{};
  for (std::size_t k = 0; k < side; ++k)
    for (std::size_t x = 0; x < side; ++x)
      for (std::size_t i = 0; i < group; ++i) result[k][i] += matrix[k][x] * patches[first + x * step][i];
  for (std::size_t k = 0; k < side; ++k) patches[first + k * step] = result[k];
}

inline void transform(const Matrix& matrix, Group& patches) {
  for (std::size_t line = 0; line < side; ++line) transform_line(matrix, patches, line * side, 1);
  for (std::size_t line = 0; line < side; ++line) transform_line(matrix, patches, line, side);
}

/// Sets coefficients below the threshold to zero in the transforms of `count` patches, at most `group`, in place. `rows` points at
/// row 0 of the first patch; rows are `row_length` elements apart. Keeps the mean of each patch.
inline void threshold_patches(float* rows, std::int64_t row_length, std::int64_t count, float threshold) {
  static const Matrix forward = dct_matrix();
  static const Matrix inverse = transposed(forward);
  Group patches{};
  for (std::size_t tap = 0; tap < taps; ++tap)
    for (std::int64_t i = 0; i < count; ++i)
      patches[tap][static_cast<std::size_t>(i)] = rows[static_cast<std::int64_t>(tap) * row_length + i];
  transform(forward, patches);
  for (std::size_t tap = 1; tap < taps; ++tap)
    for (float& value : patches[tap]) value = std::abs(value) < threshold ? 0.0F : value;
  transform(inverse, patches);
  for (std::size_t tap = 0; tap < taps; ++tap)
    for (std::int64_t i = 0; i < count; ++i)
      rows[static_cast<std::int64_t>(tap) * row_length + i] = patches[tap][static_cast<std::size_t>(i)];
}

}  // namespace example
