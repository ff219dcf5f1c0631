// SPDX-License-Identifier: Apache-2.0
// Rulings where a dialect departs from its implementation or its text: batch entries of OpenVINO's lists, SAME padding, element
// types, fills; tensorflow.cpp has the rulings for TensorFlow. Expected values, for data that counts 1, 2, 3 with 0 for padding,
// come from a separate index-by-index program in Python.
#include <tuple>

#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using openvino::AutoPad;
using tensorflow::PaddingType;

TEST(OpenvinoBatchEntries, MustBeOneZeroAndZero) {
  const Dims none = {0, 0, 0};
  expect_error(openvino::SpaceToBatch{{2, 1, 2}, none, none}, {2, 3, 4}, {ErrorCode::value}, {"block_shape"});
  expect_error(openvino::SpaceToBatch{{1, 1, 2}, {1, 0, 0}, none}, {2, 3, 4}, {ErrorCode::value}, {"pads_begin"});
  expect_error(openvino::SpaceToBatch{{1, 1, 2}, none, {1, 0, 0}}, {2, 3, 4}, {ErrorCode::value}, {"pads_end"});
  expect_error(openvino::BatchToSpace{{2, 1, 2}, none, none}, {4, 3, 4}, {ErrorCode::value}, {"block_shape"});
  expect_error(openvino::BatchToSpace{{1, 1, 2}, {1, 0, 0}, none}, {4, 3, 4}, {ErrorCode::value}, {"crops_begin"});
  expect_error(openvino::BatchToSpace{{1, 1, 2}, none, {1, 0, 0}}, {4, 3, 4}, {ErrorCode::value}, {"crops_end"});
}

TEST(Same, OddTotalsGoToTheBeginningOrTheEnd) {
  const struct {
    std::int64_t extent, kernel, stride, dilation, patches;
    Ints lower, upper;
  } cases[] = {
      {4, 2, 1, 1, 4, {0, 1, 2, 3, 1, 2, 3, 4}, {1, 2, 3, 4, 2, 3, 4, 0}},
      {5, 4, 2, 1, 3, {0, 1, 3, 0, 2, 4, 1, 3, 5, 2, 4, 0}, {0, 2, 4, 1, 3, 5, 2, 4, 0, 3, 5, 0}},
      {5, 2, 1, 3, 5, {0, 0, 1, 2, 3, 2, 3, 4, 5, 0}, {0, 1, 2, 3, 4, 3, 4, 5, 0, 0}},
      {6, 3, 2, 1, 3, {0, 2, 4, 1, 3, 5, 2, 4, 6}, {1, 3, 5, 2, 4, 6, 3, 5, 0}},
      {3,
       6,
       1,
       1,
       3,
       {0, 0, 0, 0, 0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 0, 3, 0, 0},
       {0, 0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 0, 3, 0, 0, 0, 0, 0}},
  };
  for (const auto& test : cases) {
    const auto [I, k, s, d, l] = std::tuple(test.extent, test.kernel, test.stride, test.dilation, test.patches);
    expect_iota(openvino::ExtractImagePatches{{1, k}, {1, s}, {1, d}, AutoPad::same_lower}, {1, 1, 1, I}, {1, k, 1, l},
                test.lower);
    expect_iota(openvino::ExtractImagePatches{{k, 1}, {s, 1}, {d, 1}, AutoPad::same_lower}, {1, 1, I, 1}, {1, k, l, 1},
                test.lower);
    expect_iota(openvino::ExtractImagePatches{{1, k}, {1, s}, {1, d}, AutoPad::same_upper}, {1, 1, 1, I}, {1, k, 1, l},
                test.upper);
    expect_iota(Unfold{.kernel_size = {k}, .stride = s, .dilation = d, .padding = Padding::same_lower}, {1, 1, I}, {1, k, l},
                test.lower);
    expect_iota(Unfold{.kernel_size = {k}, .stride = s, .dilation = d, .padding = Padding::same_upper}, {1, 1, I}, {1, k, l},
                test.upper);
  }
}

TEST(Same, IsExactForExtentsThatFloat32CannotHold) {
  const std::int64_t extent = 16777217;  // 2^24 + 1
  for (const auto pad : {AutoPad::same_lower, AutoPad::same_upper}) {
    expect_shape(openvino::ExtractImagePatches{{1, 1}, {1, 1}, {1, 1}, pad}, {1, 1, 1, extent}, {1, 1, 1, extent});
    expect_shape(openvino::ExtractImagePatches{{1, 3}, {1, 2}, {1, 1}, pad}, {1, 1, 1, extent}, {1, 3, 1, 8388609});
    expect_shape(openvino::ExtractImagePatches{{1, 1}, {1, 3}, {1, 1}, pad}, {1, 1, 1, (std::int64_t{1} << 53) + 1},
                 {1, 1, 1, 3002399751580331});
  }
  expect_shape(tensorflow::ExtractImagePatches{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, PaddingType::SAME},
               {1, 1, extent, 1}, {1, 1, extent, 1});
}

// Tests that every dialect copies every type, with zero bytes as padding.
TEST(ElementTypes, EveryMovementOperatorTakesAll) {
  const Ints patches = {1, 3, 7, 9, 10, 12, 16, 18, 2, 0, 8, 0, 11, 0, 17, 0,
                        4, 6, 0, 0, 13, 15, 0,  0,  5, 0, 0, 0, 14, 0, 0,  0};
  expect_moved(openvino::ExtractImagePatches{{2, 2}, {2, 2}, {1, 1}, AutoPad::same_upper}, {1, 2, 3, 3}, {1, 8, 2, 2},
               patches);
  expect_moved(tensorflow::ExtractImagePatches{{1, 2, 2, 1}, {1, 2, 2, 1}, {1, 1, 1, 1}, PaddingType::SAME}, {1, 3, 3, 2},
               {1, 2, 2, 8},
               {1, 2, 3, 4, 7, 8, 9, 10, 5, 6, 0, 0, 11, 12, 0, 0, 13, 14, 15, 16, 0, 0, 0, 0, 17, 18, 0, 0, 0, 0, 0, 0});
  expect_moved(torch::Unfold{.kernel_size = {2, 2}, .padding = 1, .stride = 2}, {1, 2, 3, 3}, {1, 8, 4},
               {0, 0, 0, 5, 0, 0, 4, 6, 0, 2, 0, 8, 1, 3, 7, 9, 0, 0, 0, 14, 0, 0, 13, 15, 0, 11, 0, 17, 10, 12, 16, 18});
  const Ints batches = {0, 0, 0, 0, 6, 8, 0, 0, 0, 5, 7, 0, 0, 2, 4, 0, 10, 12, 1, 3, 0, 9, 11, 0};
  expect_moved(openvino::SpaceToBatch{{1, 2, 2}, {0, 1, 1}, {0, 0, 1}}, {1, 3, 4}, {4, 2, 3}, batches);
  expect_moved(tensorflow::SpaceToBatchND{{2, 2}, {{1, 0}, {1, 1}}}, {1, 3, 4}, {4, 2, 3}, batches);
  expect_moved(tensorflow::SpaceToBatch{{{1, 0}, {1, 1}}, 2}, {1, 3, 4, 1}, {4, 2, 3, 1}, batches);
  const Ints image = {19, 14, 20, 15, 10, 5, 11, 6, 22, 17, 23, 18};
  expect_moved(openvino::BatchToSpace{{1, 2, 2}, {0, 1, 1}, {0, 0, 1}}, {4, 2, 3}, {1, 3, 4}, image);
  expect_moved(tensorflow::BatchToSpaceND{{2, 2}, {{1, 0}, {1, 1}}}, {4, 2, 3}, {1, 3, 4}, image);
  expect_moved(tensorflow::BatchToSpace{{{1, 0}, {1, 1}}, 2}, {4, 2, 3, 1}, {1, 3, 4, 1}, image);
  const Ints deep = {1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16};
  expect_moved(onnx::SpaceToDepth{2}, {1, 2, 2, 4}, {1, 8, 1, 2}, deep);
  expect_moved(openvino::SpaceToDepth{2, openvino::BlocksMode::blocks_first}, {1, 2, 2, 4}, {1, 8, 1, 2}, deep);
  expect_moved(tensorflow::SpaceToDepth{2, tensorflow::DataFormat::NCHW}, {1, 2, 2, 4}, {1, 8, 1, 2}, deep);
  expect_moved(torch::PixelUnshuffle{2}, {1, 2, 2, 4}, {1, 8, 1, 2},
               {1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13, 15, 14, 16});
  const Ints space = {1, 5, 2, 6, 9, 13, 10, 14, 3, 7, 4, 8, 11, 15, 12, 16};
  expect_moved(onnx::DepthToSpace{2}, {1, 8, 1, 2}, {1, 2, 2, 4}, space);
  expect_moved(openvino::DepthToSpace{2, openvino::BlocksMode::blocks_first}, {1, 8, 1, 2}, {1, 2, 2, 4}, space);
  expect_moved(tensorflow::DepthToSpace{2, tensorflow::DataFormat::NCHW}, {1, 8, 1, 2}, {1, 2, 2, 4}, space);
  expect_moved(torch::PixelShuffle{2}, {1, 8, 1, 2}, {1, 2, 2, 4}, {1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13, 15, 14, 16});
}

TEST(ElementTypes, EveryFoldTakesAllThatCanBeAdded) {
  const Ints expected = {1, 9, 11, 9, 17, 48, 52, 33, 16, 39, 41, 24};
  expect_iota(Fold{.output_size = {3, 4}, .kernel_size = 2}, {1, 4, 6}, {1, 1, 3, 4}, expected, summable_types());
  expect_iota(onnx::Col2Im{.image_shape = {3, 4}, .block_shape = {2, 2}}, {1, 4, 6}, {1, 1, 3, 4}, expected,
              summable_types());
  expect_iota(openvino::Col2Im{.output_size = {3, 4}, .kernel_size = {2, 2}}, {1, 4, 6}, {1, 1, 3, 4}, expected,
              summable_types());
  expect_iota(torch::Fold{.output_size = {3, 4}, .kernel_size = {2, 2}}, {1, 4, 6}, {1, 1, 3, 4}, expected,
              summable_types());
  expect_values(Coverage{.output_size = {3, 4}, .kernel_size = 2}, {}, {0}, {3, 4}, {1, 2, 2, 1, 2, 4, 4, 2, 1, 2, 2, 1},
                summable_types());
}

TEST(ElementTypes, FoldNamesTheTypeThatItCannotAdd) {
  const auto refuse = [](DType dtype, std::size_t size) {
    const auto name = name_of(dtype);
    const Dims in = {1, 4, 6}, out = {1, 1, 3, 4};
    EXPECT_FALSE(is_summable(dtype)) << name;
    expect_type_error(Fold{.output_size = {3, 4}, .kernel_size = 2}, dtype, size, in, out, name);
    expect_type_error(onnx::Col2Im{.image_shape = {3, 4}, .block_shape = {2, 2}}, dtype, size, in, out, name);
    expect_type_error(openvino::Col2Im{.output_size = {3, 4}, .kernel_size = {2, 2}}, dtype, size, in, out, name);
    expect_type_error(torch::Fold{.output_size = {3, 4}, .kernel_size = {2, 2}}, dtype, size, in, out, name);
    expect_type_error(Coverage{.output_size = {3, 4}, .kernel_size = 2}, dtype, size, {}, {3, 4}, name);
  };
  for (const auto dtype : {DType::float8_e4m3fn, DType::float8_e4m3fnuz, DType::float8_e5m2, DType::float8_e5m2fnuz})
    refuse(dtype, 1);
  for (const std::size_t size : {1, 3, 4, 8, 16}) refuse(DType::opaque, size);
}

TEST(SpatialAxes, TorchTakesAnyNumberByListLength) {
  expect_iota(torch::Unfold{.kernel_size = {3}, .stride = {2}}, {1, 1, 7}, {1, 3, 3}, {1, 3, 5, 2, 4, 6, 3, 5, 7});
  expect_iota(torch::Fold{.output_size = {7}, .kernel_size = {3}, .stride = {2}}, {1, 3, 3}, {1, 1, 7},
              {1, 4, 9, 5, 11, 6, 9});
  expect_iota(torch::Unfold{.kernel_size = {2, 1, 2}}, {1, 1, 2, 2, 3}, {1, 4, 4},
              {1, 2, 4, 5, 2, 3, 5, 6, 7, 8, 10, 11, 8, 9, 11, 12});
  expect_iota(torch::Fold{.output_size = {2, 2, 3}, .kernel_size = {2, 1, 2}}, {4, 4}, {1, 2, 2, 3},
              {1, 7, 6, 3, 11, 8, 9, 23, 14, 11, 27, 16});
}

TEST(SpatialAxes, OpenvinoTakesTwo) {
  expect_error(openvino::Col2Im{{7}, {3}, {1}, {1}, {0}, {0}}, {1, 3, 5}, {ErrorCode::length});
  expect_error(openvino::Col2Im{{2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}}, {1, 1, 8},
               {ErrorCode::length});
}

}  // namespace
}  // namespace patchfold::vectors
