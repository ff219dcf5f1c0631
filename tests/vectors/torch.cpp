// SPDX-License-Identifier: Apache-2.0
// Calls that PyTorch refuses in fold, unfold, pixel_shuffle and pixel_unshuffle.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using torch::Fold;
using torch::Unfold;

TEST(TorchFold, positional_order_is_dilation_padding_stride) {
  expect_iota(Fold{{3, 4}, {2, 2}, {1, 2}, {1, 0}, {2, 1}}, {1, 4, 4}, {1, 1, 3, 4},
              {9, 10, 13, 14, 3, 4, 7, 8, 11, 12, 15, 16});
}

TEST(TorchFold, invalid_arg) {
  expect_error(Fold{.output_size = 3, .kernel_size = 2}, {1, 4, 2}, {ErrorCode::position_count}, {"2", "4"});
  const Fold op = {.output_size = {4, 5}, .kernel_size = {2, 3}};
  expect_error(op, {1, 5}, {ErrorCode::divisible}, {"6"});
  expect_error(op, {1, 5, 9}, {ErrorCode::divisible}, {"5", "6"});
  expect_error(op, {1, 19, 9}, {ErrorCode::divisible}, {"19", "6"});
  expect_error(op, {1, 6, 10}, {ErrorCode::position_count}, {"10", "9"});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .stride = {2, 2}}, {1, 6, 5}, {ErrorCode::position_count},
               {"5", "4"});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .dilation = {1, 2}, .padding = {2, 0}, .stride = {2, 2}},
               {1, 6, 5}, {ErrorCode::position_count}, {"5", "4"});
  expect_shape(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .dilation = {1, 2}, .padding = {2, 0}, .stride = {2, 2}},
               {1, 6, 4}, {1, 1, 4, 5});
}

TEST(TorchFold, ranks_and_signs) {
  const Fold op = {.output_size = {4, 5}, .kernel_size = {2, 3}};
  expect_error(op, {6}, {ErrorCode::rank});
  expect_error(op, {1, 1, 6, 9}, {ErrorCode::rank});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {0, 3}}, {1, 6, 9}, {ErrorCode::value}, {"kernel_size"});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {-2, -3}}, {1, 6, 9}, {ErrorCode::value}, {"kernel_size"});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .dilation = -1}, {1, 6, 9}, {ErrorCode::value});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .stride = -1}, {1, 6, 9}, {ErrorCode::value});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .padding = -1}, {1, 6, 9}, {ErrorCode::value});
  expect_error(Fold{.output_size = {-4, 5}, .kernel_size = {1, 1}}, {1, 1, 9},
               {ErrorCode::value, ErrorCode::position_count});
  expect_error(Fold{.output_size = {4, 5}, .kernel_size = {2, 3}, .stride = {1, 1, 1}}, {1, 6, 9}, {ErrorCode::length});
}

TEST(TorchUnfold, ranks_and_signs) {
  const Dims image = {1, 2, 4, 5};
  expect_error(Unfold{.kernel_size = {2, 3}}, {4, 5}, {ErrorCode::rank});
  expect_error(Unfold{.kernel_size = {2, 3}}, {1, 1, 2, 4, 5}, {ErrorCode::rank});
  expect_error(Unfold{.kernel_size = {0, 3}}, image, {ErrorCode::value}, {"kernel_size"});
  expect_error(Unfold{.kernel_size = {2, 3}, .dilation = 0}, image, {ErrorCode::value}, {"dilation"});
  expect_error(Unfold{.kernel_size = {2, 3}, .padding = {0, -1}}, image, {ErrorCode::value}, {"padding"});
  expect_error(Unfold{.kernel_size = {2, 3}, .stride = 0}, image, {ErrorCode::value}, {"stride"});
  expect_error(Unfold{.kernel_size = {2, 3}, .stride = {1, 1, 1}}, image, {ErrorCode::length});
  expect_error(Unfold{.kernel_size = {5, 3}}, image, {ErrorCode::value, ErrorCode::position_count}, {"at least one"});
}

TEST(TorchPixelShuffle, Errors) {
  expect_error(torch::PixelShuffle{2}, {4, 4}, {ErrorCode::rank});
  expect_error(torch::PixelShuffle{2}, {1, 6, 4, 4}, {ErrorCode::divisible}, {"6", "4"});
  expect_error(torch::PixelShuffle{0}, {1, 4, 4, 4}, {ErrorCode::value, ErrorCode::missing}, {"upscale_factor"});
  expect_error(torch::PixelShuffle{-2}, {1, 4, 4, 4}, {ErrorCode::value}, {"upscale_factor"});
  expect_error(torch::PixelShuffle{std::int64_t{1} << 32}, {1, 0, 4, 4}, {ErrorCode::overflow});
}

TEST(TorchPixelUnshuffle, Errors) {
  expect_error(torch::PixelUnshuffle{2}, {4, 4}, {ErrorCode::rank});
  expect_error(torch::PixelUnshuffle{2}, {1, 1, 3, 4}, {ErrorCode::divisible}, {"3", "2"});
  expect_error(torch::PixelUnshuffle{2}, {1, 1, 4, 5}, {ErrorCode::divisible}, {"5", "2"});
  expect_error(torch::PixelUnshuffle{0}, {1, 1, 4, 4}, {ErrorCode::value, ErrorCode::missing}, {"downscale_factor"});
  expect_error(torch::PixelUnshuffle{-1}, {1, 1, 4, 4}, {ErrorCode::value}, {"downscale_factor"});
}

}  // namespace
}  // namespace patchfold::vectors
