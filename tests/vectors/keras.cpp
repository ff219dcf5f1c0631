// SPDX-License-Identifier: Apache-2.0
// Keras: extract_patches, unfold and fold. The data is 1, 2, 3, .. as float32; expected values were printed by Keras 3.15.1
// with its JAX backend.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using keras::DataFormat;
using keras::ExtractPatches;
using keras::Fold;
using keras::PaddingType;
using keras::Unfold;

TEST(KerasExtractPatches, strides_default_to_the_size) {
  expect_iota(ExtractPatches{.size = {2, 2}}, {1, 3, 4, 2}, {1, 1, 2, 8},
              {1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8, 13, 14, 15, 16});
}

TEST(KerasExtractPatches, same_pads_the_end_first) {
  expect_iota(
      ExtractPatches{.size = {2, 3}, .strides = {1, 1}, .padding = PaddingType::same}, {1, 3, 4, 2}, {1, 3, 4, 12},
      {0,  0,  1,  2,  3,  4,  0,  0,  9,  10, 11, 12, 1,  2,  3,  4,  5,  6,  9,  10, 11, 12, 13, 14, 3,  4,  5,  6,  7,
       8,  11, 12, 13, 14, 15, 16, 5,  6,  7,  8,  0,  0,  13, 14, 15, 16, 0,  0,  0,  0,  9,  10, 11, 12, 0,  0,  17, 18,
       19, 20, 9,  10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 22, 11, 12, 13, 14, 15, 16, 19, 20, 21, 22, 23, 24, 13, 14, 15,
       16, 0,  0,  21, 22, 23, 24, 0,  0,  0,  0,  17, 18, 19, 20, 0,  0,  0,  0,  0,  0,  17, 18, 19, 20, 21, 22, 0,  0,
       0,  0,  0,  0,  19, 20, 21, 22, 23, 24, 0,  0,  0,  0,  0,  0,  21, 22, 23, 24, 0,  0,  0,  0,  0,  0,  0,  0});
  expect_iota(ExtractPatches{.size = {2, 2}, .strides = {3, 4}, .padding = PaddingType::same}, {1, 5, 6, 1}, {1, 2, 2, 4},
              {1, 2, 7, 8, 5, 6, 11, 12, 19, 20, 25, 26, 23, 24, 29, 30});
}

TEST(KerasExtractPatches, unbatched_with_single_numbers) {
  expect_iota(ExtractPatches{.size = 2, .strides = 1}, {3, 4, 2}, {2, 3, 8},
              {1, 2,  3,  4,  9,  10, 11, 12, 3,  4,  5,  6,  11, 12, 13, 14, 5,  6,  7,  8,  13, 14, 15, 16,
               9, 10, 11, 12, 17, 18, 19, 20, 11, 12, 13, 14, 19, 20, 21, 22, 13, 14, 15, 16, 21, 22, 23, 24});
}

TEST(KerasExtractPatches, channels_first) {
  expect_iota(
      ExtractPatches{
          .size = {2, 2}, .strides = {1, 2}, .padding = PaddingType::same, .data_format = DataFormat::channels_first},
      {1, 2, 3, 4}, {1, 8, 3, 2}, {1, 3, 5, 7,  9, 11, 13, 15, 17, 19, 21, 23, 2, 4, 6,  8,  10, 12, 14, 16, 18, 20, 22, 24,
                                   5, 7, 9, 11, 0, 0,  17, 19, 21, 23, 0,  0,  6, 8, 10, 12, 0,  0,  18, 20, 22, 24, 0,  0});
}

TEST(KerasExtractPatches, dilation) {
  expect_iota(ExtractPatches{.size = {2, 2}, .strides = {1, 1}, .dilation_rate = {2, 3}}, {1, 5, 5, 1}, {1, 3, 2, 4},
              {1, 4, 11, 14, 2, 5, 12, 15, 6, 9, 16, 19, 7, 10, 17, 20, 11, 14, 21, 24, 12, 15, 22, 25});
}

TEST(KerasExtractPatches, volumes) {
  expect_iota(ExtractPatches{.size = {2, 2, 1}, .strides = 1}, {1, 3, 2, 2, 1}, {1, 2, 1, 2, 4},
              {1, 3, 5, 7, 2, 4, 6, 8, 5, 7, 9, 11, 6, 8, 10, 12});
  expect_iota(ExtractPatches{.size = {2, 2, 2}, .padding = PaddingType::same}, {2, 3, 2, 1}, {1, 2, 1, 8},
              {1, 2, 3, 4, 7, 8, 9, 10, 5, 6, 0, 0, 11, 12, 0, 0});
  expect_iota(ExtractPatches{.size = {1, 2, 2}, .strides = 1, .data_format = DataFormat::channels_first}, {1, 2, 2, 2, 2},
              {1, 8, 2, 1, 1}, {1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 4, 8, 12, 16});
}

TEST(KerasExtractPatches, refuses_other_sizes_and_ranks) {
  expect_error(ExtractPatches{.size = {2}}, {1, 3, 3, 1}, {ErrorCode::length}, {"size"});
  expect_error(ExtractPatches{.size = {2, 2, 2, 2}}, {1, 3, 3, 1}, {ErrorCode::length}, {"size"});
  expect_error(ExtractPatches{.size = {2, 2, 2}}, {3, 3, 1}, {ErrorCode::rank}, {"rank 5 or 4"});
  expect_error(ExtractPatches{.size = {2, 2}, .strides = {1, 1, 1}}, {1, 3, 3, 1}, {ErrorCode::length}, {"strides"});
  expect_error(ExtractPatches{.size = {2, 0}}, {1, 3, 3, 1}, {ErrorCode::value}, {"size"});
}

TEST(KerasUnfold, padding_is_the_same_at_both_ends) {
  expect_iota(Unfold{.kernel_size = {2, 3}, .padding = {0, 1}, .stride = {1, 2}}, {1, 2, 3, 4}, {1, 12, 4},
              {0, 2,  0, 6,  1,  3,  5,  7,  2,  4,  6,  8,  0, 6,  0, 10, 5,  7,  9,  11, 6,  8,  10, 12,
               0, 14, 0, 18, 13, 15, 17, 19, 14, 16, 18, 20, 0, 18, 0, 22, 17, 19, 21, 23, 18, 20, 22, 24});
}

TEST(KerasUnfold, positional_order_is_dilation_padding_stride) {
  expect_iota(Unfold{2, {2, 3}, 0, 2}, {1, 1, 5, 5}, {1, 4, 2}, {1, 11, 4, 14, 11, 21, 14, 24});
}

TEST(KerasUnfold, image_smaller_than_a_patch_gives_no_columns) {
  expect_iota(Unfold{.kernel_size = 4}, {1, 2, 3, 3}, {1, 32, 0}, {});
  expect_iota(Unfold{.kernel_size = 6}, {1, 2, 3, 3}, {1, 72, 0}, {});
}

TEST(KerasExtractPatches, image_smaller_than_a_patch_is_refused_unless_it_is_empty) {
  expect_error(ExtractPatches{.size = 4}, {1, 3, 3, 2}, {ErrorCode::value}, {"images", "at least 4 on axis 1"});
  expect_error(ExtractPatches{.size = 2, .dilation_rate = {1, 3}, .data_format = DataFormat::channels_first}, {2, 3, 3},
               {ErrorCode::value}, {"images", "at least 4 on axis 2"});
  expect_error(ExtractPatches{.size = 2}, {1, 1, 3, 2}, {ErrorCode::value}, {"images", "at least 2 on axis 1"});
  expect_iota(ExtractPatches{.size = 2}, {1, 0, 3, 2}, {1, 0, 1, 8}, {});
  expect_iota(ExtractPatches{.size = 2, .padding = PaddingType::same}, {1, 0, 3, 2}, {1, 0, 2, 8}, {});
  expect_iota(ExtractPatches{.size = 2}, {0, 3, 3, 2}, {0, 1, 1, 8}, {});
}

TEST(KerasFold, sums_where_patches_overlap) {
  expect_iota(Fold{.output_size = {3, 3}, .kernel_size = 2}, {1, 8, 4}, {1, 2, 3, 3},
              {1, 7, 6, 12, 34, 22, 11, 27, 16, 17, 39, 22, 44, 98, 54, 27, 59, 32});
  expect_iota(Fold{{3, 4}, {2, 2}, {1, 2}, {1, 0}, {2, 1}}, {1, 4, 4}, {1, 1, 3, 4},
              {9, 10, 13, 14, 3, 4, 7, 8, 11, 12, 15, 16});
}

TEST(KerasFold, pixels_that_no_patch_reaches_are_zero) {
  expect_iota(Fold{.output_size = {3, 5}, .kernel_size = 2, .stride = 2}, {1, 4, 2}, {1, 1, 3, 5},
              {1, 3, 2, 4, 0, 5, 7, 6, 8, 0, 0, 0, 0, 0, 0});
}

// Keras multiplies by ones and zeros, and infinity times zero is NaN.
TEST(KerasExtractPatches, an_infinity_stays_in_its_place) {
  constexpr std::uint32_t inf = 0x7f800000, one = 0x3f800000, nan = 0x7f800001;
  expect_same<std::uint32_t>(ExtractPatches{.size = 2}, DType::float32, {1, 2, 4, 1},
                             {one, inf, one, nan, one, one, one, one}, {1, 1, 2, 4},
                             {one, inf, one, one, one, nan, one, one});
  expect_same<std::uint32_t>(Unfold{.kernel_size = 2}, DType::float32, {1, 1, 2, 2}, {one, inf, nan, one}, {1, 4, 1},
                             {one, inf, nan, one});
}

TEST(KerasWindows, zeros_and_negative_pads_are_refused) {
  const auto refuse = [](const Problem& problem, const Dims& in, std::string_view argument) {
    expect_error(problem, in, {ErrorCode::value}, {argument});
  };
  refuse(ExtractPatches{.size = {0, 2}}, {1, 4, 4, 1}, "size");
  refuse(ExtractPatches{.size = 2, .strides = {1, 0}}, {1, 4, 4, 1}, "strides");
  refuse(ExtractPatches{.size = 2, .dilation_rate = 0}, {1, 4, 4, 1}, "dilation_rate");
  refuse(Unfold{.kernel_size = 0}, {1, 1, 4, 4}, "kernel_size");
  refuse(Unfold{.kernel_size = 2, .dilation = {0, 1}}, {1, 1, 4, 4}, "dilation");
  refuse(Unfold{.kernel_size = 2, .padding = -1}, {1, 1, 4, 4}, "padding");
  refuse(Unfold{.kernel_size = 2, .stride = 0}, {1, 1, 4, 4}, "stride");
  refuse(Fold{.output_size = {4, 4}, .kernel_size = {2, 0}}, {1, 4, 9}, "kernel_size");
  refuse(Fold{.output_size = {4, 4}, .kernel_size = 2, .dilation = 0}, {1, 4, 9}, "dilation");
  refuse(Fold{.output_size = {4, 4}, .kernel_size = 2, .padding = {0, -1}}, {1, 4, 9}, "padding");
  refuse(Fold{.output_size = {4, 4}, .kernel_size = 2, .stride = {1, 0}}, {1, 4, 9}, "stride");
}

TEST(KerasFold, takes_a_batch_only) {
  expect_error(Fold{.output_size = {3, 3}, .kernel_size = 2}, {8, 4}, {ErrorCode::rank}, {"rank 3"});
  expect_error(Unfold{.kernel_size = 2}, {1, 3, 3}, {ErrorCode::rank}, {"rank 4"});
}

}  // namespace
}  // namespace patchfold::vectors
