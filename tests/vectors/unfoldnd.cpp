// SPDX-License-Identifier: Apache-2.0
// unfoldNd's test of large images.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

// Images of more than 2^24 elements, whose indices float32 cannot hold: 25 patches of 2 x 2 far apart, zeros elsewhere.
void expect_far_patches(std::int64_t extent, std::int64_t stride) {
  const auto columns = iota({4, 25});
  const Dims shape = {1, 1, extent, extent};
  const torch::Fold op = {.output_size = {extent, extent}, .kernel_size = 2, .stride = stride};
  expect_shape(op, {1, 4, 25}, shape);
  const auto image = result_of(op, DType::int8, {1, 4, 25}, encode(DType::int8, columns), shape);
  std::int64_t total = 0;
  for (const auto value : image) total += std::to_integer<int>(value);
  EXPECT_EQ(total, 5050);
  for (std::int64_t tap = 0; tap < 4; ++tap)
    for (std::int64_t position = 0; position < 25; ++position) {
      const auto row = position / 5 * stride + tap / 2, column = position % 5 * stride + tap % 2;
      EXPECT_EQ(std::to_integer<int>(image[static_cast<std::size_t>(row * extent + column)]), tap * 25 + position + 1);
    }
}

TEST(UnfoldNdFold, precision_just_beyond_2_24) {
  expect_far_patches(4098, 1024);
}

TEST(UnfoldNdFold, precision_5000_squared) {
  expect_far_patches(5000, 1000);
}

}  // namespace
}  // namespace patchfold::vectors
