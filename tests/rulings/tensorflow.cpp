// SPDX-License-Identifier: Apache-2.0
// Rulings where TensorFlow's operators depart from their texts or from each other: SAME and VALID of images and volumes, blocks of
// many axes, vectorised channels. Expected values, for data that counts 1, 2, 3 with 0 for padding, come from a separate
// index-by-index program in Python.
#include <cstring>
#include <tuple>

#include "patchfold/explain.hpp"
#include "reference/reference.hpp"
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

using openvino::AutoPad;
using reference::List;
using tensorflow::PaddingType;

// (rows, columns) -> (columns, rows)
Ints transpose(const Ints& values, std::int64_t rows, std::int64_t columns) {
  Ints result;
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) result.push_back(values[static_cast<std::size_t>(r * columns + c)]);
  return result;
}

/// Returns the reference's result for 1, 2, 3, ..
Ints reference_result(const std::string& op, const Dims& shape, const reference::Arguments& arguments) {
  const Ints values = iota(shape);
  const reference::Array data{{shape.begin(), shape.end()}, reference::DType::int64, 8, bytes_of(values)};
  const reference::Array output = reference::run(op, data, arguments);
  Ints result(output.bytes.size() / 8);
  if (!result.empty()) std::memcpy(result.data(), output.bytes.data(), output.bytes.size());
  return result;
}

TEST(TensorflowSpaceToBatchND, BlocksMoreThanFourAxes) {
  const Ints expected = {1,   3,   65,  67,  2,   4,   66,  68,  5,   7,   69,  71,  6,   8,  70,  72,  9,   11,  73,
                         75,  10,  12,  74,  76,  13,  15,  77,  79,  14,  16,  78,  80,  17, 19,  81,  83,  18,  20,
                         82,  84,  21,  23,  85,  87,  22,  24,  86,  88,  25,  27,  89,  91, 26,  28,  90,  92,  29,
                         31,  93,  95,  30,  32,  94,  96,  33,  35,  97,  99,  34,  36,  98, 100, 37,  39,  101, 103,
                         38,  40,  102, 104, 41,  43,  105, 107, 42,  44,  106, 108, 45,  47, 109, 111, 46,  48,  110,
                         112, 49,  51,  113, 115, 50,  52,  114, 116, 53,  55,  117, 119, 54, 56,  118, 120, 57,  59,
                         121, 123, 58,  60,  122, 124, 61,  63,  125, 127, 62,  64,  126, 128};
  const PadsList none = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
  expect_iota(tensorflow::SpaceToBatchND{{2, 2, 2, 2, 2}, none}, {1, 4, 2, 2, 2, 4}, {32, 2, 1, 1, 1, 2}, expected);
  expect_values(tensorflow::BatchToSpaceND{{2, 2, 2, 2, 2}, none}, {32, 2, 1, 1, 1, 2}, expected, {1, 4, 2, 2, 2, 4},
                iota({1, 4, 2, 2, 2, 4}));
}

TEST(TensorflowDepth, RefusesVectorisedChannels) {
  const auto format = tensorflow::DataFormat::NCHW_VECT_C;
  expect_error(tensorflow::SpaceToDepth{2, format}, {1, 1, 2, 2, 4}, {ErrorCode::value}, {"NCHW_VECT_C"});
  expect_error(tensorflow::DepthToSpace{2, format}, {1, 4, 2, 2, 4}, {ErrorCode::value}, {"NCHW_VECT_C"});
}

// If strides exceed the kernel, the first patch starts inside a volume, but not inside an image.
const struct {
  std::int64_t extent, kernel, stride, patches;
  Ints volume, image;
} cases_of_same[] = {
    {4, 1, 4, 1, {2}, {1}},
    {10, 1, 5, 2, {3, 8}, {1, 6}},
    {127, 1, 30, 5, {4, 34, 64, 94, 124}, {1, 31, 61, 91, 121}},
    {5, 1, 5, 1, {3}, {1}},
    {9, 2, 4, 3, {1, 2, 5, 6, 9, 0}, {1, 2, 5, 6, 9, 0}},
    {10, 2, 6, 2, {2, 3, 8, 9}, {1, 2, 7, 8}},
    {10, 3, 4, 3, {1, 2, 3, 5, 6, 7, 9, 10, 0}, {1, 2, 3, 5, 6, 7, 9, 10, 0}},
    {7, 3, 2, 4, {0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 0}, {0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 0}},
    {8, 3, 2, 4, {1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 0}, {1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 0}},
};

TEST(TensorflowSame, VolumesDoNotClampThePadding) {
  for (const auto& test : cases_of_same) {
    const auto [extent, k, s, patches] = std::tuple(test.extent, test.kernel, test.stride, test.patches);
    expect_iota(tensorflow::ExtractVolumePatches{{1, k, 1, 1, 1}, {1, s, 1, 1, 1}, PaddingType::SAME}, {1, extent, 1, 1, 1},
                {1, patches, 1, 1, k}, test.volume);
    expect_iota(tensorflow::ExtractVolumePatches{{1, 1, 1, k, 1}, {1, 1, 1, s, 1}, PaddingType::SAME}, {1, 1, 1, extent, 1},
                {1, 1, 1, patches, k}, test.volume);
    expect_iota(tensorflow::ExtractImagePatches{{1, 1, k, 1}, {1, 1, s, 1}, {1, 1, 1, 1}, PaddingType::SAME},
                {1, 1, extent, 1}, {1, 1, patches, k}, test.image);
    expect_iota(openvino::ExtractImagePatches{{1, k}, {1, s}, {1, 1}, AutoPad::same_upper}, {1, 1, 1, extent},
                {1, k, 1, patches}, transpose(test.image, patches, k));
    expect_iota(Unfold{.kernel_size = {k}, .stride = s, .padding = Padding::same_upper, .order = Order::kernel},
                {1, 1, extent}, {1, k, patches}, transpose(test.image, patches, k));
  }
}

// Tests that the reference gives the expected values too.
TEST(TensorflowSame, IsThatOfTheReference) {
  for (const auto& test : cases_of_same) {
    const reference::Arguments volume = {
        {"ksizes", List{1, 1, 1, test.kernel, 1}}, {"strides", List{1, 1, 1, test.stride, 1}}, {"padding", "SAME"}};
    EXPECT_EQ(reference_result("tensorflow.ExtractVolumePatches", {1, 1, 1, test.extent, 1}, volume), test.volume);
    const reference::Arguments image = {{"ksizes", List{1, 1, test.kernel, 1}},
                                        {"strides", List{1, 1, test.stride, 1}},
                                        {"rates", List{1, 1, 1, 1}},
                                        {"padding", "SAME"}};
    EXPECT_EQ(reference_result("tensorflow.ExtractImagePatches", {1, 1, test.extent, 1}, image), test.image);
  }
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

// Tests TensorFlow's number of patches, (extent - kernel + stride) / stride, rounded towards zero; only a negative number is
// refused.
TEST(TensorflowValid, FollowsTheShapeFunctionOfTensorflow) {
  const struct {
    std::int64_t kernel, stride;
    bool accepted;
  } cases[] = {{4, 1, true}, {5, 1, false}, {5, 2, true}, {6, 2, true}, {7, 2, false}, {8, 3, true}, {9, 3, false}};
  for (const auto& [k, s, accepted] : cases) {
    const tensorflow::ExtractImagePatches image = {{1, k, 1, 1}, {1, s, 1, 1}, {1, 1, 1, 1}, PaddingType::VALID};
    const tensorflow::ExtractVolumePatches volume = {{1, 1, k, 1, 1}, {1, 1, s, 1, 1}, PaddingType::VALID};
    if (accepted) {
      expect_iota(image, {2, 3, 4, 5}, {2, 0, 4, 5 * k}, {});
      expect_iota(volume, {2, 2, 3, 4, 5}, {2, 2, 0, 4, 5 * k}, {});
    } else {
      expect_error(image, {2, 3, 4, 5}, {ErrorCode::value, ErrorCode::position_count, ErrorCode::shape});
      expect_error(volume, {2, 2, 3, 4, 5}, {ErrorCode::value, ErrorCode::position_count, ErrorCode::shape});
    }
  }
}

TEST(TensorflowVolumes, MoveEveryType) {
  expect_moved(tensorflow::ExtractVolumePatches{{1, 1, 2, 2, 1}, {1, 1, 2, 2, 1}, PaddingType::SAME}, {1, 1, 3, 3, 2},
               {1, 1, 2, 2, 8},
               {1, 2, 3, 4, 7, 8, 9, 10, 5, 6, 0, 0, 11, 12, 0, 0, 13, 14, 15, 16, 0, 0, 0, 0, 17, 18, 0, 0, 0, 0, 0, 0});
}

TEST(TensorflowVolumes, OfAnEmptyBatchAreEmpty) {
  expect_iota(tensorflow::ExtractVolumePatches{{1, 2, 2, 2, 1}, {1, 1, 1, 1, 1}, PaddingType::VALID}, {0, 4, 4, 4, 3},
              {0, 3, 3, 3, 24}, {});
}

TEST(TensorflowVolumes, RefuseStridesAndKernelsBelowOne) {
  for (const std::int64_t s : {0, -1})
    expect_error(tensorflow::ExtractVolumePatches{{1, 2, 2, 2, 1}, {1, 1, 1, s, 1}, PaddingType::SAME}, {1, 4, 4, 4, 1},
                 {ErrorCode::value}, {"strides"});
  for (const std::int64_t k : {0, -2})
    expect_error(tensorflow::ExtractVolumePatches{{1, k, 2, 2, 1}, {1, 1, 1, 1, 1}, PaddingType::SAME}, {1, 4, 4, 4, 1},
                 {ErrorCode::value}, {"ksizes"});
}

}  // namespace
}  // namespace patchfold::vectors
