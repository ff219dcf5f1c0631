// SPDX-License-Identifier: Apache-2.0
// Cases that other suites lack: asymmetric pads with values, holes, empty results, dilation with more than two axes, kernels larger
// than the image on two axes, mixes of rates, channels and SAME. The data is 1, 2, 3, ..; expected values come from a separate
// index-by-index program in Python.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

TEST(AsymmetricPads, OpenvinoCol2Im) {
  expect_iota(openvino::Col2Im{{3, 4}, {2, 3}, {2, 1}, {1, 2}, {1, 0}, {0, 3}}, {1, 12, 6}, {1, 2, 3, 4},
              {19, 20, 46, 26, 4, 5, 16, 11, 22, 23, 52, 29, 55, 56, 118, 62, 40, 41, 88, 47, 58, 59, 124, 65},
              summable_types());
}

TEST(AsymmetricPads, OnnxCol2Im) {
  expect_iota(onnx::Col2Im{.image_shape = {3, 4}, .block_shape = {2, 3}, .pads = {0, 2, 1, 0}, .strides = {1, 2}}, {2, 6, 6},
              {2, 1, 3, 4}, {15, 8, 14, 0, 70, 36, 48, 0, 78, 40, 52, 0, 87, 44, 50, 0, 214, 108, 120, 0, 222, 112, 124, 0},
              summable_types());
  expect_iota(onnx::Col2Im{.image_shape = {4}, .block_shape = {3}, .pads = {2, 1}}, {1, 3, 5}, {1, 1, 4}, {21, 24, 27, 24});
}

TEST(AsymmetricPads, UnfoldAndFold) {
  expect_iota(Unfold{.kernel_size = {2, 3}, .stride = {1, 2}, .padding = {{0, 1}, {2, 0}}}, {1, 2, 3, 4}, {1, 12, 6},
              {0,  1,  0,  5,  0,  9,  0, 2,  0, 6,  0, 10, 1, 3,  5, 7,  9, 11, 0,  5,  0,  9,  0, 0,
               0,  6,  0,  10, 0,  0,  5, 7,  9, 11, 0, 0,  0, 13, 0, 17, 0, 21, 0,  14, 0,  18, 0, 22,
               13, 15, 17, 19, 21, 23, 0, 17, 0, 21, 0, 0,  0, 18, 0, 22, 0, 0,  17, 19, 21, 23, 0, 0});
  expect_iota(Fold{.output_size = {3, 4}, .kernel_size = {2, 3}, .stride = {1, 2}, .padding = {{0, 1}, {2, 0}}}, {1, 12, 6},
              {1, 2, 3, 4}, {15, 8, 14, 0, 70, 36, 48, 0, 78, 40, 52, 0, 87, 44, 50, 0, 214, 108, 120, 0, 222, 112, 124, 0});
}

TEST(Holes, StayZeroBetweenPatches) {
  expect_iota(openvino::Col2Im{.output_size = {7, 7}, .kernel_size = {2, 2}, .strides = {4, 3}}, {4, 4}, {1, 7, 7},
              {1, 5, 0, 2, 6, 0, 0, 9, 13, 0, 10, 14, 0, 0,  0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 3, 7, 0, 4, 8, 0,  0, 11, 15, 0, 12, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0},
              summable_types());
  expect_iota(onnx::Col2Im{.image_shape = {9}, .block_shape = {2}, .dilations = {3}, .strides = {2}}, {1, 2, 3}, {1, 1, 9},
              {1, 0, 2, 4, 3, 5, 0, 6, 0}, summable_types());
  expect_iota(torch::Fold{.output_size = {5, 5}, .kernel_size = {1, 1}, .stride = 3}, {1, 1, 4}, {1, 1, 5, 5},
              {1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 4, 0, 0, 0, 0, 0, 0}, summable_types());
}

TEST(Holes, TrailingPixelsStayZero) {
  expect_iota(Fold{.output_size = {8}, .kernel_size = {3}, .stride = 3}, {1, 3, 2}, {1, 1, 8}, {1, 3, 5, 2, 4, 6, 0, 0},
              summable_types());
  expect_iota(Fold{.output_size = {4, 5}, .kernel_size = 2, .stride = 2}, {1, 4, 4}, {1, 1, 4, 5},
              {1, 5, 2, 6, 0, 9, 13, 10, 14, 0, 3, 7, 4, 8, 0, 11, 15, 12, 16, 0}, summable_types());
}

TEST(ManyAxes, FoldWithDilation) {
  expect_iota(onnx::Col2Im{.image_shape = {3, 4, 5},
                           .block_shape = {2, 2, 2},
                           .dilations = {1, 3, 2},
                           .pads = {0, 0, 1, 1, 0, 0},
                           .strides = {2, 1, 3}},
              {1, 8, 4}, {1, 1, 3, 4, 5},
              {0, 5, 2, 0, 6, 0, 0,  0,  0, 0,  0, 0, 0, 0, 0, 0, 13, 10, 0, 14, 0, 21, 18, 0, 22, 0, 0,  0,  0, 0,
               0, 0, 0, 0, 0, 0, 29, 26, 0, 30, 0, 7, 4, 0, 8, 0, 0,  0,  0, 0,  0, 0,  0,  0, 0,  0, 15, 12, 0, 16});
  expect_fingerprint(
      Fold{.output_size = {3, 3, 2, 4}, .kernel_size = {2, 2, 1, 2}, .dilation = {2, 1, 1, 3}, .padding = {0, 1, 0, 0}},
      {2, 16, 8}, {2, 2, 3, 3, 2, 4}, 0x2f9e15ba157b913u);
}

TEST(ManyAxes, SixSpatialAxes) {
  const Padding pads = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {1, 0}};
  expect_fingerprint(Unfold{.kernel_size = 2, .padding = pads}, {1, 2, 2, 3, 2, 3, 2, 3}, {1, 128, 12}, 0x6ab5731d6b0bdcbcu);
  expect_fingerprint(Fold{.output_size = {2, 3, 2, 3, 2, 3}, .kernel_size = 2, .padding = pads}, {1, 128, 12},
                     {1, 2, 2, 3, 2, 3, 2, 3}, 0x88d3ef4008c82d6fu);
}

TEST(ManyAxes, ChannelsLastGrid) {
  expect_iota(Unfold{.kernel_size = {2, 1, 2, 2, 1},
                     .layout = Layout::channels_last,
                     .order = Order::kernel,
                     .positions = Positions::grid},
              {1, 2, 2, 3, 2, 2, 2}, {1, 1, 2, 2, 1, 2, 16},
              {1,  2,  5,  6,  9,  10, 13, 14, 49, 50, 53, 54, 57, 58, 61, 62, 3,  4,  7,  8,  11, 12, 15, 16, 51, 52,
               55, 56, 59, 60, 63, 64, 9,  10, 13, 14, 17, 18, 21, 22, 57, 58, 61, 62, 65, 66, 69, 70, 11, 12, 15, 16,
               19, 20, 23, 24, 59, 60, 63, 64, 67, 68, 71, 72, 25, 26, 29, 30, 33, 34, 37, 38, 73, 74, 77, 78, 81, 82,
               85, 86, 27, 28, 31, 32, 35, 36, 39, 40, 75, 76, 79, 80, 83, 84, 87, 88, 33, 34, 37, 38, 41, 42, 45, 46,
               81, 82, 85, 86, 89, 90, 93, 94, 35, 36, 39, 40, 43, 44, 47, 48, 83, 84, 87, 88, 91, 92, 95, 96});
}

TEST(KernelBeyondTheImageOnTwoAxes, FoldsToZeros) {
  for (const std::int64_t positions : {1, 2, 4, 6}) {
    const Dims in = {1, 16, positions};
    expect_error(openvino::Col2Im{.output_size = {2, 2}, .kernel_size = {4, 4}}, in, {ErrorCode::position_count}, {"0"});
    expect_error(onnx::Col2Im{.image_shape = {2, 2}, .block_shape = {4, 4}}, in, {ErrorCode::position_count}, {"0"});
    expect_error(Fold{.output_size = {2, 2}, .kernel_size = 4}, in, {ErrorCode::position_count}, {"0"});
  }
  expect_iota(openvino::Col2Im{.output_size = {2, 2}, .kernel_size = {4, 4}}, {1, 16, 0}, {1, 1, 2, 2}, {0, 0, 0, 0},
              summable_types());
}

TEST(ExtractImagePatches, RatesChannelsAndSameTogether) {
  expect_iota(
      openvino::ExtractImagePatches{{2, 3}, {2, 1}, {2, 3}, openvino::AutoPad::same_upper}, {1, 2, 4, 5}, {1, 12, 2, 5},
      {0,  0,  0,  1,  2,  0,  0,  0,  11, 12, 0,  0,  0, 21, 22, 0,  0,  0, 31, 32, 1,  2,  3,  4,  5,  11, 12, 13, 14, 15,
       21, 22, 23, 24, 25, 31, 32, 33, 34, 35, 4,  5,  0, 0,  0,  14, 15, 0, 0,  0,  24, 25, 0,  0,  0,  34, 35, 0,  0,  0,
       0,  0,  0,  11, 12, 0,  0,  0,  0,  0,  0,  0,  0, 31, 32, 0,  0,  0, 0,  0,  11, 12, 13, 14, 15, 0,  0,  0,  0,  0,
       31, 32, 33, 34, 35, 0,  0,  0,  0,  0,  14, 15, 0, 0,  0,  0,  0,  0, 0,  0,  34, 35, 0,  0,  0,  0,  0,  0,  0,  0});
  expect_iota(
      openvino::ExtractImagePatches{{2, 3}, {2, 1}, {2, 3}, openvino::AutoPad::same_lower}, {1, 2, 4, 5}, {1, 12, 2, 5},
      {0,  0,  0,  0,  0,  0,  0,  0,  6,  7,  0, 0,  0, 0,  0,  0,  0,  0, 26, 27, 0,  0,  0, 0, 0,  6,  7,  8,  9,  10,
       0,  0,  0,  0,  0,  26, 27, 28, 29, 30, 0, 0,  0, 0,  0,  9,  10, 0, 0,  0,  0,  0,  0, 0, 0,  29, 30, 0,  0,  0,
       0,  0,  0,  6,  7,  0,  0,  0,  16, 17, 0, 0,  0, 26, 27, 0,  0,  0, 36, 37, 6,  7,  8, 9, 10, 16, 17, 18, 19, 20,
       26, 27, 28, 29, 30, 36, 37, 38, 39, 40, 9, 10, 0, 0,  0,  19, 20, 0, 0,  0,  29, 30, 0, 0, 0,  39, 40, 0,  0,  0});
  expect_iota(
      tensorflow::ExtractImagePatches{{1, 2, 3, 1}, {1, 2, 1, 1}, {1, 2, 3, 1}, tensorflow::PaddingType::SAME}, {1, 4, 5, 2},
      {1, 2, 5, 12},
      {0, 0, 1,  2,  7,  8,  0,  0,  21, 22, 27, 28, 0,  0,  3,  4,  9,  10, 0,  0,  23, 24, 29, 30, 0,  0,  5,  6,  0, 0,
       0, 0, 25, 26, 0,  0,  1,  2,  7,  8,  0,  0,  21, 22, 27, 28, 0,  0,  3,  4,  9,  10, 0,  0,  23, 24, 29, 30, 0, 0,
       0, 0, 21, 22, 27, 28, 0,  0,  0,  0,  0,  0,  0,  0,  23, 24, 29, 30, 0,  0,  0,  0,  0,  0,  0,  0,  25, 26, 0, 0,
       0, 0, 0,  0,  0,  0,  21, 22, 27, 28, 0,  0,  0,  0,  0,  0,  0,  0,  23, 24, 29, 30, 0,  0,  0,  0,  0,  0,  0, 0});
}

TEST(SpaceToDepthBlocksFirst, IsNotUndoneByDepthFirst) {
  expect_iota(SpaceToDepth{.block = 2}, {1, 2, 2, 2}, {1, 8, 1, 1}, {1, 5, 2, 6, 3, 7, 4, 8});
  expect_values(DepthToSpace{.block = 2, .mode = DepthMode::depth_first}, {1, 8, 1, 1}, {1, 5, 2, 6, 3, 7, 4, 8},
                {1, 2, 2, 2}, {1, 5, 2, 6, 3, 7, 4, 8});
  expect_values(DepthToSpace{.block = 2}, {1, 8, 1, 1}, {1, 5, 2, 6, 3, 7, 4, 8}, {1, 2, 2, 2}, iota({8}));
}

TEST(Blocks, CropsAndPadsLargerThanABlock) {
  expect_iota(tensorflow::BatchToSpaceND{{2}, {{3, 0}}}, {4, 3, 2}, {2, 3, 2},
              {15, 16, 5, 6, 17, 18, 21, 22, 11, 12, 23, 24});
  expect_iota(BatchToSpace{.block = {2, 3}, .crops = {{0, 3}, {4, 4}}}, {6, 1, 3, 4}, {1, 1, 3, 4},
              {14, 26, 3, 15, 50, 62, 39, 51, 18, 30, 7, 19});
  expect_iota(openvino::SpaceToBatch{{1, 2}, {0, 5}, {0, 4}}, {2, 3}, {4, 6},
              {0, 0, 0, 2, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 4, 6, 0, 0});
  expect_iota(openvino::BatchToSpace{{1, 2}, {0, 5}, {0, 4}}, {4, 6}, {2, 3}, {15, 4, 16, 21, 10, 22});
}

TEST(BatchAxes, NoneOneAndSeveral) {
  const Ints columns = {1,  2,  4,  5,  2,  3,  5,  6,  4,  5,  7,  8,  5,  6,  8,  9,
                        10, 11, 13, 14, 11, 12, 14, 15, 13, 14, 16, 17, 14, 15, 17, 18};
  expect_iota(Unfold{.kernel_size = {2, 2}}, {2, 3, 3}, {8, 4}, columns);
  expect_iota(Unfold{.kernel_size = {2, 2}}, {1, 1, 2, 3, 3}, {1, 1, 8, 4}, columns);
  expect_iota(Unfold{.kernel_size = {2}}, {2, 3, 2, 3}, {2, 3, 4, 2},
              {1,  2,  2,  3,  4,  5,  5,  6,  7,  8,  8,  9,  10, 11, 11, 12, 13, 14, 14, 15, 16, 17, 17, 18,
               19, 20, 20, 21, 22, 23, 23, 24, 25, 26, 26, 27, 28, 29, 29, 30, 31, 32, 32, 33, 34, 35, 35, 36});
  expect_iota(Fold{.output_size = {3, 3}, .kernel_size = 2}, {8, 4}, {2, 3, 3},
              {1, 7, 6, 12, 34, 22, 11, 27, 16, 17, 39, 22, 44, 98, 54, 27, 59, 32});
  expect_iota(Fold{.output_size = {3}, .kernel_size = 2}, {2, 3, 4, 2}, {2, 3, 2, 3},
              {1,  5,  4,  5,  13, 8,  9,  21, 12, 13, 29, 16, 17, 37, 20, 21, 45, 24,
               25, 53, 28, 29, 61, 32, 33, 69, 36, 37, 77, 40, 41, 85, 44, 45, 93, 48});
  expect_error(Unfold{.kernel_size = 2}, {2, 3, 3}, {ErrorCode::rank, ErrorCode::length});
}

}  // namespace
}  // namespace patchfold::vectors
