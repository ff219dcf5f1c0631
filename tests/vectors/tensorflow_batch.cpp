// SPDX-License-Identifier: Apache-2.0
// TensorFlow's tests of SpaceToBatch, SpaceToBatchND, BatchToSpace and BatchToSpaceND, and the examples of its text. Shapes
// and parameters are TensorFlow's, the data is 1, 2, 3, .. (which is what the text's examples use, 0 in the output is
// padding); oracle.py makes the expected tensors.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using tensorflow::BatchToSpace;
using tensorflow::BatchToSpaceND;
using tensorflow::SpaceToBatch;
using tensorflow::SpaceToBatchND;

// out = op(1, 2, 3, ..), and the inverse gives the input back.
void expect_both(const Problem& op, const Problem& inverse, const Dims& in, const Dims& out, const Ints& expected,
                 Types types = one_type()) {
  expect_iota(op, in, out, expected, types);
  expect_values(inverse, out, expected, in, iota(in), types);
}

// Examples 1 to 4 of the text are DepthInput2x2's neighbours: SmallInput2x2, DepthInput2x2, LargerInput2x2, BatchInput2x2.
TEST(TensorflowSpaceToBatch, doc_examples_as_printed) {
  expect_iota(SpaceToBatch{{{0, 0}, {0, 0}}, 2}, {1, 2, 2, 1}, {4, 1, 1, 1}, {1, 2, 3, 4});
  expect_iota(SpaceToBatch{{{0, 0}, {0, 0}}, 2}, {1, 2, 2, 3}, {4, 1, 1, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  expect_iota(SpaceToBatch{{{0, 0}, {0, 0}}, 2}, {1, 4, 4, 1}, {4, 2, 2, 1},
              {1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16});
  expect_iota(SpaceToBatch{{{0, 0}, {0, 0}}, 2}, {2, 2, 4, 1}, {8, 1, 2, 1},
              {1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16});
}

TEST(TensorflowSpaceToBatch, SmallInput2x2) {
  expect_both(SpaceToBatch{{{0, 0}, {0, 0}}, 2}, BatchToSpace{{{0, 0}, {0, 0}}, 2}, {1, 2, 2, 1}, {4, 1, 1, 1}, {1, 2, 3, 4},
              numeric_types());
}

TEST(TensorflowSpaceToBatch, SmallInput2x2Pad1x0) {
  expect_both(SpaceToBatch{{{1, 0}, {1, 0}}, 3}, BatchToSpace{{{1, 0}, {1, 0}}, 3}, {1, 2, 2, 1}, {9, 1, 1, 1},
              {0, 0, 0, 0, 1, 2, 0, 3, 4}, numeric_types());
}

TEST(TensorflowSpaceToBatch, DepthInput2x2) {
  expect_both(SpaceToBatch{{{0, 0}, {0, 0}}, 2}, BatchToSpace{{{0, 0}, {0, 0}}, 2}, {1, 2, 2, 3}, {4, 1, 1, 3},
              {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, numeric_types());
}

TEST(TensorflowSpaceToBatch, LargerInput2x2) {
  expect_both(SpaceToBatch{{{0, 0}, {0, 0}}, 2}, BatchToSpace{{{0, 0}, {0, 0}}, 2}, {1, 4, 4, 1}, {4, 2, 2, 1},
              {1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16}, numeric_types());
}

TEST(TensorflowSpaceToBatch, BatchInput2x2) {
  expect_both(SpaceToBatch{{{0, 0}, {0, 0}}, 2}, BatchToSpace{{{0, 0}, {0, 0}}, 2}, {2, 2, 4, 1}, {8, 1, 2, 1},
              {1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16}, numeric_types());
}

TEST(TensorflowSpaceToBatch, LargerInputBatch2x2) {
  expect_both(SpaceToBatch{{{0, 0}, {0, 0}}, 2}, BatchToSpace{{{0, 0}, {0, 0}}, 2}, {2, 4, 4, 1}, {8, 2, 2, 1},
              {1, 3, 9,  11, 17, 19, 25, 27, 2, 4, 10, 12, 18, 20, 26, 28,
               5, 7, 13, 15, 21, 23, 29, 31, 6, 8, 14, 16, 22, 24, 30, 32},
              numeric_types());
}

TEST(TensorflowSpaceToBatch, SmallPad1x1) {
  expect_both(SpaceToBatch{{{1, 1}, {1, 1}}, 2}, BatchToSpace{{{1, 1}, {1, 1}}, 2}, {1, 4, 6, 2}, {4, 3, 4, 2},
              {0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  15, 16, 19, 20, 23, 24, 0,  0,  39, 40, 43, 44, 47, 48,
               0, 0, 0, 0, 0, 0,  0,  0,  13, 14, 17, 18, 21, 22, 0,  0,  37, 38, 41, 42, 45, 46, 0,  0,
               0, 0, 3, 4, 7, 8,  11, 12, 0,  0,  27, 28, 31, 32, 35, 36, 0,  0,  0,  0,  0,  0,  0,  0,
               1, 2, 5, 6, 9, 10, 0,  0,  25, 26, 29, 30, 33, 34, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0},
              numeric_types());
}

TEST(TensorflowSpaceToBatchND, ZeroBlockDimsZeroRemainingDims) {
  expect_both(SpaceToBatchND{{}, {}}, BatchToSpaceND{{}, {}}, {2}, {2}, {1, 2});
}

TEST(TensorflowSpaceToBatchND, ZeroBlockDimsOneRemainingDim) {
  expect_both(SpaceToBatchND{{}, {}}, BatchToSpaceND{{}, {}}, {2, 2}, {2, 2}, {1, 2, 3, 4});

  expect_both(SpaceToBatchND{{1}, {{0, 0}}}, BatchToSpaceND{{1}, {{0, 0}}}, {2, 2}, {2, 2}, {1, 2, 3, 4});
}

TEST(TensorflowSpaceToBatchND, ZeroBlockDimsTwoRemainingDims) {
  expect_both(SpaceToBatchND{{}, {}}, BatchToSpaceND{{}, {}}, {2, 2, 2}, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});

  expect_both(SpaceToBatchND{{1}, {{0, 0}}}, BatchToSpaceND{{1}, {{0, 0}}}, {2, 2, 2}, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});

  expect_both(SpaceToBatchND{{1, 1}, {{0, 0}, {0, 0}}}, BatchToSpaceND{{1, 1}, {{0, 0}, {0, 0}}}, {2, 2, 2}, {2, 2, 2},
              {1, 2, 3, 4, 5, 6, 7, 8});
}

TEST(TensorflowSpaceToBatchND, OneBlockDimZeroRemainingDims) {
  expect_both(SpaceToBatchND{{2}, {{1, 0}}}, BatchToSpaceND{{2}, {{1, 0}}}, {2, 3}, {4, 2}, {0, 2, 0, 5, 1, 3, 4, 6});
}

TEST(TensorflowSpaceToBatchND, OneBlockDimOneRemainingDim) {
  expect_both(SpaceToBatchND{{2}, {{1, 0}}}, BatchToSpaceND{{2}, {{1, 0}}}, {2, 3, 2}, {4, 2, 2},
              {0, 0, 3, 4, 0, 0, 9, 10, 1, 2, 5, 6, 7, 8, 11, 12});
}

TEST(TensorflowSpaceToBatchND, api_def_example_4) {
  expect_both(SpaceToBatchND{{2, 2}, {{0, 0}, {2, 0}}}, BatchToSpaceND{{2, 2}, {{0, 0}, {2, 0}}}, {2, 2, 4, 1}, {8, 1, 3, 1},
              {0, 1, 3, 0, 9, 11, 0, 2, 4, 0, 10, 12, 0, 5, 7, 0, 13, 15, 0, 6, 8, 0, 14, 16});
}

TEST(TensorflowSpaceToBatchND, Direct) {
  expect_both(SpaceToBatchND{{3}, {{0, 2}}}, BatchToSpaceND{{3}, {{0, 2}}}, {3, 1, 2, 0}, {9, 1, 2, 0}, {});

  expect_both(SpaceToBatchND{{3}, {{0, 0}}}, BatchToSpaceND{{3}, {{0, 0}}}, {3, 0, 2, 5}, {9, 0, 2, 5}, {});

  expect_both(SpaceToBatchND{{3}, {{1, 2}}}, BatchToSpaceND{{3}, {{1, 2}}}, {3, 0, 2, 5}, {9, 1, 2, 5},
              {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
               0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});

  expect_fingerprint(SpaceToBatchND{{3, 4, 2}, {{1, 2}, {0, 0}, {3, 0}}}, {3, 3, 4, 5, 2}, {72, 2, 1, 4, 2},
                     0x8d7c002e1b7208aau);

  expect_fingerprint(SpaceToBatchND{{3, 4, 2, 2}, {{1, 2}, {0, 0}, {3, 0}, {0, 0}}}, {3, 3, 4, 5, 2}, {144, 2, 1, 4, 1},
                     0x49d3fbc9babfa91eu);

  expect_fingerprint(SpaceToBatchND{{1, 1, 3, 4, 2, 2}, {{0, 0}, {0, 0}, {1, 2}, {0, 0}, {3, 0}, {0, 0}}},
                     {3, 2, 2, 3, 4, 5, 2, 5}, {144, 2, 2, 2, 1, 4, 1, 5}, 0x9cacf8f3f11b2eb9u);

  expect_fingerprint(SpaceToBatchND{{1, 1, 3, 4, 2, 2, 1}, {{0, 0}, {0, 0}, {1, 2}, {0, 0}, {3, 0}, {0, 0}, {0, 0}}},
                     {3, 2, 2, 3, 4, 5, 2, 5}, {144, 2, 2, 2, 1, 4, 1, 5}, 0x9cacf8f3f11b2eb9u);
}

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

TEST(TensorflowBatchToSpace, DepthToSpaceTranspose) {
  expect_fingerprint(BatchToSpace{{{0, 0}, {0, 0}}, 2}, {20, 5, 8, 7}, {5, 10, 16, 7}, 0xae2a9700763b5b0au);
}

TEST(TensorflowSpaceToBatch, SpaceToDepthTranspose) {
  expect_fingerprint(SpaceToBatch{{{0, 0}, {0, 0}}, 2}, {5, 10, 16, 7}, {20, 5, 8, 7}, 0xff774c23469b1a3eu);
}

}  // namespace
}  // namespace patchfold::vectors
