// SPDX-License-Identifier: Apache-2.0
// Calls that ONNX's text and ONNX Runtime's tests of Col2Im-18, SpaceToDepth and DepthToSpace refuse, and default modes.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using onnx::Col2Im;
using onnx::DepthToSpace;
using onnx::Mode;
using onnx::SpaceToDepth;

TEST(OnnxCol2Im, image_shape_and_block_shape_must_be_int64) {
  const auto arguments = [](DType image, DType block) -> std::vector<Argument> {
    return {{"image_shape", IndexTensor{{5, 5}, {2}, image}}, {"block_shape", IndexTensor{{1, 5}, {2}, block}}};
  };
  expect_shape(table_op("onnx.Col2Im-18", arguments(DType::int64, DType::int64)), {1, 5, 5}, {1, 1, 5, 5});
  expect_error_of_binding("onnx.Col2Im-18", arguments(DType::int32, DType::int64), {ErrorCode::type});
  expect_error_of_binding("onnx.Col2Im-18", arguments(DType::int64, DType::int32), {ErrorCode::type});
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

TEST(OrtDepthToSpace, DepthToSpaceTest_3_to_4_mode_defaults_to_DCR) {
  EXPECT_EQ(DepthToSpace{}.mode, Mode::DCR);
  EXPECT_EQ(SpaceToDepth{}.mode, Mode::DCR);
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

}  // namespace
}  // namespace patchfold::vectors
