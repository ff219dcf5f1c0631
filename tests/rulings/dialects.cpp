// SPDX-License-Identifier: Apache-2.0
// Rulings that are no lines of rulings.txt: messages, explanations, and types that cannot be added.
#include "patchfold/explain.hpp"
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

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
  // Lists that would be refused, too, are not proposed.
  expect_error(DepthToSpace{.block = 2}, {1, 4, 4, 4, 4}, rank, {"expected block=2,2 for two spatial axes"});
  expect_error(BatchToSpace{.block = 2}, {1, 4, 4, 4, 4}, rank, {"a list with one entry for each spatial axis"});
  expect_error(Unfold{.kernel_size = 2}, {4, 4}, rank, {"rank 4", "a grey picture: image with shape [1, 4, 4]"});
  // A list decides the number of axes, whichever argument has it.
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

TEST(TensorflowSame, IsShownInExplanations) {
  const std::string_view op = "tensorflow.ExtractVolumePatches";
  const std::string rest = " ksizes=1,1,2,2,1 strides=1,3,3,3,1 padding=SAME";
  const auto expect = [&](const std::string& shape, const std::string& line) {
    const std::string text = explain(parse_problem(std::string(op) + " f32 " + shape + rest));
    EXPECT_NE(text.find(line), std::string::npos) << text;
  };
  expect("1x6x6x7x2", "\n  axis 1 of input: extent 6, kernel 1, stride 3, dilation 1, pads -1 and -1\n");
  expect("1x6x6x7x2", "\n    patches start at 1, 4; the last one ends at 4\n");
  expect("1x6x6x7x2", "  first   output[0, 0, 0, 0, 0] <- input[0, 1, 0, 0, 0]\n");
  expect("1x600x600x700x2", "\n    patches start at 1, 4, ");
}

}  // namespace
}  // namespace patchfold::vectors
