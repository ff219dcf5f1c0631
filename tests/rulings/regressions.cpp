// SPDX-License-Identifier: Apache-2.0
// Cases that users of other libraries reported as broken. Expected values of the data 1, 2, 3, .. come from a separate
// index-by-index program in Python unless the result must equal the data.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

// torch multiplied two negative position counts to a positive one.
TEST(Regressions, TwoNegativePositionCountsDoNotCancel) {
  const torch::Fold op = {.output_size = {4, 5}, .kernel_size = {2, 2}, .dilation = 8};
  for (const std::int64_t positions : {12, 1, 2, 20})
    expect_error(op, {1, 4, positions}, {ErrorCode::position_count, ErrorCode::value});
  for (const std::int64_t positions : {12, 1}) {
    expect_error(Fold{.output_size = {4, 5}, .kernel_size = 2, .dilation = 8}, {1, 4, positions},
                 {ErrorCode::position_count});
    expect_error(openvino::Col2Im{.output_size = {4, 5}, .kernel_size = {2, 2}, .dilations = {8, 8}}, {4, positions},
                 {ErrorCode::position_count});
  }
}

// In torch, pads and strides near 2^63 wrapped around, and torch read outside its tensors.
TEST(Regressions, PadsAndStridesNearTheLargestInteger) {
  const std::int64_t large = 9223372036854775807;
  expect_error(torch::Unfold{.kernel_size = {2, 2}, .padding = large}, {1, 1, 4, 4}, {ErrorCode::overflow});
  expect_error(torch::Unfold{.kernel_size = {2, 2}, .padding = large, .stride = large}, {1, 1, 4, 4}, {ErrorCode::overflow});
  expect_error(torch::Fold{.output_size = {4, 4}, .kernel_size = {2, 2}, .padding = large / 2 + 1, .stride = large},
               {1, 4, 4}, {ErrorCode::overflow});
  // Pads of 2^59 and a stride beyond the image fit, so this call is accepted.
  const std::int64_t pad = std::int64_t{1} << 59;
  expect_iota(torch::Unfold{.kernel_size = {1, 1}, .padding = pad, .stride = large}, {1, 1, 4, 4}, {1, 1, 1}, {0});
}

// PaddlePaddle failed for images one pixel wide and for larger batches.
TEST(Regressions, FoldToWidthOneInABatchOf128) {
  expect_fingerprint(torch::Fold{.output_size = {257, 1}, .kernel_size = {65, 1}, .padding = {1, 0}, .stride = {64, 1}},
                     {128, 65, 4}, {128, 1, 257, 1}, 0xf61a18d4dd25de0fu);
  expect_fingerprint(torch::Fold{.output_size = {4, 4}, .kernel_size = {2, 2}}, {128, 12, 9}, {128, 3, 4, 4},
                     0x7c6953efc1af4c1eu);
}

// unfoldNd added elements in the pads to the first pixel; ONNX Runtime and ONNX disagreed on unequal pads.
TEST(Regressions, PadsOfFoldAreDropped) {
  expect_iota(torch::Fold{.output_size = {2, 3}, .kernel_size = {2, 2}, .padding = 1}, {1, 4, 12}, {1, 1, 2, 3},
              {86, 90, 94, 102, 106, 110});
  expect_iota(torch::Fold{.output_size = {3}, .kernel_size = {3}, .padding = {2}}, {1, 3, 5}, {1, 1, 3}, {21, 24, 27});
  expect_iota(onnx::Col2Im{.image_shape = {3, 3}, .block_shape = {2, 2}, .pads = {1, 0, 2, 1}}, {1, 4, 15}, {1, 1, 3, 3},
              {35, 102, 106, 41, 114, 118, 47, 126, 130});
  expect_iota(onnx::Col2Im{.image_shape = {2, 2, 2}, .block_shape = {2, 1, 2}, .pads = {1, 0, 0, 0, 1, 1}}, {1, 4, 12},
              {1, 1, 2, 2, 2}, {32, 90, 36, 98, 31, 75, 33, 79});
}

// Tests that float16 sums differ from the exact sum by at most the stated bound.
TEST(Regressions, Float16SumsKeepTheirBound) {
  const std::int64_t taps = 9, extent = 200, positions = extent + taps - 1;
  const auto value = [](std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    return (bits >> 15 ? -1 : 1) * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
  };
  std::vector<std::uint16_t> columns;
  for (std::uint32_t i = 0; i < taps * positions; ++i) {
    auto x = (i + 1) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    columns.push_back(static_cast<std::uint16_t>((x >> 16 & 0x83ff) | (1 + (x >> 8 & 255) % 26) << 10));
  }
  const Fold op = {.output_size = {extent}, .kernel_size = {taps}, .padding = taps - 1};
  const auto image = result_of(op, DType::float16, {1, taps, positions}, bytes_of(columns), {1, 1, extent});
  for (std::int64_t y = 0; y < extent; ++y) {
    double exact = 0, magnitude = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const double x = value(columns[static_cast<std::size_t>(tap * positions + y + taps - 1 - tap)]);
      exact += x;  // exact: these sums need fewer than 53 bits
      magnitude += std::fabs(x);
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, &image[static_cast<std::size_t>(2 * y)], 2);
    const double n = static_cast<double>(taps), unit = std::ldexp(1, -24);
    const double ulp = std::ldexp(1, std::max((bits >> 10 & 31) - 25, -24));
    EXPECT_LE(std::fabs(value(bits) - exact), ulp / 2 + (n - 1) * unit * magnitude * (1 + n * unit)) << "pixel " << y;
  }
}

// Model compilers computed a wrong depth-first order for blocks of 3 and more.
TEST(Regressions, DepthToSpaceDepthFirstWithBlocks3And4) {
  expect_iota(onnx::DepthToSpace{3, onnx::Mode::CRD}, {1, 18, 1, 2}, {1, 2, 3, 6},
              {1,  3,  5,  2,  4,  6,  7,  9,  11, 8,  10, 12, 13, 15, 17, 14, 16, 18,
               19, 21, 23, 20, 22, 24, 25, 27, 29, 26, 28, 30, 31, 33, 35, 32, 34, 36});
  expect_iota(onnx::DepthToSpace{4, onnx::Mode::CRD}, {1, 32, 1, 2}, {1, 2, 4, 8},
              {1,  3,  5,  7,  2,  4,  6,  8,  9,  11, 13, 15, 10, 12, 14, 16, 17, 19, 21, 23, 18, 20,
               22, 24, 25, 27, 29, 31, 26, 28, 30, 32, 33, 35, 37, 39, 34, 36, 38, 40, 41, 43, 45, 47,
               42, 44, 46, 48, 49, 51, 53, 55, 50, 52, 54, 56, 57, 59, 61, 63, 58, 60, 62, 64});
  expect_iota(torch::PixelShuffle{3}, {18, 1, 2}, {2, 3, 6},
              {1,  3,  5,  2,  4,  6,  7,  9,  11, 8,  10, 12, 13, 15, 17, 14, 16, 18,
               19, 21, 23, 20, 22, 24, 25, 27, 29, 26, 28, 30, 31, 33, 35, 32, 34, 36});
  expect_iota(openvino::DepthToSpace{4, openvino::BlocksMode::depth_first}, {1, 32, 1, 2}, {1, 2, 4, 8},
              {1,  3,  5,  7,  2,  4,  6,  8,  9,  11, 13, 15, 10, 12, 14, 16, 17, 19, 21, 23, 18, 20,
               22, 24, 25, 27, 29, 31, 26, 28, 30, 32, 33, 35, 37, 39, 34, 36, 38, 40, 41, 43, 45, 47,
               42, 44, 46, 48, 49, 51, 53, 55, 50, 52, 54, 56, 57, 59, 61, 63, 58, 60, 62, 64});
}

// Converters accepted only square blocks, two blocked axes and rank 4.
TEST(Regressions, SpaceToBatchWithAnisotropicBlock) {
  expect_iota(tensorflow::SpaceToBatchND{{3, 2}, {{1, 1}, {0, 1}}}, {1, 4, 3, 2}, {6, 2, 2, 2},
              {0, 0, 0, 0, 13, 14, 17, 18, 0, 0, 0,  0,  15, 16, 0, 0, 1, 2,  5, 6, 19, 20, 23, 24,
               3, 4, 0, 0, 21, 22, 0,  0,  7, 8, 11, 12, 0,  0,  0, 0, 9, 10, 0, 0, 0,  0,  0,  0});
  expect_iota(tensorflow::BatchToSpaceND{{3, 2}, {{1, 1}, {0, 1}}}, {6, 2, 2, 2}, {1, 4, 3, 2},
              {17, 18, 25, 26, 19, 20, 33, 34, 41, 42, 35, 36, 5, 6, 13, 14, 7, 8, 21, 22, 29, 30, 23, 24});
}

TEST(Regressions, SpaceToBatchOfARankThreeInput) {
  expect_iota(tensorflow::SpaceToBatchND{{2}, {{1, 2}}}, {2, 5, 3}, {4, 4, 3},
              {0, 0, 0, 4, 5, 6, 10, 11, 12, 0, 0, 0, 0,  0,  0,  19, 20, 21, 25, 26, 27, 0, 0, 0,
               1, 2, 3, 7, 8, 9, 13, 14, 15, 0, 0, 0, 16, 17, 18, 22, 23, 24, 28, 29, 30, 0, 0, 0});
  expect_iota(
      tensorflow::BatchToSpaceND{{2}, {{1, 2}}}, {4, 4, 3}, {2, 5, 3},
      {25, 26, 27, 4, 5, 6, 28, 29, 30, 7, 8, 9, 31, 32, 33, 37, 38, 39, 16, 17, 18, 40, 41, 42, 19, 20, 21, 43, 44, 45});
}

TEST(Regressions, SpaceToBatchOfThreeAxesInRankFour) {
  expect_iota(tensorflow::SpaceToBatchND{{1, 2, 2}, {{0, 0}, {0, 1}, {1, 0}}}, {1, 2, 3, 3}, {4, 2, 2, 2},
              {0, 2, 0, 8, 0, 11, 0, 17, 1, 3, 7, 9, 10, 12, 16, 18, 0, 5, 0, 0, 0, 14, 0, 0, 4, 6, 0, 0, 13, 15, 0, 0});
  expect_iota(tensorflow::SpaceToBatchND{{2, 2, 2}, {{0, 0}, {0, 0}, {0, 0}}}, {1, 2, 2, 4}, {8, 1, 1, 2},
              {1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13, 15, 14, 16});
}

// Tests that fold(unfold(x)) == x, bit for bit, for patches that neither overlap nor leave gaps.
template <class T>
void expect_round_trip(const Dims& image, const Axes& window, const Padding& padding, const Dims& columns) {
  const Unfold unfold = {.kernel_size = window, .stride = window, .padding = padding};
  const Fold fold = {.output_size = image.slice(2, 4), .kernel_size = window, .stride = window, .padding = padding};
  std::vector<T> x(static_cast<std::size_t>(element_count(image)));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 2654435761u >> 7);
  std::vector<T> patches(static_cast<std::size_t>(element_count(columns))), back(x.size(), T{99});
  expect_shape(unfold, image, columns);
  expect_shape(fold, columns, image);
  run(unfold, view(x.data(), image), view(patches.data(), columns));
  run(fold, view(patches.data(), columns), view(back.data(), image));
  EXPECT_TRUE(x == back) << to_string(image) << ' ' << to_string(window);
}

// kornia dropped the rest of images that are not a multiple of the window.
TEST(Regressions, RoundTripOf1200x2040WithWindow256) {
  const Padding centred = {{40, 40}, {4, 4}}, at_the_end = {{0, 80}, {0, 8}};
  expect_round_trip<std::uint8_t>({1, 3, 1200, 2040}, 256, centred, {1, 196608, 40});
  expect_round_trip<std::uint8_t>({1, 3, 1200, 2040}, 256, at_the_end, {1, 196608, 40});
  expect_round_trip<float>({1, 1, 1200, 2040}, 256, centred, {1, 65536, 40});
}

// kornia failed on integer images with windows of 64 and more.
TEST(Regressions, RoundTripOfIntegerPatches) {
  for (const std::int64_t window : {64, 128, 512, 1024}) {
    const auto grid = 1024 / window;
    expect_round_trip<std::int32_t>({1, 3, 1024, 1024}, window, 0, {1, 3 * window * window, grid * grid});
  }
  expect_round_trip<std::uint8_t>({1, 3, 1024, 1024}, 64, 0, {1, 12288, 256});
  expect_round_trip<std::int64_t>({1, 1, 1024, 1024}, 256, 0, {1, 65536, 16});
}

TEST(Regressions, KernelOfTheWholeImage) {
  expect_iota(Unfold{.kernel_size = {3, 4}}, {1, 2, 3, 4}, {1, 24, 1}, iota({24}));
  expect_iota(Fold{.output_size = {3, 4}, .kernel_size = {3, 4}}, {1, 24, 1}, {1, 2, 3, 4}, iota({24}));
}

// Tests that <unfold(x), y> == <x, fold(y)> in integers, and that fold(unfold(1)) is the coverage.
TEST(Regressions, FoldIsTheAdjointOfUnfold) {
  const struct {
    Dims image, kernel, stride, dilation;
    PadsList pads;
    Dims columns;
  } cases[] = {{{2, 3, 7, 6}, {3, 2}, {2, 1}, {1, 2}, {{1, 0}, {2, 1}}, {2, 18, 21}},
               {{1, 2, 9}, {4}, {3}, {2}, {{2, 2}}, {1, 8, 3}},
               {{1, 1, 4, 5, 6}, {2, 3, 1}, {1, 2, 2}, {3, 1, 1}, {{0, 0}, {1, 1}, {0, 1}}, {1, 6, 12}}};
  for (const auto& test : cases) {
    const Unfold unfold = {
        .kernel_size = test.kernel, .stride = test.stride, .dilation = test.dilation, .padding = test.pads};
    const Fold fold = {.output_size = test.image.slice(2, test.image.size()),
                       .kernel_size = test.kernel,
                       .stride = test.stride,
                       .dilation = test.dilation,
                       .padding = test.pads};
    const auto x = iota(test.image, 5), y = iota(test.columns, -40);
    Ints unfolded(y.size()), folded(x.size()), ones(x.size(), 1), cover(x.size());
    run(unfold, view(x.data(), test.image), view(unfolded.data(), test.columns));
    run(fold, view(y.data(), test.columns), view(folded.data(), test.image));
    std::int64_t left = 0, right = 0;
    for (std::size_t i = 0; i < y.size(); ++i) left += unfolded[i] * y[i];
    for (std::size_t i = 0; i < x.size(); ++i) right += x[i] * folded[i];
    EXPECT_EQ(left, right) << to_string(test.image);

    run(unfold, view(ones.data(), test.image), view(unfolded.data(), test.columns));
    run(fold, view(unfolded.data(), test.columns), view(cover.data(), test.image));
    const auto pixels = static_cast<std::size_t>(element_count(fold.output_size));
    Ints counted(pixels);
    coverage({fold.output_size, test.kernel, test.stride, test.dilation, test.pads}, view(counted.data(), fold.output_size));
    for (std::size_t i = 0; i < cover.size(); ++i) EXPECT_EQ(cover[i], counted[i % pixels]) << to_string(test.image);
  }
}

}  // namespace
}  // namespace patchfold::vectors
