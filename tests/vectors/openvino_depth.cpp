// SPDX-License-Identifier: Apache-2.0
// OpenVINO's reference and type_prop cases of SpaceToDepth-1 and DepthToSpace-1. Parameters are OpenVINO's, the data is 1,
// 2, 3, ..; oracle.py makes the expected tensors.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using openvino::BlocksMode;
using openvino::DepthToSpace;
using openvino::SpaceToDepth;

TEST(OpenvinoSpaceToDepth, space_to_depth_block_first_K2_BS2) {
  expect_iota(SpaceToDepth{2, BlocksMode::blocks_first}, {1, 2, 4, 4}, {1, 8, 2, 2},
              {1, 3, 9,  11, 17, 19, 25, 27, 2, 4, 10, 12, 18, 20, 26, 28,
               5, 7, 13, 15, 21, 23, 29, 31, 6, 8, 14, 16, 22, 24, 30, 32},
              numeric_types());
}

TEST(OpenvinoSpaceToDepth, space_to_depth_block_first_K2_BS3) {
  expect_iota(SpaceToDepth{3, BlocksMode::blocks_first}, {1, 2, 6, 3}, {1, 18, 2, 1},
              {1,  10, 19, 28, 2,  11, 20, 29, 3,  12, 21, 30, 4,  13, 22, 31, 5,  14,
               23, 32, 6,  15, 24, 33, 7,  16, 25, 34, 8,  17, 26, 35, 9,  18, 27, 36},
              numeric_types());
}

TEST(OpenvinoSpaceToDepth, space_to_depth_block_first_K1_BS3) {
  expect_iota(SpaceToDepth{3, BlocksMode::blocks_first}, {1, 2, 6}, {1, 6, 2}, {1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12},
              numeric_types());
}

TEST(OpenvinoSpaceToDepth, space_to_depth_depth_first_K2_BS2) {
  expect_iota(SpaceToDepth{2, BlocksMode::depth_first}, {1, 2, 4, 4}, {1, 8, 2, 2},
              {1,  3,  9,  11, 2,  4,  10, 12, 5,  7,  13, 15, 6,  8,  14, 16,
               17, 19, 25, 27, 18, 20, 26, 28, 21, 23, 29, 31, 22, 24, 30, 32},
              numeric_types());
}

TEST(OpenvinoSpaceToDepth, space_to_depth_depth_first_K2_BS3) {
  expect_iota(SpaceToDepth{3, BlocksMode::depth_first}, {1, 2, 6, 3}, {1, 18, 2, 1},
              {1,  10, 2,  11, 3,  12, 4,  13, 5,  14, 6,  15, 7,  16, 8,  17, 9,  18,
               19, 28, 20, 29, 21, 30, 22, 31, 23, 32, 24, 33, 25, 34, 26, 35, 27, 36},
              numeric_types());
}

TEST(OpenvinoSpaceToDepth, space_to_depth_depth_first_K1_BS3) {
  expect_iota(SpaceToDepth{3, BlocksMode::depth_first}, {1, 2, 6}, {1, 6, 2}, {1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12},
              numeric_types());
}

TEST(OpenvinoSpaceToDepth, space_to_depth_depth_first_K3_BS2) {
  expect_iota(SpaceToDepth{2, BlocksMode::depth_first}, {1, 2, 2, 2, 4}, {1, 16, 1, 1, 2},
              {1,  3,  2,  4,  5,  7,  6,  8,  9,  11, 10, 12, 13, 15, 14, 16,
               17, 19, 18, 20, 21, 23, 22, 24, 25, 27, 26, 28, 29, 31, 30, 32},
              numeric_types());
}

TEST(OpenvinoDepthToSpace, depth_to_space_block_first_K1_BS2) {
  expect_iota(DepthToSpace{2, BlocksMode::blocks_first}, {1, 8, 2}, {1, 4, 4},
              {1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 8, 16}, numeric_types());
}

TEST(OpenvinoDepthToSpace, depth_to_space_block_first_K2_BS2) {
  expect_iota(DepthToSpace{2, BlocksMode::blocks_first}, {1, 8, 2, 2}, {1, 2, 4, 4},
              {1, 9,  2, 10, 17, 25, 18, 26, 3, 11, 4, 12, 19, 27, 20, 28,
               5, 13, 6, 14, 21, 29, 22, 30, 7, 15, 8, 16, 23, 31, 24, 32},
              numeric_types());
}

TEST(OpenvinoDepthToSpace, depth_to_space_block_first_K2_BS4) {
  expect_iota(DepthToSpace{4, BlocksMode::blocks_first}, {1, 16, 2, 1}, {1, 1, 8, 4},
              {1, 3, 5, 7, 9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
               2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32},
              numeric_types());
}

TEST(OpenvinoDepthToSpace, depth_to_space_depth_first_1K_BS2) {
  expect_iota(DepthToSpace{2, BlocksMode::depth_first}, {1, 8, 2}, {1, 4, 4},
              {1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12, 13, 15, 14, 16}, numeric_types());
}

TEST(OpenvinoDepthToSpace, depth_to_space_depth_first_2K_BS2) {
  expect_iota(DepthToSpace{2, BlocksMode::depth_first}, {1, 8, 2, 2}, {1, 2, 4, 4},
              {1,  5,  2,  6,  9,  13, 10, 14, 3,  7,  4,  8,  11, 15, 12, 16,
               17, 21, 18, 22, 25, 29, 26, 30, 19, 23, 20, 24, 27, 31, 28, 32},
              numeric_types());
}

TEST(OpenvinoDepthToSpace, depth_to_space_depth_first_2K_BS4) {
  expect_iota(DepthToSpace{4, BlocksMode::depth_first}, {1, 16, 2, 1}, {1, 1, 8, 4},
              {1, 3, 5, 7, 9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
               2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32},
              numeric_types());
}

TEST(OpenvinoDepthToSpace, depth_to_space_block_first_K3_BS2) {
  expect_iota(DepthToSpace{2, BlocksMode::blocks_first}, {1, 16, 1, 1, 2}, {1, 2, 2, 2, 4},
              {1, 5, 2, 6, 9,  13, 10, 14, 17, 21, 18, 22, 25, 29, 26, 30,
               3, 7, 4, 8, 11, 15, 12, 16, 19, 23, 20, 24, 27, 31, 28, 32},
              numeric_types());
}

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
