// SPDX-License-Identifier: Apache-2.0
// TensorFlow's tests of what its batch, depth and patch operators refuse, of shapes, and of large images.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using enum tensorflow::PaddingType;
using tensorflow::BatchToSpace;
using tensorflow::BatchToSpaceND;
using tensorflow::DataFormat;
using tensorflow::DepthToSpace;
using tensorflow::ExtractImagePatches;
using tensorflow::ExtractVolumePatches;
using tensorflow::SpaceToBatch;
using tensorflow::SpaceToBatchND;
using tensorflow::SpaceToDepth;

TEST(TensorflowSpaceToBatchND, Unknown_known_dimensions) {
  expect_shape(SpaceToBatchND{{2, 3}, {{1, 1}, {0, 0}}}, {3, 2, 3, 2}, {18, 2, 1, 2});
  expect_shape(SpaceToBatchND{{2, 3}, {{1, 1}, {0, 1}}}, {3, 4, 2, 2}, {18, 3, 1, 2});
}

TEST(TensorflowSpaceToBatch, Errors) {
  const PadsList none = {{0, 0}, {0, 0}};
  const SpaceToBatch two = {none, 2}, three = {none, 3};
  expect_error(two, {2, 2, 1}, {ErrorCode::rank});                                            // InputWrongDimMissingBatch
  expect_error(SpaceToBatch{none, 0}, {1, 2, 2, 1}, {ErrorCode::value, ErrorCode::missing});  // BlockSize0
  expect_error(SpaceToBatch{none, 1}, {1, 2, 2, 1}, {ErrorCode::value});                      // BlockSizeOne
  expect_error(SpaceToBatch{none, 10}, {1, 2, 2, 1}, {ErrorCode::divisible});                 // BlockSizeLarger
  expect_error(three, {1, 2, 3, 1}, {ErrorCode::divisible}, {"2", "3"});                      // BlockSizeNotDivisibleWidth
  expect_error(three, {1, 3, 2, 1}, {ErrorCode::divisible}, {"2", "3"});                      // BlockSizeNotDivisibleHeight
  expect_error(three, {1, 2, 2, 1}, {ErrorCode::divisible});                                  // BlockSizeNotDivisibleBoth
  expect_error(SpaceToBatch{{{0, 0}}, 2}, {1, 2, 2, 1}, {ErrorCode::length});
  expect_error(SpaceToBatch{{{0, 0}, {0, -2}}, 2}, {1, 2, 4, 1}, {ErrorCode::value});
}

TEST(TensorflowSpaceToBatchND, Errors) {
  const PadsList none = {{0, 0}, {0, 0}};
  expect_error(SpaceToBatchND{{0, 2}, none}, {1, 2, 2}, {ErrorCode::value});               // BlockSize0
  expect_error(SpaceToBatchND{{-1, 2}, none}, {1, 2, 2}, {ErrorCode::value});              // BlockSizeNegative
  expect_error(SpaceToBatchND{{1, 1}, {{0, -1}, {0, 0}}}, {1, 2, 2}, {ErrorCode::value});  // NegativePadding
  expect_error(SpaceToBatchND{{3, 3}, none}, {1, 2, 3, 1}, {ErrorCode::divisible});        // BlockSizeNotDivisible
  expect_error(SpaceToBatchND{{3, 3}, {{0, 0}}}, {1, 3, 3, 1}, {ErrorCode::length});       // BlockDimsMismatch
  expect_error(SpaceToBatchND{{-10, -10}, none}, {10, 20, 20}, {ErrorCode::value});        // InvalidBlockShape
  expect_error(SpaceToBatchND{{1879048192, 1879048192}, none}, {10, 19, 22},
               {ErrorCode::overflow, ErrorCode::divisible});  // OutputSizeOutOfBounds
  expect_error(SpaceToBatchND{{1879048192, 1879048192}, none}, {10, 0, 0}, {ErrorCode::overflow});
  expect_error(SpaceToBatchND{{2, 2}, none}, {1, 2}, {ErrorCode::rank});
}

TEST(TensorflowBatchToSpace, Errors) {
  const PadsList none = {{0, 0}, {0, 0}};
  expect_error(BatchToSpace{none, 2}, {2, 2, 1}, {ErrorCode::rank});                          // InputWrongDimMissingBatch
  expect_error(BatchToSpace{none, 0}, {1, 2, 2, 1}, {ErrorCode::value, ErrorCode::missing});  // BlockSize0
  expect_error(BatchToSpace{none, 1}, {1, 2, 2, 1}, {ErrorCode::value});                      // BlockSizeOne
  expect_error(BatchToSpace{none, 10}, {1, 2, 2, 1}, {ErrorCode::divisible});                 // BlockSizeLarger
  expect_error(BatchToSpace{none, 3}, {1, 2, 3, 1}, {ErrorCode::divisible},
               {"1", "9"});  // BlockSizeSquaredNotDivisibleBatch
}

TEST(TensorflowBatchToSpaceND, Errors) {
  const PadsList none = {{0, 0}, {0, 0}};
  expect_error(BatchToSpaceND{{2, 2}, none}, {2, 2}, {ErrorCode::rank});  // InputWrongDimMissingBatch
  expect_error(BatchToSpaceND{{2, 2, 3}, none}, {2, 2, 3}, {ErrorCode::length, ErrorCode::rank});
  expect_error(BatchToSpaceND{{0, 1}, none}, {1, 2, 2, 1}, {ErrorCode::value});   // BlockSize0
  expect_error(BatchToSpaceND{{-1, 1}, none}, {1, 2, 2, 1}, {ErrorCode::value});  // BlockSizeNegative
  expect_error(BatchToSpaceND{{-1, -1}, none}, {1, 2, 2, 1}, {ErrorCode::value});
  expect_error(BatchToSpaceND{{1, 1}, {{0, -1}, {0, 0}}}, {1, 2, 2}, {ErrorCode::value});    // NegativePadding
  expect_error(BatchToSpaceND{{2, 2}, {{3, 2}, {0, 0}}}, {4, 2, 3, 1}, {ErrorCode::value});  // CropTooLarge
  expect_error(BatchToSpaceND{{2, 3}, none}, {3, 1, 1, 1}, {ErrorCode::divisible},
               {"3", "6"});  // BlockSizeSquaredNotDivisibleBatch
}

TEST(TensorflowBatchToSpaceND, UnknownShape_known_dimensions) {
  expect_shape(BatchToSpaceND{{2, 3}, {{1, 1}, {0, 0}}}, {18, 2, 1, 2}, {3, 2, 3, 2});
  expect_shape(BatchToSpaceND{{2, 3}, {{1, 1}, {0, 1}}}, {18, 2, 2, 2}, {3, 2, 5, 2});
  expect_shape(BatchToSpaceND{{2, 2}, {{2, 2}, {0, 0}}}, {4, 2, 3, 1}, {1, 0, 6, 1});
}

TEST(TensorflowSpaceToDepth, Errors) {
  expect_error(SpaceToDepth{2}, {1, 2, 2}, {ErrorCode::rank});                          // InputWrongDimMissingDepth
  expect_error(SpaceToDepth{2}, {2, 2, 1}, {ErrorCode::rank});                          // InputWrongDimMissingBatch
  expect_error(SpaceToDepth{0}, {1, 2, 2, 1}, {ErrorCode::value, ErrorCode::missing});  // BlockSize0
  expect_error(SpaceToDepth{1}, {1, 2, 2, 1}, {ErrorCode::value});                      // BlockSizeOne
  expect_error(SpaceToDepth{10}, {1, 2, 2, 1}, {ErrorCode::divisible});                 // BlockSizeLarger
  expect_error(SpaceToDepth{3}, {1, 2, 3, 1}, {ErrorCode::divisible}, {"2", "3"});      // BlockSizeNotDivisibleWidth
  expect_error(SpaceToDepth{3}, {1, 3, 2, 1}, {ErrorCode::divisible}, {"2", "3"});      // BlockSizeNotDivisibleHeight
  expect_error(SpaceToDepth{3}, {1, 2, 2, 1}, {ErrorCode::divisible});                  // BlockSizeNotDivisibleBoth
  expect_error(SpaceToDepth{2, DataFormat::NCHW_VECT_C}, {1, 1, 2, 2, 4}, {ErrorCode::value, ErrorCode::rank});
  expect_error(SpaceToDepth{2, DataFormat::NCHW}, {1, 2, 3, 4}, {ErrorCode::divisible});
}

TEST(TensorflowDepthToSpace, Errors) {
  expect_error(DepthToSpace{4}, {1, 2, 2, 4}, {ErrorCode::divisible}, {"4", "16"});     // BlockSizeTooLarge
  expect_error(DepthToSpace{0}, {1, 2, 2, 4}, {ErrorCode::value, ErrorCode::missing});  // BlockSize0
  expect_error(DepthToSpace{1}, {1, 2, 2, 4}, {ErrorCode::value});                      // BlockSizeOne
  expect_error(DepthToSpace{10}, {1, 2, 2, 1}, {ErrorCode::divisible});                 // BlockSizeLargerThanInput
  expect_error(DepthToSpace{3}, {1, 2, 2, 4}, {ErrorCode::divisible}, {"4", "9"});      // BlockSizeNotDivisibleDepth
  expect_error(DepthToSpace{100000}, {1, 1, 1, 4}, {ErrorCode::divisible});             // BlockSizeOverflow
  expect_error(DepthToSpace{2}, {2, 2, 4}, {ErrorCode::rank});
  expect_error(DepthToSpace{2, DataFormat::NCHW_VECT_C}, {1, 1, 2, 2, 4}, {ErrorCode::value, ErrorCode::rank});
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
