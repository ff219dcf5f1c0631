// SPDX-License-Identifier: Apache-2.0
// OpenVINO's type_prop cases of SpaceToDepth-1 and DepthToSpace-1.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using openvino::BlocksMode;
using openvino::DepthToSpace;
using openvino::SpaceToDepth;

TEST(OpenvinoSpaceToDepthTypeProp, static_shapes) {
  const auto blocks = BlocksMode::blocks_first, depth = BlocksMode::depth_first;
  const struct {
    const char* name;
    SpaceToDepth op;
    Dims in, out;
  } cases[] = {
      {"block_first_4D", {8, blocks}, {1, 2, 64, 64}, {1, 128, 8, 8}},
      {"block_first_4D_2", {2, blocks}, {1, 12, 1080, 1616}, {1, 48, 540, 808}},
      {"depth_first_4D", {2, depth}, {1, 12, 1080, 1616}, {1, 48, 540, 808}},
      {"depth_first_5D", {2, depth}, {1, 12, 4, 1080, 1616}, {1, 96, 2, 540, 808}},
      {"depth_first_5D_1", {1, depth}, {4, 36, 1080, 1616}, {4, 36, 1080, 1616}},
      {"space_is_static", {2, depth}, {4, 36, 1080, 1616}, {4, 144, 540, 808}},
      {"default_ctor", {3, blocks}, {4, 36, 900, 3}, {4, 324, 300, 1}},
      {"default_block_size", {.blocks_mode = blocks}, {2, 3, 5, 7}, {2, 3, 5, 7}},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    expect_shape(test.op, test.in, test.out);
  }
}

TEST(OpenvinoSpaceToDepthTypeProp, space_to_depth_input_rank_not_supported) {
  expect_error(SpaceToDepth{2, BlocksMode::depth_first}, {1, 8}, {ErrorCode::rank}, {"[1, 8]", "3"});
}

TEST(OpenvinoSpaceToDepthTypeProp, space_to_depth_blocksize_not_matched) {
  expect_error(SpaceToDepth{4, BlocksMode::depth_first}, {1, 3, 8, 7}, {ErrorCode::divisible}, {"7", "4"});
}

TEST(OpenvinoSpaceToDepthTypeProp, mode_is_required) {
  expect_error(SpaceToDepth{.block_size = 2}, {1, 3, 8, 8}, {ErrorCode::missing}, {"blocks_mode"});
  expect_error(DepthToSpace{.block_size = 2}, {1, 8, 8, 8}, {ErrorCode::missing}, {"blocks_mode"});
}

TEST(OpenvinoDepthToSpaceTypeProp, static_shapes) {
  const auto blocks = BlocksMode::blocks_first, depth = BlocksMode::depth_first;
  const struct {
    const char* name;
    DepthToSpace op;
    Dims in, out;
  } cases[] = {
      {"interval_shape_block_first_5D_lower_ends", {2, blocks}, {2, 24, 3, 423, 235}, {2, 3, 6, 846, 470}},
      {"interval_shape_block_first_5D_upper_ends", {2, blocks}, {10, 24, 7, 3000, 1345}, {10, 3, 14, 6000, 2690}},
      {"interval_shape_default_block_size", {.blocks_mode = blocks}, {2, 24, 3, 423, 235}, {2, 24, 3, 423, 235}},
      {"dynamicshape_block_first_5D", {3, blocks}, {2, 81, 3, 423, 235}, {2, 3, 9, 1269, 705}},
      {"block_first_4D", {8, blocks}, {1, 128, 8, 8}, {1, 2, 64, 64}},
      {"block_first_4D_2", {2, blocks}, {1, 12, 1080, 1616}, {1, 3, 2160, 3232}},
      {"block_first_5D", {2, blocks}, {1, 16, 3, 1080, 1616}, {1, 2, 6, 2160, 3232}},
      {"depth_first_4D", {2, depth}, {1, 12, 1080, 1616}, {1, 3, 2160, 3232}},
      {"depth_first_5D", {2, depth}, {1, 16, 3, 1080, 1616}, {1, 2, 6, 2160, 3232}},
      {"default_ctor", {3, blocks}, {2, 27, 0, 9}, {2, 3, 0, 27}},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    expect_shape(test.op, test.in, test.out);
  }
}

TEST(OpenvinoDepthToSpaceTypeProp, depth_to_space_input_rank_not_supported) {
  expect_error(DepthToSpace{2, BlocksMode::depth_first}, {1, 8}, {ErrorCode::rank}, {"[1, 8]", "3"});
}

TEST(OpenvinoDepthToSpaceTypeProp, depth_to_space_blocksize_not_matched) {
  expect_error(DepthToSpace{2, BlocksMode::depth_first}, {1, 7, 4, 4}, {ErrorCode::divisible}, {"7", "4"});
}

}  // namespace
}  // namespace patchfold::vectors
