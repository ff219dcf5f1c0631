// SPDX-License-Identifier: Apache-2.0
// TensorFlow's test of large images.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

// 4 x 512 x 512, kernel 5, SAME: patches of ones, so every pixel counts the patches that cover it.
TEST(TensorflowExtractImagePatches, ConstructGradientWithLargeImages) {
  const Dims patches = {4, 512, 512, 25};
  const Fold gradient = {.output_size = {512, 512},
                         .kernel_size = 5,
                         .padding = 2,
                         .layout = Layout::channels_last,
                         .order = Order::kernel,
                         .positions = Positions::grid};
  Ints expected;
  for (int n = 0; n < 4; ++n)
    for (int row = 0; row < 512; ++row)
      for (int column = 0; column < 512; ++column) {
        const auto cover = [](int at) { return std::min({5, at + 3, 514 - at}); };
        expected.push_back(cover(row) * cover(column));
      }
  const DType type[] = {DType::uint8};
  expect_values(gradient, patches, Ints(4 * 512 * 512 * 25, 1), {4, 512, 512, 1}, expected, type);
}

}  // namespace
}  // namespace patchfold::vectors
