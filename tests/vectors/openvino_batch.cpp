// SPDX-License-Identifier: Apache-2.0
// OpenVINO's type_prop cases of SpaceToBatch-2 and BatchToSpace-2.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using openvino::BatchToSpace;
using openvino::SpaceToBatch;

TEST(OpenvinoSpaceToBatchTypeProp, space_to_batch_output_shape_2D) {
  expect_shape(SpaceToBatch{{1, 5}, {0, 2}, {0, 0}}, {2, 128}, {10, 26});
}

TEST(OpenvinoSpaceToBatchTypeProp, space_to_batch_output_shape_4D) {
  expect_shape(SpaceToBatch{{1, 10, 5, 1}, {0, 3, 1, 0}, {0, 3, 0, 0}}, {2, 64, 64, 3}, {100, 7, 13, 3});
}

TEST(OpenvinoSpaceToBatchTypeProp, space_to_batch_output_shape_5D) {
  expect_shape(SpaceToBatch{{1, 6, 5, 1, 16}, {0, 2, 0, 0, 0}, {0, 2, 1, 0, 0}}, {2, 32, 64, 128, 256},
               {960, 6, 13, 128, 16});
}

TEST(OpenvinoSpaceToBatchTypeProp, space_to_batch_and_batch_to_space) {
  const Dims block = {1, 12, 100, 2}, begin = {0, 3, 38, 1}, end = {0, 5, 38, 0};
  expect_shape(SpaceToBatch{block, begin, end}, {2, 100, 1024, 3}, {4800, 9, 11, 2});
  expect_shape(BatchToSpace{block, begin, end}, {4800, 9, 11, 2}, {2, 100, 1024, 3});
}

TEST(OpenvinoSpaceToBatchTypeProp, space_to_batch_when_space_is_static) {
  expect_shape(SpaceToBatch{{1, 12, 100, 2}, {0, 3, 38, 1}, {0, 5, 38, 0}}, {5, 100, 1024, 3}, {12000, 9, 11, 2});
}

TEST(OpenvinoSpaceToBatchTypeProp, space_to_batch_invalid_element_type) {
  constexpr std::string_view names[] = {"block_shape", "pads_begin", "pads_end"};
  for (const auto wrong : names) {
    std::vector<Argument> arguments;
    for (const auto name : names)
      arguments.push_back({std::string(name), IndexTensor{{1, 1}, {2}, name == wrong ? DType::float32 : DType::int64}});
    expect_error_of_binding("openvino.SpaceToBatch-2", arguments, {ErrorCode::type}, {wrong});
  }
}

TEST(OpenvinoSpaceToBatchTypeProp, any_integral_type_each) {
  const auto op = table_op("openvino.SpaceToBatch-2", {{"block_shape", IndexTensor{{1, 5}, {2}, DType::uint8}},
                                                       {"pads_begin", IndexTensor{{0, 2}, {2}, DType::int64}},
                                                       {"pads_end", IndexTensor{{0, 0}, {2}, DType::int16}}});
  expect_shape(op, {2, 128}, {10, 26});
}

TEST(OpenvinoSpaceToBatchTypeProp, space_to_batch_invalid_value_block_shape) {
  expect_error(SpaceToBatch{{-1, -5}, {0, 2}, {0, 0}}, {2, 128}, {ErrorCode::value});
  expect_error(SpaceToBatch{{1, -5}, {0, 2}, {0, 0}}, {2, 128}, {ErrorCode::value});
  expect_error(SpaceToBatch{{1, 0}, {0, 2}, {0, 0}}, {2, 128}, {ErrorCode::value});
}

TEST(OpenvinoSpaceToBatchTypeProp, padded_extent_not_a_multiple) {
  expect_error(SpaceToBatch{{1, 5}, {0, 1}, {0, 0}}, {2, 128}, {ErrorCode::divisible}, {"129", "5"});
}

TEST(OpenvinoSpaceToBatchTypeProp, lists_and_rank) {
  expect_error(SpaceToBatch{{1}, {0}, {0}}, {4}, {ErrorCode::rank});
  expect_error(SpaceToBatch{{1, 5, 1}, {0, 2, 0}, {0, 0, 0}}, {2, 128}, {ErrorCode::length});
  expect_error(SpaceToBatch{{1, 5}, {0}, {0, 0}}, {2, 128}, {ErrorCode::length});
  expect_error(SpaceToBatch{{1, 5}, {0, 2}, {0}}, {2, 128}, {ErrorCode::length});
}

std::vector<Argument> crops(DType block_shape, DType crops_begin, DType crops_end, const Dims& shape = {2}) {
  return {{"block_shape", IndexTensor{{1, 1}, shape, block_shape}},
          {"crops_begin", IndexTensor{{0, 0}, shape, crops_begin}},
          {"crops_end", IndexTensor{{0, 0}, shape, crops_end}}};
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_incompatible_input_element_types) {
  const auto i32 = DType::int32, i64 = DType::int64, f32 = DType::float32;
  expect_error_of_binding("openvino.BatchToSpace-2", crops(i64, i32, i32), {ErrorCode::type});
  expect_error_of_binding("openvino.BatchToSpace-2", crops(i32, i64, i32), {ErrorCode::type});
  expect_error_of_binding("openvino.BatchToSpace-2", crops(i64, f32, f32), {ErrorCode::type});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_invalid_input_element_types) {
  const auto f32 = DType::float32;
  expect_error_of_binding("openvino.BatchToSpace-2", crops(f32, f32, f32), {ErrorCode::type});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_invalid_data_input_rank) {
  expect_error(BatchToSpace{{1}, {0}, {0}}, {4}, {ErrorCode::rank});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_invalid_secondary_inputs_rank) {
  const auto i64 = DType::int64;
  expect_error_of_binding("openvino.BatchToSpace-2", crops(i64, i64, i64, {2, 1}),
                          {ErrorCode::rank, ErrorCode::length, ErrorCode::shape});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_incompatible_data_and_secondary_inputs_shapes) {
  const Dims five = {1, 1, 1, 1, 1};
  expect_error(BatchToSpace{five, five, five}, {10, 26}, {ErrorCode::length});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_incompatible_secondary_inputs_shapes) {
  expect_error(BatchToSpace{{1, 5}, {0}, {0, 0}}, {10, 26}, {ErrorCode::length});
  expect_error(BatchToSpace{{1, 5}, {0, 0}, {0, 0, 0}}, {10, 26}, {ErrorCode::length});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_invalid_block_shape_input) {
  expect_error(BatchToSpace{{0, 10, 5, 1}, {0, 3, 1, 0}, {0, 3, 0, 0}}, {100, 7, 13, 3}, {ErrorCode::value});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_invalid_crops_input_values) {
  expect_error(BatchToSpace{{1, 10, 5, 1}, {0, 3, 1, -1}, {0, 3, 0, 0}}, {100, 7, 13, 3}, {ErrorCode::value});
  expect_error(BatchToSpace{{1, 10, 5, 1}, {0, 3, 1, 0}, {0, 3, -1, 0}}, {100, 7, 13, 3}, {ErrorCode::value});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_incompatible_block_shape_input_values_with_data_shape) {
  expect_error(BatchToSpace{{1, 10, 5, 1}, {0, 3, 1, 0}, {0, 3, 0, 0}}, {80, 7, 13, 3}, {ErrorCode::divisible},
               {"80", "50"});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_invalid_crops_out_of_bounds) {
  expect_error(BatchToSpace{{1, 2, 2, 1}, {0, 3, 1, 2}, {0, 3, 0, 2}}, {32, 4, 1, 3}, {ErrorCode::value});
}

TEST(OpenvinoBatchToSpaceTypeProp, crops_of_the_whole_extent_are_accepted) {
  expect_shape(BatchToSpace{{1, 2, 2, 1}, {0, 3, 1, 0}, {0, 5, 0, 0}}, {32, 4, 1, 3}, {8, 0, 1, 3});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_output_shape_2D) {
  expect_shape(BatchToSpace{{1, 5}, {0, 2}, {0, 0}}, {10, 26}, {2, 128});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_output_shape_4D) {
  expect_shape(BatchToSpace{{1, 10, 5, 1}, {0, 3, 1, 0}, {0, 3, 0, 0}}, {100, 7, 13, 3}, {2, 64, 64, 3});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_output_shape_5D) {
  expect_shape(BatchToSpace{{1, 6, 5, 1, 16}, {0, 2, 0, 0, 0}, {0, 2, 1, 0, 0}}, {960, 6, 13, 128, 16},
               {2, 32, 64, 128, 256});
}

TEST(OpenvinoBatchToSpaceTypeProp, batch_to_space_and_space_to_batch) {
  const Dims block = {1, 12, 100, 2}, begin = {0, 3, 38, 1}, end = {0, 5, 38, 0};
  expect_shape(BatchToSpace{block, begin, end}, {4800, 9, 11, 2}, {2, 100, 1024, 3});
  expect_shape(SpaceToBatch{block, begin, end}, {2, 100, 1024, 3}, {4800, 9, 11, 2});
}

}  // namespace
}  // namespace patchfold::vectors
