// SPDX-License-Identifier: Apache-2.0
// ONNX: types of shape inputs, modes, and numbers that are no integers.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

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

TEST(OrtDepthToSpace, DepthToSpaceTest_3_to_4_mode_defaults_to_DCR) {
  EXPECT_EQ(DepthToSpace{}.mode, Mode::DCR);
  EXPECT_EQ(SpaceToDepth{}.mode, Mode::DCR);
}

TEST(OnnxDepth, unknown_modes_are_refused) {
  for (const auto* name : {"onnx.SpaceToDepth-28", "onnx.DepthToSpace-28"})
    expect_error_of_binding(name, {{"blocksize", std::int64_t{2}}, {"mode", std::string("CDR")}}, {ErrorCode::value},
                            {"CDR", "DCR", "CRD"});
}

}  // namespace
}  // namespace patchfold::vectors
