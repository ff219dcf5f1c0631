// SPDX-License-Identifier: Apache-2.0
// OpenVINO's shape, error and padding tests of ExtractImagePatches-3. Expected extents of the sweep are counted here, one
// candidate patch after the other.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using openvino::AutoPad;
using openvino::ExtractImagePatches;

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
