// SPDX-License-Identifier: Apache-2.0
// Tests the reference itself with vectors worked out by hand.
#include "reference/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "reference/array.hpp"
#include "reference/numbers.hpp"

namespace {

using reference::Arguments;
using reference::Array;
using reference::DType;
using reference::List;
using reference::Number;
using reference::Pairs;

template <class T>
Array array(const List& shape, const std::vector<T>& values, DType dtype) {
  Array result{shape, dtype, sizeof(T), std::vector<std::byte>(values.size() * sizeof(T))};
  EXPECT_EQ(reference::product(shape), static_cast<std::int64_t>(values.size()));
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

Array integers(const List& shape, const std::vector<std::int32_t>& values) {
  return array(shape, values, DType::int32);
}

/// Returns the array 1, 2, 3, ..
Array count_up(const List& shape) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(reference::product(shape)));
  std::iota(values.begin(), values.end(), 1);
  return integers(shape, values);
}

template <class T>
std::vector<T> values(const Array& array) {
  std::vector<T> result(array.bytes.size() / sizeof(T));
  std::memcpy(result.data(), array.bytes.data(), array.bytes.size());
  return result;
}

void expect(const Array& result, const List& shape, const std::vector<std::int32_t>& elements) {
  EXPECT_EQ(result.shape, shape);
  EXPECT_EQ(values<std::int32_t>(result), elements);
}

std::int64_t integer(std::int64_t value) {
  return value;
}

TEST(Reference, UnfoldCopiesPatches) {
  // 1 2 3    patches of 2x2 at (0,0) (0,1) (1,0) (1,1)
  // 4 5 6
  // 7 8 9
  const Arguments arguments = {{"kernel_size", List{2, 2}}};
  expect(reference::run("unfold", count_up({1, 3, 3}), arguments), {4, 4}, {1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9});
  const Arguments two = {
      {"kernel_size", List{2}}, {"order", "kernel"}, {"padding", Pairs{{1, 0}}}, {"value", Number(integer(-7))}};
  // The channels are 1 2 3 and 4 5 6, with one pad in front; tap 0 of both channels comes first.
  expect(reference::run("unfold", count_up({2, 3}), two), {4, 3}, {-7, 1, 2, -7, 4, 5, 1, 2, 3, 4, 5, 6});
  const Arguments last = {{"kernel_size", List{2}}, {"layout", "channels_last"}};
  expect(reference::run("unfold", count_up({3, 2}), last), {2, 4}, {1, 3, 2, 4, 3, 5, 4, 6});
  const Arguments grid = {{"kernel_size", List{1, 2}}, {"positions", "grid"}, {"stride", List{2, 1}}};
  expect(reference::run("unfold", count_up({1, 3, 3}), grid), {2, 2, 2}, {1, 2, 7, 8, 2, 3, 8, 9});
}

TEST(Reference, PaddingModesAreNumpys) {
  const auto padded = [](const char* mode, std::int64_t begin, std::int64_t end) {
    const Arguments arguments = {{"kernel_size", List{1}}, {"padding", Pairs{{begin, end}}}, {"padding_mode", mode}};
    return values<std::int32_t>(reference::run("unfold", count_up({1, 3}), arguments));
  };
  using V = std::vector<std::int32_t>;
  EXPECT_EQ(padded("constant", 2, 1), (V{0, 0, 1, 2, 3, 0}));
  EXPECT_EQ(padded("edge", 2, 1), (V{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(padded("reflect", 5, 5), (V{2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(padded("symmetric", 5, 4), (V{2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1}));
  EXPECT_EQ(padded("wrap", 4, 5), (V{3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(padded("edge", -1, 2), (V{2, 3, 3, 3}));
}

TEST(Reference, FoldAddsWhatOverlaps) {
  const Arguments arguments = {{"output_size", List{4}}, {"kernel_size", List{3}}};
  // Taps of position 0: 1 3 5, of position 1: 2 4 6.
  expect(reference::run("fold", count_up({3, 2}), arguments), {1, 4}, {1, 3 + 2, 5 + 4, 6});
  const Arguments piled = {{"output_size", List{4}}, {"kernel_size", List{3}}, {"dilation", integer(0)}};
  expect(reference::run("fold", count_up({3, 4}), piled), {1, 4}, {15, 18, 21, 24});
  const Arguments holes = {{"output_size", List{5}}, {"kernel_size", List{1}}, {"stride", integer(2)}, {"padding", "valid"}};
  expect(reference::run("fold", count_up({1, 3}), holes), {1, 5}, {1, 0, 2, 0, 3});
  Arguments added = arguments;
  added["accumulate"] = integer(1);
  const Array held = integers({1, 4}, {100, 200, 300, 400});
  expect(reference::run("fold", count_up({3, 2}), added, &held), {1, 4}, {101, 205, 309, 406});
}

TEST(Reference, CoverageCounts) {
  Array type;
  type.dtype = DType::int32;
  const Arguments arguments = {
      {"output_size", List{5}}, {"kernel_size", integer(2)}, {"stride", integer(1)}, {"padding", List{1}}};
  expect(reference::run("coverage", type, arguments), {5}, {2, 2, 2, 2, 2});
  const Arguments same = {{"output_size", List{4}}, {"kernel_size", List{2}}, {"padding", "same_lower"}};
  expect(reference::run("coverage", type, same), {4}, {2, 2, 2, 1});
  const Arguments upper = {{"output_size", List{4}}, {"kernel_size", List{2}}, {"padding", "same_upper"}};
  expect(reference::run("coverage", type, upper), {4}, {1, 2, 2, 2});
}

TEST(Reference, HalfIsSummedInSingleAndRoundedOnce) {
  const std::uint16_t big = 0x6800;  // 2048
  const std::uint16_t one = 0x3C00;
  const Arguments arguments = {{"output_size", List{1}}, {"kernel_size", List{3}}, {"dilation", integer(0)}};
  const auto sum = reference::run("fold", array<std::uint16_t>({3, 1}, {big, one, one}, DType::float16), arguments);
  EXPECT_EQ(values<std::uint16_t>(sum), std::vector<std::uint16_t>{0x6801});  // 2050, not 2048
}

TEST(Reference, SumsStartFromPlusZero) {
  const Arguments arguments = {{"output_size", List{1}}, {"kernel_size", List{1}}};
  const auto sum = reference::run("fold", array<float>({1, 1}, {-0.0f}, DType::float32), arguments);
  EXPECT_FALSE(std::signbit(values<float>(sum)[0]));
  const auto any = reference::run("fold", array<std::uint8_t>({1, 1}, {7}, DType::boolean), arguments);
  EXPECT_EQ(values<std::uint8_t>(any)[0], 1);
  const Arguments three = {{"output_size", List{1}}, {"kernel_size", List{3}}, {"dilation", integer(0)}};
  const auto wrapped = reference::run("fold", array<std::int8_t>({3, 1}, {127, 127, 3}, DType::int8), three);
  EXPECT_EQ(values<std::int8_t>(wrapped)[0], 1);
  const auto single = reference::run("fold", array<float>({3, 1}, {1e8f, 1.0f, -1e8f}, DType::float32), three);
  EXPECT_EQ(values<float>(single)[0], 0.0f);
}

TEST(Reference, SmallFormatsRoundToNearestEven) {
  const auto half = reference::type_of(DType::float16).format;
  EXPECT_EQ(reference::encode(half, 1.0), 0x3C00u);
  EXPECT_EQ(reference::encode(half, 65519.0), 0x7BFFu);
  EXPECT_EQ(reference::encode(half, 65520.0), 0x7C00u);
  EXPECT_EQ(reference::encode(half, std::ldexp(1.0, -25)), 0u);
  EXPECT_EQ(reference::encode(half, std::ldexp(3.0, -25)), 2u);
  EXPECT_EQ(reference::encode(half, -std::ldexp(1.0, -30)), 0x8000u);
  EXPECT_EQ(reference::encode(half, std::ldexp(1023.5, -24)), 0x0400u);
  const auto brain = reference::type_of(DType::bfloat16).format;
  EXPECT_EQ(reference::encode(brain, 1.0 + 1.0 / 256), 0x3F80u);
  EXPECT_EQ(reference::encode(brain, 1.0 + 3.0 / 256), 0x3F82u);
  for (const auto dtype : {DType::float16, DType::bfloat16, DType::float8_e4m3fn, DType::float8_e4m3fnuz, DType::float8_e5m2,
                           DType::float8_e5m2fnuz}) {
    const auto format = reference::type_of(dtype).format;
    for (unsigned code = 0; code < 1u << (1 + format.exponent_bits + format.mantissa_bits); ++code) {
      const double value = reference::decode(format, code);
      if (std::isnan(value)) continue;
      ASSERT_EQ(reference::encode(format, value), code) << static_cast<int>(dtype);
    }
  }
  EXPECT_EQ(reference::decode(reference::type_of(DType::float8_e4m3fn).format, 0x7E), 448.0);
  EXPECT_EQ(reference::decode(reference::type_of(DType::float8_e4m3fnuz).format, 0x7F), 240.0);
  EXPECT_EQ(reference::decode(reference::type_of(DType::float8_e5m2).format, 0x7B), 57344.0);
  EXPECT_EQ(reference::decode(reference::type_of(DType::float8_e5m2fnuz).format, 0x7F), 57344.0);
}

TEST(Reference, BlocksGoToTheBatchAndBack) {
  const Arguments cut = {{"block", List{2}}, {"padding", Pairs{{1, 0}}}};
  expect(reference::run("space_to_batch", count_up({1, 3}), cut), {2, 2}, {0, 2, 1, 3});
  const Arguments joined = {{"block", List{2}}, {"crops", Pairs{{1, 0}}}};
  expect(reference::run("batch_to_space", integers({2, 2}, {0, 2, 1, 3}), joined), {1, 3}, {1, 2, 3});
  const Arguments nd = {{"block_shape", List{2}}, {"paddings", Pairs{{1, 0}}}};
  expect(reference::run("tensorflow.SpaceToBatchND", count_up({1, 3}), nd), {2, 2}, {0, 2, 1, 3});
  const Arguments legacy = {{"block_size", integer(2)}, {"paddings", Pairs{{0, 0}, {0, 0}}}};
  expect(reference::run("tensorflow.SpaceToBatch", count_up({1, 2, 2, 3}), legacy), {4, 1, 1, 3},
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Arguments vino = {{"block_shape", List{1, 1, 2}}, {"pads_begin", List{0, 0, 1}}, {"pads_end", List{0, 0, 0}}};
  expect(reference::run("openvino.SpaceToBatch-2", count_up({1, 1, 3}), vino), {2, 1, 2}, {0, 2, 1, 3});
}

TEST(Reference, BlocksGoToTheChannelsAndBack) {
  // Two channels of 2x2: 1 2 / 3 4 and 5 6 / 7 8.
  const List image = {1, 2, 2, 2};
  const std::vector<std::int32_t> blocks_first = {1, 5, 2, 6, 3, 7, 4, 8};
  const std::vector<std::int32_t> depth_first = {1, 2, 3, 4, 5, 6, 7, 8};
  const List deep = {1, 8, 1, 1};
  const Arguments dcr = {{"blocksize", integer(2)}};
  const Arguments crd = {{"blocksize", integer(2)}, {"mode", "CRD"}};
  expect(reference::run("space_to_depth", count_up(image), {{"block", integer(2)}}), deep, blocks_first);
  expect(reference::run("space_to_depth", count_up(image), {{"block", integer(2)}, {"mode", "depth_first"}}), deep,
         depth_first);
  expect(reference::run("onnx.SpaceToDepth-13", count_up(image), dcr), deep, blocks_first);
  expect(reference::run("onnx.SpaceToDepth-28", count_up(image), crd), deep, depth_first);
  expect(reference::run("torch.pixel_unshuffle", count_up(image), {{"downscale_factor", integer(2)}}), deep, depth_first);
  expect(reference::run("tensorflow.SpaceToDepth", count_up(image), {{"block_size", integer(2)}, {"data_format", "NCHW"}}),
         deep, blocks_first);
  expect(reference::run("tensorflow.SpaceToDepth", count_up({1, 2, 2, 2}), {{"block_size", integer(2)}}), {1, 1, 1, 8},
         {1, 2, 3, 4, 5, 6, 7, 8});
  const Array first = integers(deep, blocks_first);
  const Array second = integers(deep, depth_first);
  expect(reference::run("onnx.DepthToSpace-1", first, dcr), image, depth_first);
  expect(reference::run("onnx.DepthToSpace-11", second, crd), image, depth_first);
  expect(reference::run("torch.pixel_shuffle", second, {{"upscale_factor", integer(2)}}), image, depth_first);
  expect(reference::run("openvino.DepthToSpace-1", first, {{"block_size", integer(2)}, {"blocks_mode", "blocks_first"}}),
         image, depth_first);
  expect(reference::run("reorder", second, {{"kernel_size", List{2, 2}}, {"positions", "grid"}}), deep, blocks_first);
}

TEST(Reference, ColumnsBecomeImages) {
  // Element (q, j) is 5 * j + q + 1. Pixel (0, 4) is touched by tap 4 of block 1 and tap 3 of block 2: 10 + 14.
  std::vector<std::int32_t> columns(5 * 15);
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<std::int32_t>(i % 15 * 5 + i / 15 + 1);
  const Arguments onnx = {{"image_shape", List{5, 5}}, {"block_shape", List{1, 5}}, {"pads", List{0, 1, 0, 1}}};
  const auto image = values<std::int32_t>(reference::run("onnx.Col2Im-18", integers({1, 5, 15}, columns), onnx));
  EXPECT_EQ(image[0], 2 + 6);
  EXPECT_EQ(image[4], 24);
  const Arguments vino = {{"output_size", List{2, 2}}, {"kernel_size", List{1, 1}}};
  expect(reference::run("openvino.Col2Im-15", count_up({3, 4}), vino), {3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Arguments torch = {{"output_size", List{2, 3}}, {"kernel_size", integer(2)}};
  // Taps (0,0) 1 2, (0,1) 3 4, (1,0) 5 6, (1,1) 7 8 of positions 0 and 1.
  expect(reference::run("torch.fold", count_up({4, 2}), torch), {1, 2, 3}, {1, 5, 4, 5, 13, 8});
  expect(reference::run("torch.unfold", count_up({1, 2, 3}), {{"kernel_size", integer(2)}}), {4, 2},
         {1, 2, 2, 3, 4, 5, 5, 6});
}

TEST(Reference, PatchesAreKernelMajor) {
  const Arguments vino = {{"sizes", List{1, 2}}, {"strides", List{1, 1}}, {"rates", List{1, 1}}, {"auto_pad", "valid"}};
  // The channels are 1 2 and 3 4. The result has tap 0 of both channels, then tap 1 of both.
  expect(reference::run("openvino.ExtractImagePatches-3", count_up({1, 2, 1, 2}), vino), {1, 4, 1, 1}, {1, 3, 2, 4});
  const Arguments flow = {
      {"ksizes", List{1, 1, 2, 1}}, {"strides", List{1, 1, 2, 1}}, {"rates", List{1, 1, 2, 1}}, {"padding", "SAME"}};
  // Two channels, three pixels (1,2) (3,4) (5,6); taps lie 2 apart; 2 patches start at -1 and 1.
  expect(reference::run("tensorflow.ExtractImagePatches", count_up({1, 1, 3, 2}), flow), {1, 1, 2, 4},
         {0, 0, 3, 4, 3, 4, 0, 0});
}

}  // namespace
