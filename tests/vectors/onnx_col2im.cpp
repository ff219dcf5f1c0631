// SPDX-License-Identifier: Apache-2.0
// Col2Im-18: the examples that ONNX's text prints for opset 18, except for one number (see test_col2im_pads), and ONNX
// Runtime's cases, whose images oracle.py makes.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using onnx::Col2Im;

constexpr DType types[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int16,
                           DType::int32,   DType::int64,   DType::uint16,  DType::uint32,   DType::uint64};

TEST(OnnxCol2Im, test_col2im) {
  const Col2Im op = {.image_shape = {5, 5}, .block_shape = {1, 5}};
  expect_values(op, {1, 5, 5}, {1, 6, 11, 16, 21, 2, 7, 12, 17, 22, 3, 8, 13, 18, 23, 4, 9, 14, 19, 24, 5, 0, 15, 20, 25},
                {1, 1, 5, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25},
                types);
}

TEST(OnnxCol2Im, test_col2im_strides) {
  const Col2Im op = {.image_shape = {5, 5}, .block_shape = {3, 3}, .strides = {2, 2}};
  expect_values(op, {1, 9, 4},
                {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0},
                {1, 1, 5, 5}, {0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 2, 1, 2, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0}, types);
}

// The text prints 14 for the last element of the first row; its two contributions are 10 and 14. ONNX's own test data has
// since been changed to 24.
TEST(OnnxCol2Im, test_col2im_pads) {
  const Col2Im op = {.image_shape = {5, 5}, .block_shape = {1, 5}, .pads = {0, 1, 0, 1}};
  expect_values(
      op, {1, 5, 15}, {1,  6,  11, 16, 21, 26, 31, 36, 41, 46, 51, 56, 61, 66, 71, 2,  7,  12, 17, 22, 27, 32, 37, 42, 47,
                       52, 57, 62, 67, 72, 3,  8,  13, 18, 23, 28, 33, 38, 43, 48, 53, 58, 63, 68, 73, 4,  9,  14, 19, 24,
                       29, 34, 39, 44, 49, 54, 59, 64, 69, 74, 5,  10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75},
      {1, 1, 5, 5},
      {8, 21, 24, 27, 24, 38, 66, 69, 72, 54, 68, 111, 114, 117, 84, 98, 156, 159, 162, 114, 128, 201, 204, 207, 144},
      types);
}

TEST(OnnxCol2Im, test_col2im_dilations) {
  const Col2Im op = {.image_shape = {6, 6}, .block_shape = {2, 2}, .dilations = {1, 5}};
  expect_values(
      op, {1, 4, 5}, {1, 5, 9, 13, 17, 2, 6, 10, 14, 18, 3, 7, 11, 15, 19, 4, 8, 12, 16, 20}, {1, 1, 6, 6},
      {1, 0, 0, 0, 0, 2, 8, 0, 0, 0, 0, 10, 16, 0, 0, 0, 0, 18, 24, 0, 0, 0, 0, 26, 32, 0, 0, 0, 0, 34, 19, 0, 0, 0, 0, 20},
      types);
}

TEST(OnnxCol2Im, test_col2im_5d) {
  const Col2Im op = {.image_shape = {3, 4, 5}, .block_shape = {1, 1, 5}};
  expect_values(
      op, {1, 10, 12},
      {1,  6,  11, 16, 21, 26, 31, 36, 41,  46,  51,  56,  2,  7,  12, 17, 22, 27, 32, 37,  42,  47,  52,  57,
       3,  8,  13, 18, 23, 28, 33, 38, 43,  48,  53,  58,  4,  9,  14, 19, 24, 29, 34, 39,  44,  49,  54,  59,
       5,  10, 15, 20, 25, 30, 35, 40, 45,  50,  55,  60,  61, 66, 71, 76, 81, 86, 91, 96,  101, 106, 111, 116,
       62, 67, 72, 77, 82, 87, 92, 97, 102, 107, 112, 117, 63, 68, 73, 78, 83, 88, 93, 98,  103, 108, 113, 118,
       64, 69, 74, 79, 84, 89, 94, 99, 104, 109, 114, 119, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110, 115, 120},
      {1, 2, 3, 4, 5},
      {1,  2,  3,  4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,  16,  17,  18,  19,  20,  21,  22,  23,  24,
       25, 26, 27, 28,  29,  30,  31,  32,  33,  34,  35,  36,  37,  38,  39,  40,  41,  42,  43,  44,  45,  46,  47,  48,
       49, 50, 51, 52,  53,  54,  55,  56,  57,  58,  59,  60,  61,  62,  63,  64,  65,  66,  67,  68,  69,  70,  71,  72,
       73, 74, 75, 76,  77,  78,  79,  80,  81,  82,  83,  84,  85,  86,  87,  88,  89,  90,  91,  92,  93,  94,  95,  96,
       97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120},
      types);
}

TEST(OnnxCol2Im, image_shape_and_block_shape_must_be_int64) {
  const auto arguments = [](DType image, DType block) -> std::vector<Argument> {
    return {{"image_shape", IndexTensor{{5, 5}, {2}, image}}, {"block_shape", IndexTensor{{1, 5}, {2}, block}}};
  };
  expect_shape(table_op("onnx.Col2Im-18", arguments(DType::int64, DType::int64)), {1, 5, 5}, {1, 1, 5, 5});
  expect_error_of_binding("onnx.Col2Im-18", arguments(DType::int32, DType::int64), {ErrorCode::type});
  expect_error_of_binding("onnx.Col2Im-18", arguments(DType::int64, DType::int32), {ErrorCode::type});
}

TEST(OnnxCol2Im, empty_lists_are_the_defaults) {
  const Ints expected = {1, 9, 11, 9, 17, 48, 52, 33, 16, 39, 41, 24};
  for (const Dims& ones : {Dims{}, Dims{1, 1}})
    expect_iota(table_op("onnx.Col2Im-18", {{"image_shape", Dims{3, 4}},
                                            {"block_shape", Dims{2, 2}},
                                            {"dilations", ones},
                                            {"pads", ones.empty() ? Dims{} : Dims{0, 0, 0, 0}},
                                            {"strides", ones}}),
                {1, 4, 6}, {1, 1, 3, 4}, expected);
}

TEST(OnnxCol2Im, lists_must_agree) {
  expect_error(Col2Im{.image_shape = {5, 5}, .block_shape = {1, 1, 5}}, {1, 5, 5}, {ErrorCode::length});
  expect_error(Col2Im{.image_shape = {5, 5}, .block_shape = {1, 5}, .dilations = {1}}, {1, 5, 5}, {ErrorCode::length});
  expect_error(Col2Im{.image_shape = {5, 5}, .block_shape = {1, 5}, .strides = {1, 1, 1}}, {1, 5, 5}, {ErrorCode::length});
  expect_error(Col2Im{.image_shape = {5, 5}, .block_shape = {1, 5}, .pads = {0, 0, 0}}, {1, 5, 5}, {ErrorCode::length});
  expect_error(Col2Im{.image_shape = {5, 5}, .block_shape = {1, 5}, .pads = {0, 0}}, {1, 5, 5}, {ErrorCode::length});
}

TEST(OnnxCol2Im, input_must_have_rank_3) {
  const Col2Im op = {.image_shape = {5, 5}, .block_shape = {1, 5}};
  expect_error(op, {5, 5}, {ErrorCode::rank});
  expect_error(op, {1, 1, 5, 5}, {ErrorCode::rank});
}

TEST(OnnxCol2Im, one_dimensional_images) {
  expect_iota(Col2Im{.image_shape = {5}, .block_shape = {3}, .strides = {2}}, {1, 3, 2}, {1, 1, 5}, {1, 3, 7, 4, 6});
}

// The columns are the rows of the image 1, 2, 3, .., so the image comes back.
TEST(OrtCol2Im, Simple4dNCHW) {
  expect_values(
      Col2Im{.image_shape = {5, 5}, .block_shape = {1, 5}, .dilations = {1, 1}, .pads = {0, 0, 0, 0}, .strides = {1, 1}},
      {1, 5, 5}, {1, 6, 11, 16, 21, 2, 7, 12, 17, 22, 3, 8, 13, 18, 23, 4, 9, 14, 19, 24, 5, 10, 15, 20, 25}, {1, 1, 5, 5},
      iota({1, 1, 5, 5}), types);
}

TEST(OrtCol2Im, With2Images3channelsNonSquare4dNCHW) {
  expect_values(
      Col2Im{.image_shape = {4, 5}, .block_shape = {1, 5}, .dilations = {1, 1}, .pads = {0, 0, 0, 0}, .strides = {1, 1}},
      {2, 15, 4},
      {1,  6,  11, 16,  2,   7,   12,  17,  3,   8,   13,  18,  4,   9,   14,  19,  5,   10,  15,  20,  21,  26,  31,  36,
       22, 27, 32, 37,  23,  28,  33,  38,  24,  29,  34,  39,  25,  30,  35,  40,  41,  46,  51,  56,  42,  47,  52,  57,
       43, 48, 53, 58,  44,  49,  54,  59,  45,  50,  55,  60,  61,  66,  71,  76,  62,  67,  72,  77,  63,  68,  73,  78,
       64, 69, 74, 79,  65,  70,  75,  80,  81,  86,  91,  96,  82,  87,  92,  97,  83,  88,  93,  98,  84,  89,  94,  99,
       85, 90, 95, 100, 101, 106, 111, 116, 102, 107, 112, 117, 103, 108, 113, 118, 104, 109, 114, 119, 105, 110, 115, 120},
      {2, 3, 4, 5}, iota({2, 3, 4, 5}), types);
}

TEST(OrtCol2Im, With3channels4dNCHW) {
  expect_values(
      Col2Im{.image_shape = {5, 5}, .block_shape = {1, 5}, .dilations = {1, 1}, .pads = {0, 0, 0, 0}, .strides = {1, 1}},
      {1, 15, 5}, {1,  6,  11, 16, 21, 2,  7,  12, 17, 22, 3,  8,  13, 18, 23, 4,  9,  14, 19, 24, 5,  10, 15, 20, 25,
                   26, 31, 36, 41, 46, 27, 32, 37, 42, 47, 28, 33, 38, 43, 48, 29, 34, 39, 44, 49, 30, 35, 40, 45, 50,
                   51, 56, 61, 66, 71, 52, 57, 62, 67, 72, 53, 58, 63, 68, 73, 54, 59, 64, 69, 74, 55, 60, 65, 70, 75},
      {1, 3, 5, 5}, iota({1, 3, 5, 5}), types);
}

TEST(OrtCol2Im, With2Images3channels4dNCHW) {
  expect_values(
      Col2Im{.image_shape = {5, 5}, .block_shape = {1, 5}, .dilations = {1, 1}, .pads = {0, 0, 0, 0}, .strides = {1, 1}},
      {2, 15, 5},
      {1,   6,   11,  16,  21,  2,   7,   12,  17,  22,  3,   8,   13,  18,  23,  4,   9,   14,  19,  24,  5,   10,
       15,  20,  25,  26,  31,  36,  41,  46,  27,  32,  37,  42,  47,  28,  33,  38,  43,  48,  29,  34,  39,  44,
       49,  30,  35,  40,  45,  50,  51,  56,  61,  66,  71,  52,  57,  62,  67,  72,  53,  58,  63,  68,  73,  54,
       59,  64,  69,  74,  55,  60,  65,  70,  75,  76,  81,  86,  91,  96,  77,  82,  87,  92,  97,  78,  83,  88,
       93,  98,  79,  84,  89,  94,  99,  80,  85,  90,  95,  100, 101, 106, 111, 116, 121, 102, 107, 112, 117, 122,
       103, 108, 113, 118, 123, 104, 109, 114, 119, 124, 105, 110, 115, 120, 125, 126, 131, 136, 141, 146, 127, 132,
       137, 142, 147, 128, 133, 138, 143, 148, 129, 134, 139, 144, 149, 130, 135, 140, 145, 150},
      {2, 3, 5, 5}, iota({2, 3, 5, 5}), types);
}

TEST(OrtCol2Im, With2Images2channelsNonSquareDilationPadStride4dNCHW) {
  const Col2Im op = {
      .image_shape = {4, 5}, .block_shape = {1, 2}, .dilations = {2, 2}, .pads = {2, 2, 2, 2}, .strides = {2, 2}};
  expect_iota(op, {2, 4, 16}, {2, 2, 4, 5},
              {27, 0, 29, 0, 31,  0, 0,   0, 0,   0, 35, 0, 37,  0, 39,  0, 0,   0, 0,   0, 91, 0, 93,  0, 95,  0, 0,   0,
               0,  0, 99, 0, 101, 0, 103, 0, 0,   0, 0,  0, 155, 0, 157, 0, 159, 0, 0,   0, 0,  0, 163, 0, 165, 0, 167, 0,
               0,  0, 0,  0, 219, 0, 221, 0, 223, 0, 0,  0, 0,   0, 227, 0, 229, 0, 231, 0, 0,  0, 0,   0},
              types);
}

TEST(OrtCol2Im, Simple5dNCHWD) {
  const Col2Im op = {.image_shape = {1, 5, 5}, .block_shape = {1, 1, 5}};
  expect_values(op, {1, 5, 5}, {1, 6, 11, 16, 21, 2, 7, 12, 17, 22, 3, 8, 13, 18, 23, 4, 9, 14, 19, 24, 5, 10, 15, 20, 25},
                {1, 1, 1, 5, 5}, iota({25}), types);
}

TEST(OrtCol2Im, WithStrides5dNCHWD) {
  const Col2Im op = {.image_shape = {4, 4, 4}, .block_shape = {1, 1, 1}, .strides = {2, 2, 2}};
  expect_iota(op, {1, 1, 8}, {1, 1, 4, 4, 4},
              {1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
               5, 0, 6, 0, 0, 0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
              types);
}

TEST(OrtCol2Im, ImageShapeLargerThanColumnTensor) {
  expect_error(Col2Im{.image_shape = {4, 4}, .block_shape = {1, 1}}, {1, 1, 4}, {ErrorCode::position_count}, {"4", "16"});
}

TEST(OrtCol2Im, StridesMustBePositive) {
  expect_error(Col2Im{.image_shape = {1, 1}, .block_shape = {1, 1}, .strides = {0, 1}}, {1, 1, 1}, {ErrorCode::value},
               {"strides"});
  expect_error(Col2Im{.image_shape = {1, 1}, .block_shape = {1, 1}, .strides = {1, -1}}, {1, 1, 1}, {ErrorCode::value},
               {"strides"});
}

TEST(OrtCol2Im, DilationsMustBePositive) {
  expect_error(Col2Im{.image_shape = {1, 1}, .block_shape = {2, 1}, .dilations = {0, 1}}, {1, 2, 1}, {ErrorCode::value},
               {"dilations"});
}

TEST(OrtCol2Im, PaddedImageSmallerThanDilatedKernel) {
  expect_error(Col2Im{.image_shape = {1, 1}, .block_shape = {1, 2}, .dilations = {1, 2}}, {1, 2, 1},
               {ErrorCode::position_count}, {"1", "0"});
}

TEST(OrtCol2Im, ColumnChannelsNotMultipleOfBlock) {
  expect_error(Col2Im{.image_shape = {2, 2}, .block_shape = {2, 2}}, {1, 3, 1}, {ErrorCode::divisible}, {"3", "4"});
}

// ONNX Runtime's general path decodes dilated kernels wrongly when there are not two spatial axes; no suite covers them.
TEST(OnnxCol2Im, dilation_with_three_spatial_axes) {
  expect_iota(Col2Im{.image_shape = {4, 4, 4}, .block_shape = {2, 2, 2}, .dilations = {2, 2, 2}}, {1, 8, 8}, {1, 1, 4, 4, 4},
              {1,  2,  9,  10, 3,  4,  11, 12, 17, 18, 25, 26, 19, 20, 27, 28, 5,  6,  13, 14, 7,  8,
               15, 16, 21, 22, 29, 30, 23, 24, 31, 32, 33, 34, 41, 42, 35, 36, 43, 44, 49, 50, 57, 58,
               51, 52, 59, 60, 37, 38, 45, 46, 39, 40, 47, 48, 53, 54, 61, 62, 55, 56, 63, 64},
              types);
}

}  // namespace
}  // namespace patchfold::vectors
