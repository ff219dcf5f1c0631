// SPDX-License-Identifier: Apache-2.0
// Keras: refusals of extract_patches, unfold and fold, and the bits that they keep.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using keras::DataFormat;
using keras::ExtractPatches;
using keras::Fold;
using keras::Unfold;

TEST(KerasExtractPatches, refuses_other_sizes_and_ranks) {
  expect_error(ExtractPatches{.size = {2}}, {1, 3, 3, 1}, {ErrorCode::length}, {"size"});
  expect_error(ExtractPatches{.size = {2, 2, 2, 2}}, {1, 3, 3, 1}, {ErrorCode::length}, {"size"});
  expect_error(ExtractPatches{.size = {2, 2, 2}}, {3, 3, 1}, {ErrorCode::rank}, {"rank 5 or 4"});
  expect_error(ExtractPatches{.size = {2, 2}, .strides = {1, 1, 1}}, {1, 3, 3, 1}, {ErrorCode::length}, {"strides"});
  expect_error(ExtractPatches{.size = {2, 0}}, {1, 3, 3, 1}, {ErrorCode::value}, {"size"});
}

TEST(KerasUnfold, positional_order_is_dilation_padding_stride) {
  expect_iota(Unfold{2, {2, 3}, 0, 2}, {1, 1, 5, 5}, {1, 4, 2}, {1, 11, 4, 14, 11, 21, 14, 24});
}

TEST(KerasExtractPatches, image_smaller_than_a_patch_is_refused_unless_it_is_empty) {
  expect_error(ExtractPatches{.size = 4}, {1, 3, 3, 2}, {ErrorCode::value}, {"images", "at least 4 on axis 1"});
  expect_error(ExtractPatches{.size = 2, .dilation_rate = {1, 3}, .data_format = DataFormat::channels_first}, {2, 3, 3},
               {ErrorCode::value}, {"images", "at least 4 on axis 2"});
  expect_error(ExtractPatches{.size = 2}, {1, 1, 3, 2}, {ErrorCode::value}, {"images", "at least 2 on axis 1"});
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
