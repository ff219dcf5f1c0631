// SPDX-License-Identifier: Apache-2.0
// ONNX's backend tests and ONNX Runtime's tests of SpaceToDepth and DepthToSpace. Shapes and modes are theirs, the data is
// 1, 2, 3, ..; oracle.py makes the expected tensors.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using onnx::DepthToSpace;
using onnx::Mode;
using onnx::SpaceToDepth;

TEST(OnnxDepthToSpace, test_depthtospace_example) {
  expect_iota(DepthToSpace{.blocksize = 2, .mode = Mode::DCR}, {1, 8, 2, 3}, {1, 2, 4, 6},
              {1, 13, 2, 14, 3, 15, 25, 37, 26, 38, 27, 39, 4,  16, 5,  17, 6,  18, 28, 40, 29, 41, 30, 42,
               7, 19, 8, 20, 9, 21, 31, 43, 32, 44, 33, 45, 10, 22, 11, 23, 12, 24, 34, 46, 35, 47, 36, 48},
              summable_types());
}

TEST(OnnxDepthToSpace, test_depthtospace_crd_mode_example) {
  expect_iota(DepthToSpace{.blocksize = 2, .mode = Mode::CRD}, {1, 8, 2, 3}, {1, 2, 4, 6},
              {1,  7,  2,  8,  3,  9,  13, 19, 14, 20, 15, 21, 4,  10, 5,  11, 6,  12, 16, 22, 17, 23, 18, 24,
               25, 31, 26, 32, 27, 33, 37, 43, 38, 44, 39, 45, 28, 34, 29, 35, 30, 36, 40, 46, 41, 47, 42, 48},
              summable_types());
}

TEST(OnnxDepthToSpace, test_depthtospace_dcr_nonsquare) {
  expect_iota(DepthToSpace{.blocksize = 2, .mode = Mode::DCR}, {1, 4, 1, 3}, {1, 1, 2, 6},
              {1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12}, summable_types());
}

TEST(OnnxSpaceToDepth, test_spacetodepth) {
  expect_iota(SpaceToDepth{.blocksize = 2}, {2, 2, 6, 6}, {2, 8, 3, 3},
              {1,   3,   5,   13,  15,  17,  25,  27,  29,  37,  39,  41,  49,  51,  53,  61,  63,  65,  2,   4,   6,
               14,  16,  18,  26,  28,  30,  38,  40,  42,  50,  52,  54,  62,  64,  66,  7,   9,   11,  19,  21,  23,
               31,  33,  35,  43,  45,  47,  55,  57,  59,  67,  69,  71,  8,   10,  12,  20,  22,  24,  32,  34,  36,
               44,  46,  48,  56,  58,  60,  68,  70,  72,  73,  75,  77,  85,  87,  89,  97,  99,  101, 109, 111, 113,
               121, 123, 125, 133, 135, 137, 74,  76,  78,  86,  88,  90,  98,  100, 102, 110, 112, 114, 122, 124, 126,
               134, 136, 138, 79,  81,  83,  91,  93,  95,  103, 105, 107, 115, 117, 119, 127, 129, 131, 139, 141, 143,
               80,  82,  84,  92,  94,  96,  104, 106, 108, 116, 118, 120, 128, 130, 132, 140, 142, 144},
              summable_types());
}

TEST(OnnxSpaceToDepth, test_spacetodepth_example) {
  expect_iota(SpaceToDepth{.blocksize = 2}, {1, 1, 4, 6}, {1, 4, 2, 3},
              {1, 3, 5, 13, 15, 17, 2, 4, 6, 14, 16, 18, 7, 9, 11, 19, 21, 23, 8, 10, 12, 20, 22, 24}, summable_types());
}

TEST(OnnxSpaceToDepth, test_spacetodepth_dcr_mode_example) {
  expect_iota(SpaceToDepth{.blocksize = 2, .mode = Mode::DCR}, {1, 2, 4, 6}, {1, 8, 2, 3},
              {1, 3, 5,  13, 15, 17, 25, 27, 29, 37, 39, 41, 2, 4,  6,  14, 16, 18, 26, 28, 30, 38, 40, 42,
               7, 9, 11, 19, 21, 23, 31, 33, 35, 43, 45, 47, 8, 10, 12, 20, 22, 24, 32, 34, 36, 44, 46, 48},
              summable_types());
}

TEST(OnnxSpaceToDepth, test_spacetodepth_crd_mode_example) {
  expect_iota(SpaceToDepth{.blocksize = 2, .mode = Mode::CRD}, {1, 2, 4, 6}, {1, 8, 2, 3},
              {1,  3,  5,  13, 15, 17, 2,  4,  6,  14, 16, 18, 7,  9,  11, 19, 21, 23, 8,  10, 12, 20, 22, 24,
               25, 27, 29, 37, 39, 41, 26, 28, 30, 38, 40, 42, 31, 33, 35, 43, 45, 47, 32, 34, 36, 44, 46, 48},
              summable_types());
}

TEST(OrtSpaceToDepth, SpaceToDepthTest_1) {
  expect_iota(SpaceToDepth{.blocksize = 2}, {1, 2, 2, 4}, {1, 8, 1, 2},
              {1, 3, 9, 11, 2, 4, 10, 12, 5, 7, 13, 15, 6, 8, 14, 16}, summable_types());
}

TEST(OrtSpaceToDepth, SpaceToDepthTest_2) {
  expect_iota(
      SpaceToDepth{.blocksize = 3}, {2, 3, 3, 6}, {2, 27, 1, 2},
      {1,  4,  19,  22, 37, 40, 2,  5,  20,  23, 38, 41, 3,  6,   21,  24, 39, 42, 7,  10,  25,  28, 43, 46,  8,  11,  26,
       29, 44, 47,  9,  12, 27, 30, 45, 48,  13, 16, 31, 34, 49,  52,  14, 17, 32, 35, 50,  53,  15, 18, 33,  36, 51,  54,
       55, 58, 73,  76, 91, 94, 56, 59, 74,  77, 92, 95, 57, 60,  75,  78, 93, 96, 61, 64,  79,  82, 97, 100, 62, 65,  80,
       83, 98, 101, 63, 66, 81, 84, 99, 102, 67, 70, 85, 88, 103, 106, 68, 71, 86, 89, 104, 107, 69, 72, 87,  90, 105, 108},
      summable_types());
}

TEST(OrtDepthToSpace, DepthToSpaceTest_1) {
  expect_iota(DepthToSpace{.blocksize = 2}, {1, 8, 1, 2}, {1, 2, 2, 4},
              {1, 5, 2, 6, 9, 13, 10, 14, 3, 7, 4, 8, 11, 15, 12, 16}, summable_types());
}

TEST(OrtDepthToSpace, DepthToSpaceTest_2) {
  expect_iota(
      DepthToSpace{.blocksize = 2}, {2, 12, 3, 2}, {2, 3, 6, 4},
      {1,  19,  2,  20,  37,  55,  38,  56,  3,  21,  4,  22,  39,  57,  40,  58,  5,  23,  6,  24,  41,  59,  42,  60,
       7,  25,  8,  26,  43,  61,  44,  62,  9,  27,  10, 28,  45,  63,  46,  64,  11, 29,  12, 30,  47,  65,  48,  66,
       13, 31,  14, 32,  49,  67,  50,  68,  15, 33,  16, 34,  51,  69,  52,  70,  17, 35,  18, 36,  53,  71,  54,  72,
       73, 91,  74, 92,  109, 127, 110, 128, 75, 93,  76, 94,  111, 129, 112, 130, 77, 95,  78, 96,  113, 131, 114, 132,
       79, 97,  80, 98,  115, 133, 116, 134, 81, 99,  82, 100, 117, 135, 118, 136, 83, 101, 84, 102, 119, 137, 120, 138,
       85, 103, 86, 104, 121, 139, 122, 140, 87, 105, 88, 106, 123, 141, 124, 142, 89, 107, 90, 108, 125, 143, 126, 144},
      summable_types());
}

TEST(OrtDepthToSpace, DepthToSpaceTest_3_to_4_mode_defaults_to_DCR) {
  EXPECT_EQ(DepthToSpace{}.mode, Mode::DCR);
  EXPECT_EQ(SpaceToDepth{}.mode, Mode::DCR);
}

TEST(OrtDepthToSpace, DepthToSpaceTest_5) {
  expect_iota(DepthToSpace{.blocksize = 2, .mode = Mode::CRD}, {1, 4, 2, 3}, {1, 1, 4, 6},
              {1, 7, 2, 8, 3, 9, 13, 19, 14, 20, 15, 21, 4, 10, 5, 11, 6, 12, 16, 22, 17, 23, 18, 24}, summable_types());
}

TEST(OrtSpaceToDepth, SpaceToDepthTest_1_fractions) {
  const std::vector<double> data = {0.0, 0.1, 0.2, 0.3, 1.0, 1.1, 1.2, 1.3, 2.0, 2.1, 2.2, 2.3, 3.0, 3.1, 3.2, 3.3};
  const std::vector<double> deep = {0.0, 0.2, 2.0, 2.2, 0.1, 0.3, 2.1, 2.3, 1.0, 1.2, 3.0, 3.2, 1.1, 1.3, 3.1, 3.3};
  expect_same(SpaceToDepth{.blocksize = 2}, DType::float64, {1, 2, 2, 4}, data, {1, 8, 1, 2}, deep);
  expect_same(DepthToSpace{.blocksize = 2}, DType::float64, {1, 8, 1, 2}, deep, {1, 2, 2, 4}, data);
}

TEST(OnnxSpaceToDepth, Errors) {
  const auto op = [](std::int64_t blocksize) { return SpaceToDepth{.blocksize = blocksize}; };
  expect_error(op(2), {1, 4, 6}, {ErrorCode::rank});
  expect_error(op(2), {1, 1, 1, 4, 6}, {ErrorCode::rank});
  expect_error(op(0), {1, 1, 4, 6}, {ErrorCode::value, ErrorCode::missing}, {"blocksize"});
  expect_error(op(-2), {1, 1, 4, 6}, {ErrorCode::value}, {"blocksize"});
  expect_error(op(2), {1, 1, 5, 6}, {ErrorCode::divisible}, {"5", "2"});
  expect_error(op(2), {1, 1, 4, 7}, {ErrorCode::divisible}, {"7", "2"});
  expect_error(op(std::int64_t{1} << 33), {1, 1, 0, 0}, {ErrorCode::overflow});
}

TEST(OnnxDepthToSpace, Errors) {
  const auto op = [](std::int64_t blocksize) { return DepthToSpace{.blocksize = blocksize}; };
  expect_error(op(2), {8, 2, 3}, {ErrorCode::rank});
  expect_error(op(0), {1, 8, 2, 3}, {ErrorCode::value, ErrorCode::missing}, {"blocksize"});
  expect_error(op(-1), {1, 8, 2, 3}, {ErrorCode::value}, {"blocksize"});
  expect_error(op(2), {1, 6, 2, 3}, {ErrorCode::divisible}, {"6", "4"});
  expect_error(op(std::int64_t{1} << 33), {1, 8, 2, 3}, {ErrorCode::overflow, ErrorCode::divisible});
}

TEST(OnnxDepth, unknown_modes_are_refused) {
  for (const auto* name : {"onnx.SpaceToDepth-28", "onnx.DepthToSpace-28"})
    expect_error_of_binding(name, {{"blocksize", std::int64_t{2}}, {"mode", std::string("CDR")}}, {ErrorCode::value},
                            {"CDR", "DCR", "CRD"});
}

TEST(OnnxDepth, block_size_1_copies) {
  expect_iota(SpaceToDepth{.blocksize = 1}, {2, 3, 2, 2}, {2, 3, 2, 2}, iota({24}));
  expect_iota(DepthToSpace{.blocksize = 1}, {2, 3, 2, 2}, {2, 3, 2, 2}, iota({24}));
}

}  // namespace
}  // namespace patchfold::vectors
