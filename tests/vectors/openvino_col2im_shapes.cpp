// SPDX-License-Identifier: Apache-2.0
// OpenVINO's shape tests of Col2Im-15: static shape inference, the CPU plugin's functional tests, and those type_prop cases
// that do not need dynamic shapes. The tensors are OpenVINO's; the fingerprints are those of the images that oracle.py makes
// of the data 1, 2, 3, ..
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

struct Case {
  const char* name;
  openvino::Col2Im op;  // output_size, kernel_size, strides, dilations, pads_begin, pads_end
  Dims in;
  Dims out;
  std::uint64_t expected;
  friend void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }
};

const Case cases[] = {
    {"static_batched_81",
     {{16, 16}, {2, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}},
     {3, 12, 81},
     {3, 3, 16, 16},
     0x3f69529fb8b875acu},
    {"static_unbatched_81", {{16, 16}, {2, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}}, {12, 81}, {3, 16, 16}, 0xf4a1d7572a2d2e66u},
    {"static_225", {{16, 16}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {3, 12, 225}, {3, 3, 16, 16}, 0xd3ff777460b7f350u},
    {"static_49", {{16, 16}, {3, 3}, {2, 2}, {2, 2}, {1, 1}, {1, 1}}, {1, 27, 49}, {1, 3, 16, 16}, 0x3c013f8010e60760u},
    {"static_asymmetric_104",
     {{16, 16}, {2, 3}, {2, 1}, {2, 2}, {1, 0}, {0, 1}},
     {1, 18, 104},
     {1, 3, 16, 16},
     0x1f19cba36ca37652u},
    {"static_324", {{32, 32}, {2, 2}, {2, 2}, {2, 2}, {3, 3}, {3, 3}}, {12, 12, 324}, {12, 3, 32, 32}, 0x34e940395ade71abu},
    {"kernel_size_and_output_size_from_tensor_accessor",
     {{32, 32}, {2, 2}, {2, 2}, {2, 2}, {2, 2}, {2, 2}},
     {3, 12, 289},
     {3, 3, 32, 32},
     0x71a1ae20eb4eed90u},
    {"cpu_batched_9", {{4, 4}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {1, 12, 9}, {1, 3, 4, 4}, 0x88acced65295fa89u},
    {"cpu_asymmetric_120_batch_1",
     {{16, 16}, {2, 2}, {2, 1}, {2, 2}, {1, 0}, {0, 1}},
     {1, 12, 120},
     {1, 3, 16, 16},
     0x524fb33304875131u},
    {"cpu_asymmetric_120_batch_3",
     {{16, 16}, {2, 2}, {2, 1}, {2, 2}, {1, 0}, {0, 1}},
     {3, 12, 120},
     {3, 3, 16, 16},
     0x80d0f4787aacf30au},
    {"cpu_unbatched_324", {{32, 32}, {2, 2}, {2, 2}, {2, 2}, {3, 3}, {3, 3}}, {12, 324}, {3, 32, 32}, 0x5d725dde267018bbu},
    {"cpu_small_3x3_batched",
     {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
     {1, 4, 4},
     {1, 1, 3, 3},
     0xb12acccdfb6bdcfdu},
    {"cpu_small_3x3_unbatched", {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {4, 4}, {1, 3, 3}, 0xb12acccdfb6bdcfdu},
    {"cpu_small_5x5_dilation_2_batched",
     {{5, 5}, {2, 2}, {1, 1}, {2, 2}, {0, 0}, {0, 0}},
     {1, 4, 9},
     {1, 1, 5, 5},
     0xe8019be09b2eb903u},
    {"cpu_small_5x5_dilation_2_unbatched",
     {{5, 5}, {2, 2}, {1, 1}, {2, 2}, {0, 0}, {0, 0}},
     {4, 9},
     {1, 5, 5},
     0xe8019be09b2eb903u},
    {"cpu_small_2x2_pad_1_batched",
     {{2, 2}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
     {1, 4, 9},
     {1, 1, 2, 2},
     0xdff7acca33c269bdu},
    {"cpu_small_2x2_pad_1_unbatched",
     {{2, 2}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
     {4, 9},
     {1, 2, 2},
     0xdff7acca33c269bdu},
    {"cpu_small_4x4_stride_2_batched",
     {{4, 4}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
     {1, 4, 4},
     {1, 1, 4, 4},
     0x7075606c822d58b5u},
    {"cpu_small_4x4_stride_2_unbatched",
     {{4, 4}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
     {4, 4},
     {1, 4, 4},
     0x7075606c822d58b5u},
};

class OpenvinoCol2ImShapes : public testing::TestWithParam<Case> {};

TEST_P(OpenvinoCol2ImShapes, HasTheExpectedShapeAndValues) {
  expect_fingerprint(GetParam().op, GetParam().in, GetParam().out, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Functional, OpenvinoCol2ImShapes, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

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
