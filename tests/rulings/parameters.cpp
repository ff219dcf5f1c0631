// SPDX-License-Identifier: Apache-2.0
// Rulings on accepted and refused arguments where specifications and implementations disagree: dilation 0, zero strides and
// kernels, negative pads, no positions, empty tensors, kernels larger than the image. Expected values of the data 1, 2, 3, .. come
// from a separate index-by-index program in Python.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

constexpr auto wrong = ErrorCode::value;

TEST(DilationZero, PilesAllTapsOnOnePixel) {
  const Ints expected = {585, 594, 603, 612, 621, 630, 639, 648, 657, 666, 675, 684, 693, 702, 711, 720};
  expect_iota(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = {3, 3}, .dilations = {0, 0}}, {9, 16}, {1, 4, 4},
              expected);
  expect_iota(Fold{.output_size = {4, 4}, .kernel_size = 3, .dilation = 0}, {9, 16}, {1, 4, 4}, expected);
  expect_iota(Fold{.output_size = {4, 4}, .kernel_size = {3, 2}, .dilation = {0, 2}, .padding = {0, 1}}, {1, 6, 16},
              {1, 1, 4, 4}, {102, 252, 258, 153, 114, 276, 282, 165, 126, 300, 306, 177, 138, 324, 330, 189});
}

TEST(DilationZero, ReadsOnePixelForAllTaps) {
  expect_iota(Unfold{.kernel_size = {2, 2}, .stride = 2, .dilation = 0}, {1, 1, 3, 4}, {1, 4, 4},
              {1, 3, 9, 11, 1, 3, 9, 11, 1, 3, 9, 11, 1, 3, 9, 11});
}

TEST(DilationZero, CoversAPixelOncePerTap) {
  expect_values(Coverage{.output_size = {3, 4}, .kernel_size = 2, .dilation = 0}, {}, {0}, {3, 4}, Ints(12, 4));
}

TEST(DilationZero, IsRefusedByTheOtherDialects) {
  expect_error(torch::Fold{.output_size = {4, 4}, .kernel_size = {3, 3}, .dilation = 0}, {1, 9, 16}, {wrong}, {"dilation"});
  expect_error(torch::Unfold{.kernel_size = {3, 3}, .dilation = {1, 0}}, {1, 1, 4, 4}, {wrong}, {"dilation"});
  expect_error(onnx::Col2Im{.image_shape = {4, 4}, .block_shape = {3, 3}, .dilations = {0, 0}}, {1, 9, 16}, {wrong},
               {"dilations"});
  expect_error(tensorflow::ExtractImagePatches{{1, 3, 3, 1}, {1, 1, 1, 1}, {1, 0, 1, 1}, tensorflow::PaddingType::VALID},
               {1, 4, 4, 1}, {wrong}, {"rates"});
  expect_error(openvino::ExtractImagePatches{{3, 3}, {1, 1}, {0, 1}, openvino::AutoPad::valid}, {1, 1, 4, 4}, {wrong},
               {"rates"});
}

TEST(DilationNegative, IsAlwaysRefused) {
  expect_error(Unfold{.kernel_size = {2, 2}, .dilation = -1}, {1, 1, 4, 4}, {wrong}, {"dilation"});
  expect_error(Fold{.output_size = {4, 4}, .kernel_size = 2, .dilation = {1, -1}}, {1, 4, 9}, {wrong}, {"dilation"});
  expect_error(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = {2, 2}, .dilations = {-1, 1}}, {4, 9}, {wrong},
               {"dilations"});
  expect_error(onnx::Col2Im{.image_shape = {4, 4}, .block_shape = {2, 2}, .dilations = {1, -1}}, {1, 4, 9}, {wrong},
               {"dilations"});
}

TEST(StrideZero, IsAlwaysRefused) {
  for (const std::int64_t s : {0, -1}) {
    expect_error(Unfold{.kernel_size = {2, 2}, .stride = s}, {1, 1, 4, 4}, {wrong}, {"stride"});
    expect_error(Fold{.output_size = {4, 4}, .kernel_size = 2, .stride = {1, s}}, {1, 4, 9}, {wrong}, {"stride"});
    expect_error(Coverage{.output_size = {4, 4}, .kernel_size = 2, .stride = s}, {}, {wrong}, {"stride"});
    expect_error(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = {2, 2}, .strides = {s, 1}}, {4, 9}, {wrong},
                 {"strides"});
    expect_error(onnx::Col2Im{.image_shape = {4, 4}, .block_shape = {2, 2}, .strides = {1, s}}, {1, 4, 9}, {wrong},
                 {"strides"});
    expect_error(torch::Fold{.output_size = {4, 4}, .kernel_size = {2, 2}, .stride = s}, {1, 4, 9}, {wrong}, {"stride"});
    expect_error(torch::Unfold{.kernel_size = {2, 2}, .stride = s}, {1, 1, 4, 4}, {wrong}, {"stride"});
    expect_error(openvino::ExtractImagePatches{{2, 2}, {1, s}, {1, 1}, openvino::AutoPad::valid}, {1, 1, 4, 4}, {wrong},
                 {"strides"});
    expect_error(tensorflow::ExtractImagePatches{{1, 2, 2, 1}, {1, s, 1, 1}, {1, 1, 1, 1}, tensorflow::PaddingType::SAME},
                 {1, 4, 4, 1}, {wrong}, {"strides"});
  }
}

TEST(KernelZero, IsAlwaysRefused) {
  for (const std::int64_t k : {0, -2}) {
    expect_error(Unfold{.kernel_size = {2, k}}, {1, 1, 4, 4}, {wrong}, {"kernel_size"});
    expect_error(Fold{.output_size = {4, 4}, .kernel_size = {k, k}}, {1, 4, 9}, {wrong}, {"kernel_size"});
    expect_error(Coverage{.output_size = {4, 4}, .kernel_size = k}, {}, {wrong}, {"kernel_size"});
    expect_error(Reorder{.kernel_size = {k, 2}}, {1, 4, 9}, {wrong}, {"kernel_size"});
    expect_error(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = {k, k}}, {4, 9}, {wrong}, {"kernel_size"});
    expect_error(onnx::Col2Im{.image_shape = {4, 4}, .block_shape = {k, k}}, {1, 4, 9}, {wrong}, {"block_shape"});
    expect_error(torch::Fold{.output_size = {4, 4}, .kernel_size = {k, k}}, {1, 4, 9}, {wrong}, {"kernel_size"});
    expect_error(torch::Unfold{.kernel_size = {k, k}}, {1, 1, 4, 4}, {wrong}, {"kernel_size"});
    expect_error(openvino::ExtractImagePatches{{k, 2}, {1, 1}, {1, 1}, openvino::AutoPad::same_upper}, {1, 1, 4, 4}, {wrong},
                 {"sizes"});
    expect_error(tensorflow::ExtractImagePatches{{1, 2, k, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, tensorflow::PaddingType::SAME},
                 {1, 4, 4, 1}, {wrong}, {"ksizes"});
  }
}

TEST(BlockZero, IsAlwaysRefused) {
  for (const std::int64_t b : {0, -2}) {
    expect_error(SpaceToBatch{.block = {2, b}}, {1, 1, 4, 4}, {wrong}, {"block"});
    expect_error(BatchToSpace{.block = {b, b}}, {4, 1, 4, 4}, {wrong}, {"block"});
    expect_error(SpaceToDepth{.block = b}, {1, 1, 4, 4}, {wrong}, {"block"});
    expect_error(DepthToSpace{.block = {b, b}}, {1, 4, 4, 4}, {wrong}, {"block"});
    expect_error(openvino::SpaceToBatch{{1, 1, b, 2}, {0, 0, 0, 0}, {0, 0, 0, 0}}, {1, 1, 4, 4}, {wrong}, {"block_shape"});
    expect_error(openvino::BatchToSpace{{1, 1, b, b}, {0, 0, 0, 0}, {0, 0, 0, 0}}, {4, 1, 4, 4}, {wrong}, {"block_shape"});
    expect_error(openvino::SpaceToDepth{b, openvino::BlocksMode::blocks_first}, {1, 1, 4, 4}, {wrong}, {"block_size"});
    expect_error(openvino::DepthToSpace{b, openvino::BlocksMode::depth_first}, {1, 4, 4, 4}, {wrong}, {"block_size"});
    expect_error(tensorflow::SpaceToBatchND{{b, 2}, {{0, 0}, {0, 0}}}, {1, 4, 4}, {wrong}, {"block_shape"});
    expect_error(tensorflow::BatchToSpaceND{{b, b}, {{0, 0}, {0, 0}}}, {4, 4, 4}, {wrong}, {"block_shape"});
  }
}

TEST(NegativePads, CropInTheNeutralOperators) {
  expect_iota(Unfold{.kernel_size = {2}, .padding = {{-1, -1}}}, {1, 1, 5}, {1, 2, 2}, {2, 3, 3, 4});
  expect_iota(Unfold{.kernel_size = {2, 2}, .padding = {{-1, 2}, {1, -2}}}, {1, 1, 4, 5}, {1, 4, 12},
              {0, 6,  7,  0, 11, 12, 0, 16, 17, 0, 0, 0, 6,  7,  8,  11, 12, 13, 16, 17, 18, 0, 0, 0,
               0, 11, 12, 0, 16, 17, 0, 0,  0,  0, 0, 0, 11, 12, 13, 16, 17, 18, 0,  0,  0,  0, 0, 0});
  expect_iota(Fold{.output_size = {4, 5}, .kernel_size = 2, .padding = {{-1, 2}, {1, -2}}}, {1, 4, 12}, {1, 1, 4, 5},
              {0, 0, 0, 0, 0, 15, 17, 15, 0, 0, 84, 88, 57, 0, 0, 96, 100, 63, 0, 0});
  expect_values(Coverage{.output_size = {4, 5}, .kernel_size = 2, .padding = {{-1, 2}, {1, -2}}}, {}, {0}, {4, 5},
                {0, 0, 0, 0, 0, 2, 2, 1, 0, 0, 4, 4, 2, 0, 0, 4, 4, 2, 0, 0});
  expect_iota(SpaceToBatch{.block = {2, 2}, .padding = {{-1, 0}, {1, -2}}}, {1, 1, 5, 3}, {4, 1, 2, 1},
              {0, 0, 4, 10, 0, 0, 7, 13});
}

TEST(NegativeCrops, AreRefusedByBatchToSpace) {
  expect_error(BatchToSpace{.block = {2, 2}, .crops = {{-1, 0}, {0, 0}}}, {4, 1, 2, 2}, {wrong}, {"crops"});
  expect_error(BatchToSpace{.block = {2, 2}, .crops = {{0, 0}, {0, -1}}}, {4, 1, 2, 2}, {wrong}, {"crops"});
}

TEST(NegativePads, LargerThanTheImageLeaveNoPosition) {
  expect_iota(Unfold{.kernel_size = {1}, .padding = {{-3, -3}}, .allow_empty = true}, {1, 1, 5}, {1, 1, 0}, {});
  expect_iota(Fold{.output_size = {5}, .kernel_size = {1}, .padding = {{-3, -3}}}, {1, 1, 0}, {1, 1, 5}, {0, 0, 0, 0, 0});
}

TEST(NegativePads, AreRefusedByEveryDialect) {
  expect_error(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = {2, 2}, .pads_begin = {-1, 0}}, {4, 6}, {wrong},
               {"pads_begin"});
  expect_error(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = {2, 2}, .pads_end = {0, -1}}, {4, 6}, {wrong},
               {"pads_end"});
  expect_error(openvino::SpaceToBatch{{1, 2}, {0, -2}, {0, 0}}, {1, 4}, {wrong}, {"pads_begin"});
  expect_error(openvino::SpaceToBatch{{1, 2}, {0, 0}, {0, -2}}, {1, 4}, {wrong}, {"pads_end"});
  expect_error(openvino::BatchToSpace{{1, 2}, {0, -1}, {0, 0}}, {2, 4}, {wrong}, {"crops_begin"});
  expect_error(openvino::BatchToSpace{{1, 2}, {0, 0}, {0, -1}}, {2, 4}, {wrong}, {"crops_end"});
  expect_error(onnx::Col2Im{.image_shape = {4, 4}, .block_shape = {2, 2}, .pads = {0, 0, 0, -1}}, {1, 4, 6}, {wrong},
               {"pads"});
  expect_error(onnx::Col2Im{.image_shape = {4, 4}, .block_shape = {2, 2}, .pads = {-1, 0, 0, 0}}, {1, 4, 6}, {wrong},
               {"pads"});
  expect_error(tensorflow::SpaceToBatch{{{0, 0}, {-2, 0}}, 2}, {1, 4, 4, 1}, {wrong}, {"paddings"});
  expect_error(tensorflow::SpaceToBatchND{{2}, {{0, -2}}}, {1, 4}, {wrong}, {"paddings"});
  expect_error(tensorflow::BatchToSpace{{{0, 0}, {0, -1}}, 2}, {4, 4, 4, 1}, {wrong}, {"crops"});
  expect_error(tensorflow::BatchToSpaceND{{2}, {{-1, 0}}}, {2, 4}, {wrong}, {"crops"});
  expect_error(torch::Fold{.output_size = {4, 4}, .kernel_size = {2, 2}, .padding = -1}, {1, 4, 1}, {wrong}, {"padding"});
  expect_error(torch::Unfold{.kernel_size = {2, 2}, .padding = {0, -1}}, {1, 1, 4, 4}, {wrong}, {"padding"});
}

TEST(NoPositions, FoldGivesZeros) {
  const Ints zeros(16, 0);
  expect_iota(openvino::Col2Im{.output_size = {2, 2}, .kernel_size = {3, 3}}, {2, 18, 0}, {2, 2, 2, 2}, zeros,
              summable_types());
  expect_iota(openvino::Col2Im{.output_size = {2, 8}, .kernel_size = {3, 3}}, {9, 0}, {1, 2, 8}, zeros);
  expect_iota(onnx::Col2Im{.image_shape = {2, 2}, .block_shape = {3, 3}}, {2, 18, 0}, {2, 2, 2, 2}, zeros, summable_types());
  expect_iota(onnx::Col2Im{.image_shape = {16}, .block_shape = {17}}, {1, 17, 0}, {1, 1, 16}, zeros);
  expect_iota(onnx::Col2Im{.image_shape = {2, 2, 4}, .block_shape = {1, 3, 1}}, {1, 3, 0}, {1, 1, 2, 2, 4}, zeros);
  expect_iota(Fold{.output_size = {2, 2}, .kernel_size = 3}, {2, 18, 0}, {2, 2, 2, 2}, zeros);
  expect_iota(Fold{.output_size = {2, 2}, .kernel_size = 3, .positions = Positions::grid}, {2, 18, 0, 0}, {2, 2, 2, 2},
              zeros);
}

TEST(NoPositions, TwoAxesWithoutPositionsDoNotMultiplyToSome) {
  const Dims one_position = {9 * 9, 1};
  expect_error(openvino::Col2Im{.output_size = {7, 7}, .kernel_size = {9, 9}}, one_position, {ErrorCode::position_count},
               {"1", "0"});
  expect_error(onnx::Col2Im{.image_shape = {7, 7}, .block_shape = {9, 9}}, {1, 81, 1}, {ErrorCode::position_count},
               {"1", "0"});
  expect_error(Fold{.output_size = {7, 7}, .kernel_size = 9}, {1, 81, 1}, {ErrorCode::position_count}, {"1", "0"});
  expect_iota(openvino::Col2Im{.output_size = {7, 7}, .kernel_size = {9, 9}}, {81, 0}, {1, 7, 7}, Ints(49, 0));
}

TEST(NoPositions, AreRefusedByTorch) {
  expect_error(torch::Fold{.output_size = {2, 2}, .kernel_size = {3, 3}}, {1, 9, 0},
               {wrong, ErrorCode::position_count, ErrorCode::shape});
  expect_error(torch::Unfold{.kernel_size = {3, 3}}, {1, 1, 2, 2}, {wrong, ErrorCode::position_count}, {"at least one"});
  expect_error(torch::Unfold{.kernel_size = {3, 3}}, {1, 1, 5, 2}, {wrong, ErrorCode::position_count}, {"at least one"});
}

TEST(NoPositions, AreRefusedByUnfoldUnlessAllowed) {
  expect_error(Unfold{.kernel_size = {5}}, {1, 1, 3}, {wrong}, {"kernel_size", "patches of [5]", "image of [3]"});
  expect_error(Unfold{.kernel_size = {3, 1}}, {2, 1, 2, 2}, {wrong}, {"allow_empty=true"});
  expect_error(Unfold{.kernel_size = {3, 3}, .dilation = {2, 1}}, {1, 4, 9}, {wrong}, {"patches of [5, 3]"});
  expect_error(Unfold{.kernel_size = {1, 1}, .padding = {{-1, -1}, {0, 0}}}, {1, 1, 2, 2}, {wrong}, {"image of [0, 2]"});
  expect_error(Unfold{.kernel_size = {1, 1}, .padding = Padding::same_upper}, {1, 1, 0, 2}, {wrong}, {"image of [0, 2]"});
  expect_error(Unfold{.kernel_size = {8, 8}}, {480, 640, 3}, {wrong}, {"channels last? layout=channels_last"});
  expect_error(Unfold{.kernel_size = {8, 8}, .layout = Layout::channels_last}, {3, 480, 640}, {wrong}, {"allow_empty"});
  // A result that is empty because the batch or the channels are empty is not an error.
  expect_iota(Unfold{.kernel_size = {2, 2}}, {0, 3, 4, 4}, {0, 12, 9}, {});
  expect_iota(Unfold{.kernel_size = {2, 2}}, {2, 0, 4, 4}, {2, 0, 9}, {});
}

TEST(SingleNumbers, StandForTheTwoSpatialAxesOfRankFour) {
  const auto rank = {ErrorCode::rank};
  for (const Dims& shape : {Dims{8, 8, 8}, Dims{8, 8, 8, 8, 8}, Dims{8, 8, 8, 8, 8, 8}}) {
    const std::string two = "=2,2 for two spatial axes", other = shape.size() == 3 ? "=2, for one" : "=2,2,2 for three";
    expect_error(Unfold{.kernel_size = 2}, shape, rank, {"kernel_size" + two, "kernel_size" + other});
    expect_error(SpaceToDepth{.block = 2}, shape, rank, {"block" + two, "block" + other});
    expect_error(DepthToSpace{.block = 2}, shape, rank, {"block" + two, "block" + other});
    expect_error(SpaceToBatch{.block = 2}, shape, rank, {"block" + two, "block" + other});
    expect_error(BatchToSpace{.block = 2}, shape, rank, {"block" + two, "block" + other});
    expect_error(Reorder{.kernel_size = 2, .positions = Positions::grid}, shape, rank, {"kernel_size" + two});
  }
  // The error does not propose lists that would be refused too.
  expect_error(DepthToSpace{.block = 2}, {1, 4, 4, 4, 4}, rank, {"expected block=2,2 for two spatial axes"});
  expect_error(BatchToSpace{.block = 2}, {1, 4, 4, 4, 4}, rank, {"a list with one entry for each spatial axis"});
  expect_error(Unfold{.kernel_size = 2}, {4, 4}, rank, {"rank 4", "a grey picture: image with shape [1, 4, 4]"});
  // If an argument is a list, its length is the number of axes.
  expect_iota(Unfold{.kernel_size = 2, .stride = {1, 1}}, {1, 2, 2}, {4, 1}, {1, 2, 3, 4});
  expect_iota(Unfold{.kernel_size = 2, .padding = {0}}, {1, 1, 2}, {1, 2, 1}, {1, 2});
  expect_iota(SpaceToBatch{.block = 2, .padding = {0, 0}}, {1, 2, 2}, {4, 1, 1}, {1, 2, 3, 4});
}

TEST(NoSpatialAxis, IsTheIdentityWhereTheSpecificationHasIt) {
  const auto refused = {ErrorCode::length, ErrorCode::missing};
  expect_iota(tensorflow::SpaceToBatchND{.block_shape = {}, .paddings = {}}, {2, 3}, {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_error(Unfold{.kernel_size = Dims()}, {1, 1, 4, 4}, refused, {"kernel_size"});
  expect_error(SpaceToBatch{.block = Dims()}, {1, 1, 4, 4}, refused, {"block"});
}

TEST(TorchUnfold, TakesNoImageWithoutABatchButItsOwn) {
  expect_iota(torch::Unfold{.kernel_size = 2}, {1, 2, 2}, {4, 1}, {1, 2, 3, 4});
  expect_error(torch::Unfold{.kernel_size = {2, 2, 2}}, {1, 2, 6, 6}, {ErrorCode::rank}, {"rank 5"});
  expect_error(torch::Unfold{.kernel_size = 2, .stride = {1, 1, 1}}, {1, 2, 6, 6}, {ErrorCode::rank}, {"rank 5"});
  expect_error(torch::Unfold{.kernel_size = {2}}, {2, 6}, {ErrorCode::rank}, {"rank 3"});
}

TEST(KernelLargerThanTheImage, GivesNoPositions) {
  expect_iota(Unfold{.kernel_size = {5}, .allow_empty = true}, {1, 1, 3}, {1, 5, 0}, {});
  expect_iota(Unfold{.kernel_size = {5, 1}, .positions = Positions::grid, .allow_empty = true}, {1, 2, 3, 4}, {1, 10, 0, 4},
              {});
  expect_iota(openvino::ExtractImagePatches{{5, 5}, {3, 3}, {1, 1}, openvino::AutoPad::valid}, {1, 2, 3, 3}, {1, 50, 0, 0},
              {});
  expect_iota(openvino::ExtractImagePatches{{2, 2}, {1, 1}, {3, 1}, openvino::AutoPad::valid}, {1, 2, 3, 3}, {1, 8, 0, 2},
              {});
}

TEST(KernelLargerThanTheImage, IsRefusedByTorch) {
  for (const std::int64_t positions : {0, 1, 12}) {
    const torch::Fold op = {.output_size = {3, 3}, .kernel_size = {5, 1}};
    expect_error(op, {1, 5, positions}, {wrong, ErrorCode::position_count, ErrorCode::shape});
  }
}

}  // namespace
}  // namespace patchfold::vectors
