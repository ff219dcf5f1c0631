// SPDX-License-Identifier: Apache-2.0
// OpenVINO's reference cases of Col2Im-15 and the examples of its text. Parameters are OpenVINO's, the data is 1, 2, 3, ..;
// oracle.py makes the expected images.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

constexpr DType reference_types[] = {DType::int32,  DType::int64,   DType::uint32,
                                     DType::uint64, DType::float16, DType::float32};

struct Case {
  const char* name;
  openvino::Col2Im op;
  Dims in;
  Dims out;
  Ints expected;
  friend void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }
};

const Case cases[] = {
    {"case_1",
     {.output_size = {2, 2},
      .kernel_size = {1, 1},
      .strides = {1, 1},
      .dilations = {1, 1},
      .pads_begin = {0, 0},
      .pads_end = {0, 0}},
     {3, 4},
     {3, 2, 2},
     {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
    {"case_2",
     {.output_size = {4, 4},
      .kernel_size = {2, 2},
      .strides = {1, 1},
      .dilations = {1, 1},
      .pads_begin = {0, 0},
      .pads_end = {0, 0}},
     {12, 9},
     {3, 4, 4},
     {1,   12,  14,  12,  23, 66,  70,  45, 29, 78,  82,  51, 25,  60,  62,  36,  37,  84,  86,  48,  95, 210, 214, 117,
      101, 222, 226, 123, 61, 132, 134, 72, 73, 156, 158, 84, 167, 354, 358, 189, 173, 366, 370, 195, 97, 204, 206, 108}},
    {"case_3",
     {.output_size = {4, 4},
      .kernel_size = {2, 2},
      .strides = {1, 1},
      .dilations = {1, 1},
      .pads_begin = {1, 1},
      .pads_end = {1, 1}},
     {12, 25},
     {3, 4, 4},
     {166, 170, 174, 178, 186, 190, 194, 198, 206,  210,  214,  218,  226,  230,  234,  238,
      566, 570, 574, 578, 586, 590, 594, 598, 606,  610,  614,  618,  626,  630,  634,  638,
      966, 970, 974, 978, 986, 990, 994, 998, 1006, 1010, 1014, 1018, 1026, 1030, 1034, 1038}},
    {"case_4",
     {.output_size = {4, 4},
      .kernel_size = {2, 2},
      .strides = {2, 2},
      .dilations = {1, 1},
      .pads_begin = {3, 3},
      .pads_end = {3, 3}},
     {12, 25},
     {3, 4, 4},
     {82,  58,  83,  59,  37,  13,  38,  14,  87,  63,  88,  64,  42,  18,  43,  19,
      182, 158, 183, 159, 137, 113, 138, 114, 187, 163, 188, 164, 142, 118, 143, 119,
      282, 258, 283, 259, 237, 213, 238, 214, 287, 263, 288, 264, 242, 218, 243, 219}},
    {"case_5",
     {.output_size = {5, 5},
      .kernel_size = {3, 3},
      .strides = {2, 2},
      .dilations = {2, 2},
      .pads_begin = {0, 2},
      .pads_end = {0, 2}},
     {36, 3},
     {4, 5, 5},
     {6,   0, 15,  0, 14,  0, 0, 0, 0, 0, 24,  0, 42,  0, 32,  0, 0, 0, 0, 0, 42,  0, 69,  0, 50,
      60,  0, 96,  0, 68,  0, 0, 0, 0, 0, 78,  0, 123, 0, 86,  0, 0, 0, 0, 0, 96,  0, 150, 0, 104,
      114, 0, 177, 0, 122, 0, 0, 0, 0, 0, 132, 0, 204, 0, 140, 0, 0, 0, 0, 0, 150, 0, 231, 0, 158,
      168, 0, 258, 0, 176, 0, 0, 0, 0, 0, 186, 0, 285, 0, 194, 0, 0, 0, 0, 0, 204, 0, 312, 0, 212}},
    {"case_6",
     {.output_size = {2, 2},
      .kernel_size = {2, 2},
      .strides = {1, 1},
      .dilations = {1, 1},
      .pads_begin = {1, 1},
      .pads_end = {1, 1}},
     {2, 12, 9},
     {2, 3, 2, 2},
     {66, 70, 78, 82, 210, 214, 222, 226, 354, 358, 366, 370, 498, 502, 510, 514, 642, 646, 654, 658, 786, 790, 798, 802}},
    {"case_7",
     {.output_size = {5, 5},
      .kernel_size = {2, 2},
      .strides = {2, 2},
      .dilations = {1, 1},
      .pads_begin = {0, 2},
      .pads_end = {0, 2}},
     {2, 8, 8},
     {2, 2, 5, 5},
     {2,  10,  3,  11,  4,   18,  26,  19,  27,  20,  6,   14,  7,   15,  8,   22,  30,  23,  31,  24,  0, 0, 0, 0, 0,
      34, 42,  35, 43,  36,  50,  58,  51,  59,  52,  38,  46,  39,  47,  40,  54,  62,  55,  63,  56,  0, 0, 0, 0, 0,
      66, 74,  67, 75,  68,  82,  90,  83,  91,  84,  70,  78,  71,  79,  72,  86,  94,  87,  95,  88,  0, 0, 0, 0, 0,
      98, 106, 99, 107, 100, 114, 122, 115, 123, 116, 102, 110, 103, 111, 104, 118, 126, 119, 127, 120, 0, 0, 0, 0, 0}},
    {"case_8",
     {.output_size = {5, 5},
      .kernel_size = {2, 2},
      .strides = {1, 1},
      .dilations = {2, 2},
      .pads_begin = {1, 1},
      .pads_end = {1, 1}},
     {1, 12, 25},
     {1, 3, 5, 5},
     {7,   39,  41,  43,  34,  64,   178,  182, 186, 118,  74,   198,  202, 206, 128, 84,  218, 222, 226,
      138, 67,  159, 161, 163, 94,   107,  239, 241, 243,  134,  264,  578, 582, 586, 318, 274, 598, 602,
      606, 328, 284, 618, 622, 626,  338,  167, 359, 361,  363,  194,  207, 439, 441, 443, 234, 464, 978,
      982, 986, 518, 474, 998, 1002, 1006, 528, 484, 1018, 1022, 1026, 538, 267, 559, 561, 563, 294}},
    {"case_9",
     {.output_size = {4, 4},
      .kernel_size = {2, 2},
      .strides = {2, 2},
      .dilations = {2, 2},
      .pads_begin = {2, 0},
      .pads_end = {2, 0}},
     {1, 4, 3},
     {1, 1, 4, 4},
     {9, 0, 15, 0, 0, 0, 0, 0, 11, 0, 17, 0, 0, 0, 0, 0}},
    {"case_10",
     {.output_size = {6, 6},
      .kernel_size = {4, 4},
      .strides = {2, 2},
      .dilations = {2, 2},
      .pads_begin = {4, 3},
      .pads_end = {4, 3}},
     {2, 32, 12},
     {2, 2, 6, 6},
     {0, 585,  0, 693,  0, 501,  0, 0, 0, 0, 0, 0, 0, 1086, 0, 1230, 0, 872,  0, 0, 0, 0, 0, 0,
      0, 1044, 0, 1152, 0, 807,  0, 0, 0, 0, 0, 0, 0, 2313, 0, 2421, 0, 1653, 0, 0, 0, 0, 0, 0,
      0, 3390, 0, 3534, 0, 2408, 0, 0, 0, 0, 0, 0, 0, 2772, 0, 2880, 0, 1959, 0, 0, 0, 0, 0, 0,
      0, 4041, 0, 4149, 0, 2805, 0, 0, 0, 0, 0, 0, 0, 5694, 0, 5838, 0, 3944, 0, 0, 0, 0, 0, 0,
      0, 4500, 0, 4608, 0, 3111, 0, 0, 0, 0, 0, 0, 0, 5769, 0, 5877, 0, 3957, 0, 0, 0, 0, 0, 0,
      0, 7998, 0, 8142, 0, 5480, 0, 0, 0, 0, 0, 0, 0, 6228, 0, 6336, 0, 4263, 0, 0, 0, 0, 0, 0}},
};

class OpenvinoCol2ImReference : public testing::TestWithParam<Case> {};

TEST_P(OpenvinoCol2ImReference, HasTheExpectedValues) {
  const auto& test = GetParam();
  expect_iota(test.op, test.in, test.out, test.expected, reference_types);
}

TEST_P(OpenvinoCol2ImReference, TakesShapeInputsOfBothIndexTypes) {
  const auto& test = GetParam();
  for (const auto type : {DType::int32, DType::int64}) {
    const auto op = table_op("openvino.Col2Im-15", {{"output_size", IndexTensor{test.op.output_size, {2}, type}},
                                                    {"kernel_size", IndexTensor{test.op.kernel_size, {2}, type}},
                                                    {"strides", test.op.strides},
                                                    {"dilations", test.op.dilations},
                                                    {"pads_begin", test.op.pads_begin},
                                                    {"pads_end", test.op.pads_end}});
    expect_iota(op, test.in, test.out, test.expected);
  }
}

INSTANTIATE_TEST_SUITE_P(OpReference, OpenvinoCol2ImReference, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

// The text's examples. Its formula is the norm: the positions that it prints for examples 2 and 3 do not follow from it.
TEST(OpenvinoCol2ImExamples, Example1) {
  expect_fingerprint(openvino::Col2Im{.output_size = {16, 16}, .kernel_size = {2, 2}}, {3, 12, 225}, {3, 3, 16, 16},
                     0xd3ff777460b7f350);
}

TEST(OpenvinoCol2ImExamples, Example2) {
  const openvino::Col2Im op = {.output_size = {16, 16},
                               .kernel_size = {3, 3},
                               .strides = {2, 2},
                               .dilations = {2, 2},
                               .pads_begin = {1, 1},
                               .pads_end = {1, 1}};
  expect_fingerprint(op, {1, 27, 49}, {1, 3, 16, 16}, 0x3c013f8010e60760);
  expect_error(op, {1, 27, 25}, {ErrorCode::position_count}, {"25", "49"});
}

TEST(OpenvinoCol2ImExamples, Example3) {
  const openvino::Col2Im op = {
      .output_size = {32, 32}, .kernel_size = {2, 2}, .dilations = {2, 2}, .pads_begin = {3, 3}, .pads_end = {3, 3}};
  expect_fingerprint(op, {12, 12, 1296}, {12, 3, 32, 32}, 0xe2a9bc6963186b4b);
  expect_error(op, {12, 12, 324}, {ErrorCode::position_count}, {"324", "1296"});
}

TEST(OpenvinoCol2ImExamples, Example4) {
  expect_fingerprint(openvino::Col2Im{.output_size = {16, 16}, .kernel_size = {2, 2}}, {12, 225}, {3, 16, 16},
                     0x36558c014d10be43);
}

}  // namespace
}  // namespace patchfold::vectors
