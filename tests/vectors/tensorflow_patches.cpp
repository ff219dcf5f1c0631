// SPDX-License-Identifier: Apache-2.0
// TensorFlow's tests of ExtractImagePatches and ExtractVolumePatches. Shapes and parameters are TensorFlow's, the data is
// 1, 2, 3, .. (0 in the output is padding); oracle.py makes the expected patches and fingerprints.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using tensorflow::ExtractImagePatches;
using tensorflow::ExtractVolumePatches;
using enum tensorflow::PaddingType;

constexpr DType types[] = {DType::float16, DType::float32,   DType::float64,   DType::bfloat16,
                           DType::boolean, DType::complex64, DType::complex128};

TEST(TensorflowExtractImagePatches, Ksize1x1Stride1x1Rate1x1) {
  for (const auto padding : {VALID, SAME})
    expect_iota(ExtractImagePatches{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, padding}, {2, 3, 4, 5}, {2, 3, 4, 5},
                iota({2, 3, 4, 5}), types);
}

TEST(TensorflowExtractImagePatches, Ksize1x1Stride2x3Rate1x1) {
  expect_iota(ExtractImagePatches{{1, 1, 1, 1}, {1, 2, 3, 1}, {1, 1, 1, 1}, VALID}, {2, 4, 5, 3}, {2, 2, 2, 3},
              {1, 2, 3, 10, 11, 12, 31, 32, 33, 40, 41, 42, 61, 62, 63, 70, 71, 72, 91, 92, 93, 100, 101, 102}, types);
  expect_iota(ExtractImagePatches{{1, 1, 1, 1}, {1, 2, 3, 1}, {1, 1, 1, 1}, SAME}, {2, 4, 5, 3}, {2, 2, 2, 3},
              {1, 2, 3, 10, 11, 12, 31, 32, 33, 40, 41, 42, 61, 62, 63, 70, 71, 72, 91, 92, 93, 100, 101, 102}, types);
}

TEST(TensorflowExtractImagePatches, Ksize2x2Stride1x1Rate1x1Valid) {
  expect_iota(ExtractImagePatches{{1, 2, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, VALID}, {1, 2, 2, 1}, {1, 1, 1, 4}, {1, 2, 3, 4},
              types);
}

TEST(TensorflowExtractImagePatches, Ksize2x2Stride1x1Rate1x1Same) {
  expect_iota(ExtractImagePatches{{1, 2, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, SAME}, {1, 2, 2, 1}, {1, 2, 2, 4},
              {1, 2, 3, 4, 2, 0, 4, 0, 3, 4, 0, 0, 4, 0, 0, 0}, types);
}

TEST(TensorflowExtractImagePatches, Ksize2x2Stride1x1Rate2x2Valid) {
  expect_iota(ExtractImagePatches{{1, 2, 2, 1}, {1, 1, 1, 1}, {1, 2, 2, 1}, VALID}, {1, 4, 4, 1}, {1, 2, 2, 4},
              {1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16}, types);
}

TEST(TensorflowExtractImagePatches, rates_with_same_and_channels) {
  expect_iota(ExtractImagePatches{{1, 2, 2, 1}, {1, 2, 2, 1}, {1, 2, 3, 1}, SAME}, {1, 4, 5, 2}, {1, 2, 3, 8},
              {0, 0, 5,  6,  0, 0, 25, 26, 3,  4,  9,  10, 23, 24, 29, 30, 7,  8,  0, 0, 27, 28, 0, 0,
               0, 0, 25, 26, 0, 0, 0,  0,  23, 24, 29, 30, 0,  0,  0,  0,  27, 28, 0, 0, 0,  0,  0, 0},
              types);
}

TEST(TensorflowExtractImagePatches, Errors) {
  const Dims one = {1, 1, 1, 1}, image = {1, 4, 4, 1};
  expect_error(ExtractImagePatches{one, one, one, VALID}, {4, 4, 1}, {ErrorCode::rank});
  expect_error(ExtractImagePatches{one, one, one, VALID}, {1, 4, 4, 4, 1}, {ErrorCode::rank});
  expect_error(ExtractImagePatches{{1, 1, 1}, one, one, VALID}, image, {ErrorCode::length}, {"ksizes"});
  expect_error(ExtractImagePatches{one, {1, 1}, one, VALID}, image, {ErrorCode::length}, {"strides"});
  expect_error(ExtractImagePatches{one, one, {1, 1, 1, 1, 1}, VALID}, image, {ErrorCode::length}, {"rates"});
  expect_error(ExtractImagePatches{{2, 1, 1, 1}, one, one, VALID}, image, {ErrorCode::value}, {"ksizes"});
  expect_error(ExtractImagePatches{{1, 1, 1, 2}, one, one, VALID}, image, {ErrorCode::value}, {"ksizes"});
  expect_error(ExtractImagePatches{one, {1, 1, 1, 3}, one, VALID}, image, {ErrorCode::value}, {"strides"});
  expect_error(ExtractImagePatches{one, one, {2, 1, 1, 1}, VALID}, image, {ErrorCode::value}, {"rates"});
  expect_error(ExtractImagePatches{{1, 0, 1, 1}, one, one, VALID}, image, {ErrorCode::value}, {"ksizes"});
  expect_error(ExtractImagePatches{one, {1, 1, 0, 1}, one, VALID}, image, {ErrorCode::value}, {"strides"});
  expect_error(ExtractImagePatches{one, one, {1, -1, 1, 1}, VALID}, image, {ErrorCode::value}, {"rates"});
  expect_error(ExtractImagePatches{one, one, one}, image, {ErrorCode::missing}, {"padding"});
}

// The images of the gradient tests. The gradient is the neutral fold with the same geometry and TensorFlow's layout.
TEST(TensorflowExtractImagePatches, Gradient) {
  const struct {
    Dims image, kernel, stride, rate;
    tensorflow::PaddingType padding;
    PadsList pads;
    Dims patches;
    std::uint64_t forward, backward;
  } cases[] = {
      {{2, 5, 5, 3},
       {1, 1},
       {2, 3},
       {1, 1},
       VALID,
       {{0, 0}, {0, 0}},
       {2, 3, 2, 3},
       0x37c07f1cb1e04a57u,
       0xb41e4c596b5660e1u},
      {{2, 5, 5, 3}, {1, 1}, {2, 3}, {1, 1}, SAME, {{0, 0}, {0, 0}}, {2, 3, 2, 3}, 0x37c07f1cb1e04a57u, 0xb41e4c596b5660e1u},
      {{2, 7, 7, 3},
       {3, 3},
       {1, 1},
       {1, 1},
       VALID,
       {{0, 0}, {0, 0}},
       {2, 5, 5, 27},
       0x8d812a9ff85786a9u,
       0xf32f1a1accd1b65au},
      {{2, 7, 7, 3},
       {3, 3},
       {1, 1},
       {1, 1},
       SAME,
       {{1, 1}, {1, 1}},
       {2, 7, 7, 27},
       0x3a0d27f3e9acf28du,
       0x70e695af2b11b9d1u},
      {{2, 8, 7, 3},
       {2, 2},
       {1, 1},
       {1, 1},
       VALID,
       {{0, 0}, {0, 0}},
       {2, 7, 6, 12},
       0xe45406bbdc579e65u,
       0xa1dfc3f012fce54eu},
      {{2, 8, 7, 3},
       {2, 2},
       {1, 1},
       {1, 1},
       SAME,
       {{0, 1}, {0, 1}},
       {2, 8, 7, 12},
       0xfad25ec056fed37du,
       0x388c33839d78eeb4u},
      {{2, 7, 8, 3},
       {3, 2},
       {4, 3},
       {1, 1},
       VALID,
       {{0, 0}, {0, 0}},
       {2, 2, 3, 18},
       0x13f561279ac27e6du,
       0x3b8ef03ea39529bdu},
      {{2, 7, 8, 3},
       {3, 2},
       {4, 3},
       {1, 1},
       SAME,
       {{0, 0}, {0, 0}},
       {2, 2, 3, 18},
       0x13f561279ac27e6du,
       0x3b8ef03ea39529bdu},
      {{1, 15, 20, 3},
       {4, 3},
       {1, 1},
       {2, 4},
       VALID,
       {{0, 0}, {0, 0}},
       {1, 9, 12, 36},
       0x9219f09f4b0a21cdu,
       0x20d996979312155u},
      {{1, 15, 20, 3},
       {4, 3},
       {1, 1},
       {2, 4},
       SAME,
       {{3, 3}, {4, 4}},
       {1, 15, 20, 36},
       0x11a54c4034d526d2u,
       0xb5c576b265e3a1e6u},
      {{2, 7, 8, 1},
       {3, 2},
       {3, 2},
       {2, 2},
       VALID,
       {{0, 0}, {0, 0}},
       {2, 1, 3, 6},
       0xa28e9b2281a93b65u,
       0xfe7ca4ab4d3704f1u},
      {{2, 7, 8, 1}, {3, 2}, {3, 2}, {2, 2}, SAME, {{2, 2}, {0, 1}}, {2, 3, 4, 6}, 0x892d6f5f8a6d0eadu, 0xc2d57546f8370825u},
      {{2, 8, 9, 4},
       {2, 2},
       {4, 2},
       {3, 2},
       VALID,
       {{0, 0}, {0, 0}},
       {2, 2, 4, 16},
       0xac4f27ec1c88b4ceu,
       0x67aac84d8fbf2cau},
      {{2, 8, 9, 4},
       {2, 2},
       {4, 2},
       {3, 2},
       SAME,
       {{0, 0}, {1, 1}},
       {2, 2, 5, 16},
       0xa2b75bc81bada745u,
       0x306ad67e2c196ba5u},
  };
  for (const auto& test : cases) {
    const auto four = [](const Dims& two) { return Dims({1, two[0], two[1], 1}); };
    expect_fingerprint(ExtractImagePatches{four(test.kernel), four(test.stride), four(test.rate), test.padding}, test.image,
                       test.patches, test.forward);
    const Fold gradient = {.output_size = test.image.slice(1, 3),
                           .kernel_size = test.kernel,
                           .stride = test.stride,
                           .dilation = test.rate,
                           .padding = test.pads,
                           .layout = Layout::channels_last,
                           .order = Order::kernel,
                           .positions = Positions::grid};
    expect_fingerprint(gradient, test.patches, test.image, test.backward);
  }
}

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

TEST(TensorflowExtractVolumePatches, Ksize1x1x1Stride1x1x1) {
  for (const auto padding : {VALID, SAME})
    expect_iota(ExtractVolumePatches{{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, padding}, {2, 3, 4, 5, 6}, {2, 3, 4, 5, 6},
                iota({2, 3, 4, 5, 6}), types);
}

TEST(TensorflowExtractVolumePatches, Ksize1x1x1Stride2x3x4) {
  expect_fingerprint(ExtractVolumePatches{{1, 1, 1, 1, 1}, {1, 2, 3, 4, 1}, VALID}, {6, 2, 4, 5, 3}, {6, 1, 2, 2, 3},
                     0xc6c8112a8f5c752du);
  expect_fingerprint(ExtractVolumePatches{{1, 1, 1, 1, 1}, {1, 2, 3, 4, 1}, SAME}, {6, 2, 4, 5, 3}, {6, 1, 2, 2, 3},
                     0xc6c8112a8f5c752du);
}

TEST(TensorflowExtractVolumePatches, Ksize1x1x2Stride2x2x3) {
  expect_iota(ExtractVolumePatches{{1, 1, 1, 2, 1}, {1, 2, 2, 3, 1}, VALID}, {1, 3, 3, 5, 1}, {1, 2, 2, 2, 2},
              {1, 2, 4, 5, 11, 12, 14, 15, 31, 32, 34, 35, 41, 42, 44, 45}, types);
  expect_iota(ExtractVolumePatches{{1, 1, 1, 2, 1}, {1, 2, 2, 3, 1}, SAME}, {1, 3, 3, 5, 1}, {1, 2, 2, 2, 2},
              {1, 2, 4, 5, 11, 12, 14, 15, 31, 32, 34, 35, 41, 42, 44, 45}, types);
}

TEST(TensorflowExtractVolumePatches, Ksize2x2x2Stride1x1x1Valid) {
  expect_iota(ExtractVolumePatches{{1, 2, 2, 2, 1}, {1, 1, 1, 1, 1}, VALID}, {1, 2, 2, 2, 1}, {1, 1, 1, 1, 8},
              {1, 2, 3, 4, 5, 6, 7, 8}, types);
}

TEST(TensorflowExtractVolumePatches, Ksize2x2x2Stride1x1x1Same) {
  expect_iota(ExtractVolumePatches{{1, 2, 2, 2, 1}, {1, 1, 1, 1, 1}, SAME}, {1, 2, 2, 2, 1}, {1, 2, 2, 2, 8},
              {1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 4, 0, 6, 0, 8, 0, 3, 4, 0, 0, 7, 8, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0,
               5, 6, 7, 8, 0, 0, 0, 0, 6, 0, 8, 0, 0, 0, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0},
              types);
}

TEST(TensorflowExtractVolumePatches, LargeKsize) {
  const std::int64_t k = 2000000;
  expect_error(ExtractVolumePatches{{1, k, k, k, 1}, {1, 1, 1, 1, 1}, SAME}, {1, 1, 1, 1, 2}, {ErrorCode::overflow});
}

TEST(TensorflowExtractVolumePatches, Errors) {
  const Dims one = {1, 1, 1, 1, 1}, image = {1, 4, 4, 4, 1};
  expect_error(ExtractVolumePatches{one, one, VALID}, {1, 4, 4, 1}, {ErrorCode::rank});
  expect_error(ExtractVolumePatches{{1, 1, 1, 1}, one, VALID}, image, {ErrorCode::length}, {"ksizes"});
  expect_error(ExtractVolumePatches{one, {1, 1, 1, 1}, VALID}, image, {ErrorCode::length}, {"strides"});
  expect_error(ExtractVolumePatches{{1, 0, 1, 1, 1}, one, VALID}, image, {ErrorCode::value}, {"ksizes"});
  expect_error(ExtractVolumePatches{one, {2, 1, 1, 1, 1}, VALID}, image, {ErrorCode::value}, {"strides"});
  expect_error(ExtractVolumePatches{one, one}, image, {ErrorCode::missing}, {"padding"});
}

}  // namespace
}  // namespace patchfold::vectors
