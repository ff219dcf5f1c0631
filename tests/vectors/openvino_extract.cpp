// SPDX-License-Identifier: Apache-2.0
// ExtractImagePatches-3: the outputs that the text of opset 3 prints for five examples, and OpenVINO's shape, error and
// padding tests.
// Expected extents of the sweep are counted here, one candidate patch after the other.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using openvino::AutoPad;
using openvino::ExtractImagePatches;

TEST(OpenvinoExtractImagePatches, doc_example_1) {
  expect_iota(ExtractImagePatches{{3, 3}, {5, 5}, {1, 1}, AutoPad::valid}, {1, 1, 10, 10}, {1, 9, 2, 2},
              {1,  6,  51, 56, 2,  7,  52, 57, 3,  8,  53, 58, 11, 16, 61, 66, 12, 17,
               62, 67, 13, 18, 63, 68, 21, 26, 71, 76, 22, 27, 72, 77, 23, 28, 73, 78},
              numeric_types());
}

TEST(OpenvinoExtractImagePatches, doc_example_2) {
  expect_iota(ExtractImagePatches{{4, 4}, {8, 8}, {1, 1}, AutoPad::valid}, {1, 1, 10, 10}, {1, 16, 1, 1},
              {1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34}, numeric_types());
}

TEST(OpenvinoExtractImagePatches, doc_example_3) {
  expect_iota(
      ExtractImagePatches{{4, 4}, {9, 9}, {1, 1}, AutoPad::same_upper}, {1, 1, 10, 10}, {1, 16, 2, 2},
      {0, 0,  0, 89, 0,  0,  81, 90, 0,  0, 82, 0, 0,  0, 83, 0, 0, 9,  0, 99, 1,  10, 91, 100, 2,  0, 92, 0, 3,  0, 93, 0,
       0, 19, 0, 0,  11, 20, 0,  0,  12, 0, 0,  0, 13, 0, 0,  0, 0, 29, 0, 0,  21, 30, 0,  0,   22, 0, 0,  0, 23, 0, 0,  0},
      numeric_types());
}

TEST(OpenvinoExtractImagePatches, doc_example_4) {
  expect_iota(ExtractImagePatches{{3, 3}, {5, 5}, {2, 2}, AutoPad::valid}, {1, 1, 10, 10}, {1, 9, 2, 2},
              {1,  6,  51, 56, 3,  8,  53, 58, 5,  10, 55, 60, 21, 26, 71, 76, 23, 28,
               73, 78, 25, 30, 75, 80, 41, 46, 91, 96, 43, 48, 93, 98, 45, 50, 95, 100},
              numeric_types());
}

TEST(OpenvinoExtractImagePatches, doc_example_5) {
  expect_iota(ExtractImagePatches{{2, 2}, {3, 3}, {1, 1}, AutoPad::valid}, {1, 2, 5, 5}, {1, 8, 2, 2},
              {1, 4, 16, 19, 26, 29, 41, 44, 2, 5,  17, 20, 27, 30, 42, 45,
               6, 9, 21, 24, 31, 34, 46, 49, 7, 10, 22, 25, 32, 35, 47, 50},
              numeric_types());
}

TEST(OpenvinoExtractImagePatches, doc_layer) {
  expect_fingerprint(ExtractImagePatches{{3, 3}, {5, 5}, {1, 1}, AutoPad::valid}, {64, 3, 10, 10}, {64, 27, 2, 2},
                     0xa62eea1a737f2869u);
}

TEST(OpenvinoExtractImagePatchesTypeProp, static_shapes) {
  const Dims k3 = {3, 3}, s5 = {5, 5}, r1 = {1, 1}, r2 = {2, 2};
  const auto valid = AutoPad::valid, lower = AutoPad::same_lower, upper = AutoPad::same_upper;
  const struct {
    const char* name;
    ExtractImagePatches op;
    Dims in, out;
  } cases[] = {
      {"default_ctor", {k3, s5, r1, valid}, {64, 3, 10, 10}, {64, 27, 2, 2}},
      {"i32", {k3, s5, r1, valid}, {64, 3, 10, 10}, {64, 27, 2, 2}},
      {"i64", {k3, s5, r1, valid}, {64, 3, 12, 12}, {64, 27, 2, 2}},
      {"rates_change", {k3, s5, r2, valid}, {64, 3, 33, 43}, {64, 27, 6, 8}},
      {"input_shape_change", {k3, s5, r2, valid}, {64, 3, 9, 9}, {64, 27, 1, 1}},
      {"dynamic_batch_shape", {k3, s5, r1, valid}, {2, 3, 14, 23}, {2, 27, 3, 5}},
      {"interval_shape_lower_ends", {k3, s5, r1, valid}, {1, 3, 10, 13}, {1, 27, 2, 3}},
      {"interval_shape_upper_ends", {k3, s5, r1, valid}, {10, 4, 51, 71}, {10, 36, 10, 14}},
      {"padding_same_lower1", {k3, s5, r1, lower}, {64, 3, 31, 27}, {64, 27, 7, 6}},
      {"padding_same_lower2", {k3, s5, r1, lower}, {64, 3, 9, 9}, {64, 27, 2, 2}},
      {"padding_same_upper", {k3, s5, r1, upper}, {64, 3, 23, 11}, {64, 27, 5, 3}},
      {"padding_same_upper2", {k3, s5, r1, upper}, {64, 3, 6, 11}, {64, 27, 2, 3}},
      {"zero_dim_inputs", {k3, s5, r1, valid}, {64, 0, 0, 0}, {64, 0, 0, 0}},
      {"large_stride_valid_padding", {k3, {15, 15}, r1, valid}, {64, 3, 10, 10}, {64, 27, 1, 1}},
      {"large_stride_same_padding", {k3, {15, 15}, r1, upper}, {64, 3, 10, 10}, {64, 27, 1, 1}},
      {"interval_same_lower_ends", {{1, 1}, s5, r1, lower}, {1, 3, 10, 13}, {1, 3, 2, 3}},
      {"interval_same_upper_ends", {{1, 1}, s5, r1, lower}, {10, 4, 51, 71}, {10, 4, 11, 15}},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    expect_shape(test.op, test.in, test.out);
  }
}

const Dims image = {64, 3, 10, 10};

TEST(OpenvinoExtractImagePatchesTypeProp, data_not_rank_4d) {
  const ExtractImagePatches op = {{3, 3}, {5, 5}, {1, 1}, AutoPad::valid};
  expect_error(op, {3, 10, 10}, {ErrorCode::rank});
  expect_error(op, {64, 3, 10, 10, 10}, {ErrorCode::rank});
}

TEST(OpenvinoExtractImagePatchesTypeProp, sizes_has_no_two_elements) {
  expect_error(ExtractImagePatches{{3}, {5, 5}, {1, 1}, AutoPad::valid}, image, {ErrorCode::length}, {"sizes"});
  expect_error(ExtractImagePatches{{3, 3, 3}, {5, 5}, {1, 1}, AutoPad::valid}, image, {ErrorCode::length}, {"sizes"});
}

TEST(OpenvinoExtractImagePatchesTypeProp, strides_has_no_two_elements) {
  expect_error(ExtractImagePatches{{3, 3}, {5, 5, 1}, {1, 1}, AutoPad::valid}, image, {ErrorCode::length}, {"strides"});
}

TEST(OpenvinoExtractImagePatchesTypeProp, strides_has_zero_value) {
  expect_error(ExtractImagePatches{{3, 3}, {5, 0}, {1, 1}, AutoPad::valid}, image, {ErrorCode::value}, {"strides"});
}

TEST(OpenvinoExtractImagePatchesTypeProp, rates_has_no_two_elements) {
  expect_error(ExtractImagePatches{{3, 3}, {5, 5}, {1}, AutoPad::valid}, image, {ErrorCode::length}, {"rates"});
}

TEST(OpenvinoExtractImagePatchesTypeProp, rates_has_zero_value) {
  expect_error(ExtractImagePatches{{3, 3}, {5, 5}, {0, 1}, AutoPad::valid}, image, {ErrorCode::value}, {"rates"});
}

TEST(OpenvinoExtractImagePatchesTypeProp, sizes_has_zero_value) {
  expect_error(ExtractImagePatches{{0, 3}, {5, 5}, {1, 1}, AutoPad::valid}, image, {ErrorCode::value}, {"sizes"});
}

TEST(OpenvinoExtractImagePatchesTypeProp, not_supported_padding) {
  const std::vector<Argument> lists = {{"sizes", Dims{3, 3}}, {"strides", Dims{5, 5}}, {"rates", Dims{1, 1}}};
  auto arguments = lists;
  arguments.push_back({"auto_pad", std::string("explicit")});
  expect_error_of_binding("openvino.ExtractImagePatches-3", arguments, {ErrorCode::value}, {"explicit", "same_lower"});
  expect_error(ExtractImagePatches{{3, 3}, {5, 5}, {1, 1}}, image, {ErrorCode::missing}, {"auto_pad"});
}

// Patches whose last tap lies inside, or, with SAME, that start inside an image of this extent.
std::int64_t patches(std::int64_t extent, std::int64_t size, std::int64_t rate, std::int64_t stride, AutoPad pad) {
  std::int64_t count = 0;
  const auto last_tap = pad == AutoPad::valid ? (size - 1) * rate : 0;
  for (std::int64_t start = 0; start + last_tap < extent; start += stride) ++count;
  return count;
}

TEST(OpenvinoExtractImagePatchesTypeProp, check_calc_padding) {
  for (const auto pad : {AutoPad::valid, AutoPad::same_lower})
    for (std::int64_t size = 1; size <= 10; ++size)
      for (std::int64_t rate = 1; rate <= 10; ++rate)
        for (std::int64_t stride = 1; stride <= 10; ++stride) {
          const auto expected = patches(100, size, rate, stride, pad);
          const ExtractImagePatches op = {{size, size}, {stride, stride}, {rate, rate}, pad};
          EXPECT_TRUE(op.output_shape({64, 2, 100, 100}) == Dims({64, 2 * size * size, expected, expected}))
              << "size " << size << ", rate " << rate << ", stride " << stride;
        }
}

}  // namespace
}  // namespace patchfold::vectors
