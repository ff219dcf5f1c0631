// SPDX-License-Identifier: Apache-2.0
// TensorFlow's tests of SpaceToDepth and DepthToSpace. Shapes and block sizes are TensorFlow's, the data is 1, 2, 3, ..;
// oracle.py makes the expected tensors.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using tensorflow::DataFormat;
using tensorflow::DepthToSpace;
using tensorflow::SpaceToDepth;

// deep = SpaceToDepth(1, 2, 3, ..), and DepthToSpace gives the input back.
void expect_both(std::int64_t block_size, DataFormat format, const Dims& in, const Dims& deep, const Ints& expected) {
  expect_iota(SpaceToDepth{block_size, format}, in, deep, expected, summable_types());
  expect_values(DepthToSpace{block_size, format}, deep, expected, in, iota(in), summable_types());
}

TEST(TensorflowSpaceToDepth, Basic) {
  expect_both(2, DataFormat::NHWC, {1, 2, 2, 1}, {1, 1, 1, 4}, {1, 2, 3, 4});
}

TEST(TensorflowSpaceToDepth, LargerInput2x2) {
  expect_both(2, DataFormat::NHWC, {1, 4, 4, 1}, {1, 2, 2, 4}, {1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16});
}

TEST(TensorflowSpaceToDepth, LargerInput4x4) {
  expect_both(4, DataFormat::NHWC, {1, 4, 4, 1}, {1, 1, 1, 16}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
}

TEST(TensorflowSpaceToDepth, DepthInterleaved) {
  expect_both(2, DataFormat::NHWC, {1, 2, 2, 2}, {1, 1, 1, 8}, {1, 2, 3, 4, 5, 6, 7, 8});
}

TEST(TensorflowSpaceToDepth, DepthInterleavedDepth3) {
  expect_both(2, DataFormat::NHWC, {1, 2, 2, 3}, {1, 1, 1, 12}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
}

TEST(TensorflowSpaceToDepth, DepthInterleavedLarge) {
  expect_both(2, DataFormat::NHWC, {1, 4, 4, 2}, {1, 2, 2, 8},
              {1,  2,  3,  4,  9,  10, 11, 12, 5,  6,  7,  8,  13, 14, 15, 16,
               17, 18, 19, 20, 25, 26, 27, 28, 21, 22, 23, 24, 29, 30, 31, 32});
}

TEST(TensorflowSpaceToDepth, BlockSize2Batch10) {
  expect_both(
      2, DataFormat::NHWC, {10, 4, 4, 1}, {10, 2, 2, 4},
      {1,   2,   5,   6,   3,   4,   7,   8,   9,   10,  13,  14,  11,  12,  15,  16,  17,  18,  21,  22,  19,  20,  23,
       24,  25,  26,  29,  30,  27,  28,  31,  32,  33,  34,  37,  38,  35,  36,  39,  40,  41,  42,  45,  46,  43,  44,
       47,  48,  49,  50,  53,  54,  51,  52,  55,  56,  57,  58,  61,  62,  59,  60,  63,  64,  65,  66,  69,  70,  67,
       68,  71,  72,  73,  74,  77,  78,  75,  76,  79,  80,  81,  82,  85,  86,  83,  84,  87,  88,  89,  90,  93,  94,
       91,  92,  95,  96,  97,  98,  101, 102, 99,  100, 103, 104, 105, 106, 109, 110, 107, 108, 111, 112, 113, 114, 117,
       118, 115, 116, 119, 120, 121, 122, 125, 126, 123, 124, 127, 128, 129, 130, 133, 134, 131, 132, 135, 136, 137, 138,
       141, 142, 139, 140, 143, 144, 145, 146, 149, 150, 147, 148, 151, 152, 153, 154, 157, 158, 155, 156, 159, 160});
}

TEST(TensorflowSpaceToDepth, BatchSize0) {
  expect_both(2, DataFormat::NHWC, {0, 4, 6, 3}, {0, 2, 3, 12}, {});
}

TEST(TensorflowSpaceToDepth, NonSquare) {
  expect_both(2, DataFormat::NHWC, {1, 6, 2, 2}, {1, 3, 1, 8},
              {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24});
}

TEST(TensorflowSpaceToDepth, Nchw) {
  expect_both(2, DataFormat::NCHW, {1, 2, 4, 4}, {1, 8, 2, 2}, {1, 3, 9,  11, 17, 19, 25, 27, 2, 4, 10, 12, 18, 20, 26, 28,
                                                                5, 7, 13, 15, 21, 23, 29, 31, 6, 8, 14, 16, 22, 24, 30, 32});
}

TEST(TensorflowSpaceToDepth, NchwBlock3) {
  expect_both(3, DataFormat::NCHW, {2, 1, 3, 6}, {2, 9, 1, 2},
              {1,  4,  2,  5,  3,  6,  7,  10, 8,  11, 9,  12, 13, 16, 14, 17, 15, 18,
               19, 22, 20, 23, 21, 24, 25, 28, 26, 29, 27, 30, 31, 34, 32, 35, 33, 36});
}

TEST(TensorflowSpaceToDepth, AgainstTranspose) {
  const struct {
    DataFormat format;
    std::int64_t block_size;
    Dims image, deep;
    std::uint64_t to_depth, to_space;
  } cases[] = {
      {DataFormat::NHWC, 2, {3, 4, 6, 1}, {3, 2, 3, 4}, 0xd323f5f64a66a42du, 0x1cee3636abf907adu},
      {DataFormat::NHWC, 2, {1, 4, 6, 2}, {1, 2, 3, 8}, 0x142b302507be3dd5u, 0xfa5321a47dab5d55u},
      {DataFormat::NHWC, 3, {1, 6, 9, 2}, {1, 2, 3, 18}, 0x62a5e734f0bec0c9u, 0x62a5e734f0bec0c9u},
      {DataFormat::NHWC, 2, {3, 4, 6, 2}, {3, 2, 3, 8}, 0xc70bebd71796e335u, 0xf47d9cd851c0e035u},
      {DataFormat::NCHW, 2, {3, 1, 4, 6}, {3, 4, 2, 3}, 0x4393792ae19a63edu, 0x2292c1f3ef465dadu},
      {DataFormat::NCHW, 3, {3, 2, 6, 9}, {3, 18, 2, 3}, 0x834b4f9677eb8ec2u, 0xdcc23d1f2cf4c3f2u},
      {DataFormat::NCHW, 2, {5, 3, 14, 22}, {5, 12, 7, 11}, 0xf8d737606fe0213u, 0x93a9f9374778e8cbu},
  };
  for (const auto& test : cases) {
    expect_fingerprint(SpaceToDepth{test.block_size, test.format}, test.image, test.deep, test.to_depth);
    expect_fingerprint(DepthToSpace{test.block_size, test.format}, test.deep, test.image, test.to_space);
  }
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

}  // namespace
}  // namespace patchfold::vectors
