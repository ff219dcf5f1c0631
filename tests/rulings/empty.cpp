// SPDX-License-Identifier: Apache-2.0
// Empty tensors: no batches, no channels, extents of zero.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

TEST(EmptyBatch, GivesAnEmptyResultOfTheRightShape) {
  expect_iota(Unfold{.kernel_size = 2}, {0, 3, 4, 4}, {0, 12, 9}, {});
  expect_iota(Fold{.output_size = {4, 4}, .kernel_size = 2}, {0, 12, 9}, {0, 3, 4, 4}, {});
  expect_iota(Reorder{.kernel_size = {2, 2}}, {0, 12, 9}, {0, 12, 9}, {});
  expect_iota(Copy{}, {0, 12, 9}, {0, 12, 9}, {});
  expect_iota(SpaceToBatch{.block = 2}, {0, 3, 4, 4}, {0, 3, 2, 2}, {});
  expect_iota(BatchToSpace{.block = 2}, {0, 3, 2, 2}, {0, 3, 4, 4}, {});
  expect_iota(SpaceToDepth{.block = 2}, {0, 3, 4, 4}, {0, 12, 2, 2}, {});
  expect_iota(DepthToSpace{.block = 2}, {0, 12, 2, 2}, {0, 3, 4, 4}, {});
  expect_iota(onnx::Col2Im{.image_shape = {4, 4}, .block_shape = {2, 2}}, {0, 12, 9}, {0, 3, 4, 4}, {});
  expect_iota(onnx::SpaceToDepth{2}, {0, 3, 4, 4}, {0, 12, 2, 2}, {});
  expect_iota(onnx::DepthToSpace{2}, {0, 12, 2, 2}, {0, 3, 4, 4}, {});
  expect_iota(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = {2, 2}}, {0, 12, 9}, {0, 3, 4, 4}, {});
  expect_iota(openvino::ExtractImagePatches{{2, 2}, {1, 1}, {1, 1}, openvino::AutoPad::valid}, {0, 3, 4, 4}, {0, 12, 3, 3},
              {});
  expect_iota(openvino::SpaceToBatch{{1, 2}, {0, 0}, {0, 0}}, {0, 4}, {0, 2}, {});
  expect_iota(openvino::BatchToSpace{{1, 2}, {0, 0}, {0, 0}}, {0, 2}, {0, 4}, {});
  expect_iota(openvino::SpaceToDepth{2, openvino::BlocksMode::depth_first}, {0, 3, 4, 4}, {0, 12, 2, 2}, {});
  expect_iota(openvino::DepthToSpace{2, openvino::BlocksMode::depth_first}, {0, 12, 2, 2}, {0, 3, 4, 4}, {});
  expect_iota(tensorflow::SpaceToBatch{{{0, 0}, {0, 0}}, 2}, {0, 4, 4, 3}, {0, 2, 2, 3}, {});
  expect_iota(tensorflow::BatchToSpace{{{0, 0}, {0, 0}}, 2}, {0, 2, 2, 3}, {0, 4, 4, 3}, {});
  expect_iota(tensorflow::SpaceToDepth{2}, {0, 4, 4, 3}, {0, 2, 2, 12}, {});
  expect_iota(tensorflow::DepthToSpace{2}, {0, 2, 2, 12}, {0, 4, 4, 3}, {});
  expect_iota(tensorflow::ExtractImagePatches{{1, 2, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, tensorflow::PaddingType::SAME},
              {0, 4, 4, 3}, {0, 4, 4, 12}, {});
  expect_iota(torch::Fold{.output_size = {4, 4}, .kernel_size = {2, 2}}, {0, 12, 9}, {0, 3, 4, 4}, {});
  expect_iota(torch::Unfold{.kernel_size = {2, 2}}, {0, 3, 4, 4}, {0, 12, 9}, {});
  expect_iota(torch::PixelShuffle{2}, {0, 12, 2, 2}, {0, 3, 4, 4}, {});
  expect_iota(torch::PixelUnshuffle{2}, {0, 3, 4, 4}, {0, 12, 2, 2}, {});
}

TEST(NoChannels, GivesAnEmptyResultOfTheRightShape) {
  expect_iota(Unfold{.kernel_size = 2}, {2, 0, 4, 4}, {2, 0, 9}, {});
  expect_iota(Fold{.output_size = {4, 4}, .kernel_size = 2}, {2, 0, 9}, {2, 0, 4, 4}, {});
  expect_iota(Reorder{.kernel_size = {2, 2}}, {2, 0, 9}, {2, 0, 9}, {});
  expect_iota(SpaceToBatch{.block = 2}, {2, 0, 4, 4}, {8, 0, 2, 2}, {});
  expect_iota(BatchToSpace{.block = 2}, {8, 0, 2, 2}, {2, 0, 4, 4}, {});
  expect_iota(SpaceToDepth{.block = 2}, {2, 0, 4, 4}, {2, 0, 2, 2}, {});
  expect_iota(DepthToSpace{.block = 2}, {2, 0, 2, 2}, {2, 0, 4, 4}, {});
  expect_iota(onnx::Col2Im{.image_shape = {4, 4}, .block_shape = {2, 2}}, {2, 0, 9}, {2, 0, 4, 4}, {});
  expect_iota(onnx::SpaceToDepth{2}, {2, 0, 4, 4}, {2, 0, 2, 2}, {});
  expect_iota(onnx::DepthToSpace{2}, {2, 0, 2, 2}, {2, 0, 4, 4}, {});
  expect_iota(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = {2, 2}}, {2, 0, 9}, {2, 0, 4, 4}, {});
  expect_iota(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = {2, 2}}, {0, 9}, {0, 4, 4}, {});
  expect_iota(openvino::ExtractImagePatches{{2, 2}, {1, 1}, {1, 1}, openvino::AutoPad::valid}, {2, 0, 4, 4}, {2, 0, 3, 3},
              {});
  expect_iota(openvino::SpaceToDepth{2, openvino::BlocksMode::blocks_first}, {2, 0, 4, 4}, {2, 0, 2, 2}, {});
  expect_iota(openvino::DepthToSpace{2, openvino::BlocksMode::blocks_first}, {2, 0, 2, 2}, {2, 0, 4, 4}, {});
  expect_iota(tensorflow::SpaceToBatch{{{0, 0}, {0, 0}}, 2}, {2, 4, 4, 0}, {8, 2, 2, 0}, {});
  expect_iota(tensorflow::BatchToSpace{{{0, 0}, {0, 0}}, 2}, {8, 2, 2, 0}, {2, 4, 4, 0}, {});
  expect_iota(tensorflow::SpaceToDepth{2}, {2, 4, 4, 0}, {2, 2, 2, 0}, {});
  expect_iota(tensorflow::DepthToSpace{2}, {2, 2, 2, 0}, {2, 4, 4, 0}, {});
  expect_iota(tensorflow::ExtractImagePatches{{1, 2, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, tensorflow::PaddingType::SAME},
              {2, 4, 4, 0}, {2, 4, 4, 0}, {});
  expect_iota(torch::PixelShuffle{2}, {2, 0, 2, 2}, {2, 0, 4, 4}, {});
  expect_iota(torch::PixelUnshuffle{2}, {2, 0, 4, 4}, {2, 0, 2, 2}, {});
}

TEST(NoChannels, AreRefusedByTorchFoldAndUnfold) {
  expect_error(torch::Fold{.output_size = {4, 4}, .kernel_size = {2, 2}}, {2, 0, 9}, {ErrorCode::value, ErrorCode::shape});
  expect_error(torch::Fold{.output_size = {4, 4}, .kernel_size = {2, 2}}, {0, 9}, {ErrorCode::value, ErrorCode::shape});
  expect_error(torch::Unfold{.kernel_size = {2, 2}}, {2, 0, 4, 4}, {ErrorCode::value, ErrorCode::shape});
  expect_error(torch::Unfold{.kernel_size = {2, 2}, .padding = 2}, {2, 3, 0, 4}, {ErrorCode::value, ErrorCode::shape});
}

TEST(ZeroExtents, OpenvinoExtractImagePatchesMultipliesTheChannels) {
  for (const auto pad : {openvino::AutoPad::valid, openvino::AutoPad::same_lower, openvino::AutoPad::same_upper}) {
    const openvino::ExtractImagePatches op = {{3, 3}, {5, 5}, {1, 1}, pad};
    expect_iota(op, {64, 3, 0, 0}, {64, 27, 0, 0}, {});
    expect_iota(op, {64, 3, 0, 10}, {64, 27, 0, 2}, {});
    expect_iota(op, {64, 3, 10, 0}, {64, 27, 2, 0}, {});
  }
}

TEST(ZeroExtents, PaddingReadsAsFill) {
  expect_iota(Unfold{.kernel_size = {2, 2}, .padding = 1, .value = 7}, {1, 1, 0, 1}, {1, 4, 2}, {7, 7, 7, 7, 7, 7, 7, 7});
  expect_iota(Fold{.output_size = {0, 1}, .kernel_size = 2, .padding = 1}, {1, 4, 2}, {1, 1, 0, 1}, {});
  expect_iota(SpaceToBatch{.block = {3, 1}, .padding = {{1, 2}, {0, 0}}}, {1, 1, 0, 2}, {3, 1, 1, 2}, {0, 0, 0, 0, 0, 0});
  expect_iota(tensorflow::SpaceToBatchND{{3}, {{1, 2}}}, {1, 0, 2}, {3, 1, 2}, {0, 0, 0, 0, 0, 0});
}

TEST(ZeroExtents, BlocksOfNothing) {
  expect_iota(SpaceToDepth{.block = {2, 3}}, {2, 3, 0, 6}, {2, 18, 0, 2}, {});
  expect_iota(DepthToSpace{.block = {2, 3}}, {2, 18, 0, 2}, {2, 3, 0, 6}, {});
  expect_iota(openvino::SpaceToBatch{{1, 2, 1}, {0, 0, 0}, {0, 0, 0}}, {2, 0, 5}, {4, 0, 5}, {});
  expect_iota(openvino::BatchToSpace{{1, 2, 1}, {0, 1, 0}, {0, 1, 0}}, {4, 1, 5}, {2, 0, 5}, {});
}

TEST(ZeroExtents, CoverageOfNothing) {
  expect_values(Coverage{.output_size = {0, 4}, .kernel_size = 2}, {}, {0}, {0, 4}, {});
  expect_values(Coverage{.output_size = {2, 2}, .kernel_size = 3}, {}, {0}, {2, 2}, {0, 0, 0, 0});
}

}  // namespace
}  // namespace patchfold::vectors
