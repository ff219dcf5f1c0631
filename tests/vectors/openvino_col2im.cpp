// SPDX-License-Identifier: Apache-2.0
// OpenVINO's type_prop cases of Col2Im-15 that do not need dynamic shapes, and the positions that its text prints.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

const openvino::Col2Im large = {{32, 32}, {2, 2}, {2, 2}, {2, 2}, {3, 3}, {3, 3}};

std::vector<Argument> arguments(const IndexTensor& output_size, const IndexTensor& kernel_size) {
  return {{"output_size", output_size}, {"kernel_size", kernel_size}};
}

TEST(OpenvinoCol2ImTypeProp, default_ctor) {
  const auto op = table_op("openvino.Col2Im-15", arguments({{16, 16}, {2}, DType::int64}, {{2, 2}, {2}, DType::int64}));
  expect_shape(op, {3, 12, 225}, {3, 3, 16, 16});
  const openvino::Col2Im defaults;
  EXPECT_TRUE(defaults.strides == Dims({1, 1}) && defaults.dilations == Dims({1, 1}));
  EXPECT_TRUE(defaults.pads_begin == Dims({0, 0}) && defaults.pads_end == Dims({0, 0}));
}

TEST(OpenvinoCol2ImTypeProp, non_default_args) {
  expect_shape(openvino::Col2Im{{16, 16}, {2, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}}, {3, 12, 81}, {3, 3, 16, 16});
}

TEST(OpenvinoCol2ImTypeProp, shape_inputs_of_both_index_types) {
  for (const auto type : {DType::int32, DType::int64}) {
    const auto op = table_op("openvino.Col2Im-15", {{"output_size", IndexTensor{{2, 3}, {2}, type}},
                                                    {"kernel_size", IndexTensor{{1, 2}, {2}, type}},
                                                    {"pads_begin", Dims{1, 0}}});
    expect_iota(op, {2, 6}, {1, 2, 3}, {3, 13, 10, 5, 17, 12});
  }
}

// The positions that the text prints for its examples 2 and 3.
TEST(OpenvinoCol2ImExamples, positions_that_do_not_follow_from_the_formula) {
  const openvino::Col2Im example_2 = {{16, 16}, {3, 3}, {2, 2}, {2, 2}, {1, 1}, {1, 1}};
  expect_error(example_2, {1, 27, 25}, {ErrorCode::position_count}, {"25", "49"});
  const openvino::Col2Im example_3 = {{32, 32}, {2, 2}, {1, 1}, {2, 2}, {3, 3}, {3, 3}};
  expect_error(example_3, {12, 12, 324}, {ErrorCode::position_count}, {"324", "1296"});
}

TEST(OpenvinoCol2ImTypeProp, incorrect_types) {
  const auto refuse = [](DType output_size, DType kernel_size) {
    expect_error_of_binding("openvino.Col2Im-15", arguments({{16, 16}, {2}, output_size}, {{2, 2}, {2}, kernel_size}),
                            {ErrorCode::type});
  };
  refuse(DType::uint8, DType::int64);
  refuse(DType::int64, DType::uint8);
  refuse(DType::int32, DType::int64);
  refuse(DType::int64, DType::int32);
  refuse(DType::uint32, DType::uint32);
  refuse(DType::float32, DType::float32);
}

TEST(OpenvinoCol2ImTypeProp, batched_const_values) {
  expect_shape(openvino::Col2Im{{16, 16}, {2, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}}, {3, 12, 81}, {3, 3, 16, 16});
}

TEST(OpenvinoCol2ImTypeProp, unbatched_const_values) {
  expect_shape(large, {12, 324}, {3, 32, 32});
}

TEST(OpenvinoCol2ImTypeProp, static_batch) {
  expect_shape(large, {5, 12, 324}, {5, 3, 32, 32});
}

TEST(OpenvinoCol2ImTypeProp, incorrect_L) {
  expect_error(large, {12, 325}, {ErrorCode::position_count}, {"325", "324"});
  expect_error(large, {1, 12, 325}, {ErrorCode::position_count}, {"325", "324"});
}

TEST(OpenvinoCol2ImTypeProp, incorrect_first_non_batch_dimension) {
  expect_error(large, {13, 324}, {ErrorCode::divisible}, {"13", "4"});
}

TEST(OpenvinoCol2ImTypeProp, data_rank_must_be_2_or_3) {
  expect_error(large, {324}, {ErrorCode::rank});
  expect_error(large, {1, 1, 12, 324}, {ErrorCode::rank});
  expect_error(large, {}, {ErrorCode::rank});
}

TEST(OpenvinoCol2ImTypeProp, shape_inputs_must_have_two_elements) {
  const Dims lists[] = {{}, {2}, {2, 2, 2}};
  for (const auto& list : lists) {
    expect_error(openvino::Col2Im{.output_size = list, .kernel_size = {2, 2}}, {12, 9},
                 {ErrorCode::length, ErrorCode::missing});
    expect_error(openvino::Col2Im{.output_size = {4, 4}, .kernel_size = list}, {12, 9},
                 {ErrorCode::length, ErrorCode::missing});
  }
  expect_error_of_binding("openvino.Col2Im-15", arguments({{16, 16}, {1, 2}, DType::int64}, {{2, 2}, {2}, DType::int64}),
                          {ErrorCode::rank, ErrorCode::length, ErrorCode::shape});
}

TEST(OpenvinoCol2ImTypeProp, attributes_must_have_two_elements) {
  for (auto member : {&openvino::Col2Im::strides, &openvino::Col2Im::dilations, &openvino::Col2Im::pads_begin,
                      &openvino::Col2Im::pads_end}) {
    openvino::Col2Im op = {.output_size = {4, 4}, .kernel_size = {2, 2}};
    op.*member = {1};
    expect_error(op, {12, 9}, {ErrorCode::length});
    op.*member = {1, 1, 1};
    expect_error(op, {12, 9}, {ErrorCode::length});
  }
}

}  // namespace
}  // namespace patchfold::vectors
