// SPDX-License-Identifier: Apache-2.0
// Parameters near 2^40 and 2^63 with few positions: results are right and immediate, nothing overflows, and sizes that do not fit
// are refused.
#include <limits>

#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

constexpr std::int64_t far = std::int64_t{1} << 40;
constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max();

TEST(FarStrides, ReachTheImageOnce) {
  const PadsList pads = {{far, far}};
  // The slack is 3 + 2 * 2^40 - 1, so the positions are at -2^40, 0 and 2^40.
  expect_iota(Unfold{.kernel_size = {1}, .stride = far, .padding = pads}, {1, 1, 3}, {1, 1, 3}, {0, 1, 0});
  expect_iota(Fold{.output_size = {3}, .kernel_size = {1}, .stride = far, .padding = pads}, {1, 1, 3}, {1, 1, 3}, {2, 0, 0});
  expect_values(Coverage{.output_size = {3}, .kernel_size = 1, .stride = far, .padding = pads}, {}, {0}, {3}, {1, 0, 0});
}

TEST(FarDilations, ReachTheImageWithOneTap) {
  const PadsList before = {{far, 0}}, after = {{0, far}};
  expect_iota(Unfold{.kernel_size = {2}, .dilation = far, .padding = before}, {1, 1, 5}, {1, 2, 5},
              {0, 0, 0, 0, 0, 1, 2, 3, 4, 5});
  expect_iota(Unfold{.kernel_size = {2}, .dilation = far, .padding = after}, {1, 1, 5}, {1, 2, 5},
              {1, 2, 3, 4, 5, 0, 0, 0, 0, 0});
  expect_iota(Fold{.output_size = {5}, .kernel_size = {2}, .dilation = far, .padding = before}, {1, 2, 5}, {1, 1, 5},
              {6, 7, 8, 9, 10});
  expect_iota(Fold{.output_size = {5}, .kernel_size = {2}, .dilation = far, .padding = after}, {1, 2, 5}, {1, 1, 5},
              {1, 2, 3, 4, 5});
}

TEST(FarDilations, InTwoDimensions) {
  const PadsList pads = {{far, 0}, {0, far}};
  expect_iota(Unfold{.kernel_size = 2, .dilation = far, .padding = pads}, {1, 1, 2, 2}, {1, 4, 4},
              {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0});
  expect_iota(Fold{.output_size = {2, 2}, .kernel_size = 2, .dilation = far, .padding = pads}, {1, 4, 4}, {1, 1, 2, 2},
              {9, 10, 11, 12});
}

/// Tests that coverage does not add a one for each tap, which would take too long.
TEST(FarKernels, AreCountedByCoverageAtOnce) {
  const auto counts = [](const Coverage& op) {
    std::vector<std::int64_t> counted(static_cast<std::size_t>(element_count(op.output_size)));
    coverage(op, view(counted.data(), op.output_size));
    return counted;
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(counts({.output_size = {4}, .kernel_size = far, .dilation = 0}), Counts(4, far));
  EXPECT_EQ(counts({.output_size = {2, 3}, .kernel_size = {far, 3}, .dilation = {0, 1}, .padding = {{0, 0}, {1, 1}}}),
            (Counts{2 * far, 3 * far, 2 * far, 2 * far, 3 * far, 2 * far}));
  EXPECT_EQ(counts({.output_size = {3}, .kernel_size = far, .padding = far}), Counts(3, far));
}

/// Tests that counts equal a sum of ones, added one by one in the element's type.
TEST(FarKernels, AreCountedInTheElementsType) {
  const struct {
    DType dtype;
    std::int64_t ones;
    std::uint64_t low, high;  // of the element's bits
  } rows[] = {
      {DType::boolean, 256, 1, 0},
      {DType::int8, 300, 44, 0},
      {DType::uint16, 65536, 0, 0},
      {DType::int32, (std::int64_t{1} << 32) + 7, 7, 0},
      {DType::uint64, far, std::uint64_t{1} << 40, 0},
      {DType::float16, 2049, 0x6800, 0},   // 2048
      {DType::float16, 65520, 0x7c00, 0},  // infinity
      {DType::bfloat16, 257, 0x4380, 0},   // 256
      {DType::float32, 16777215, 0x4b7fffff, 0},
      {DType::float32, far, 0x4b800000, 0},                            // 2^24
      {DType::float64, std::int64_t{1} << 59, 0x4340000000000000, 0},  // 2^53
      {DType::complex64, far, 0x4b800000, 0},
      {DType::complex128, 3, 0x4008000000000000, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(name_of(row.dtype));
    std::uint64_t bits[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
    coverage({.output_size = {1}, .kernel_size = row.ones, .dilation = 0}, contiguous(bits, {1}, row.dtype));
    const std::size_t size = size_of(row.dtype);
    const std::uint64_t mask = size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
    EXPECT_EQ(bits[0] & mask, row.low);
    if (size == 16) {
      EXPECT_EQ(bits[1], row.high);
    }
  }
}

TEST(FarPads, OnePositionFarOutside) {
  // The slack is 2 + 2^40 - 1, and the stride is the same, so there are two positions, at -2^40 and 1.
  const Unfold op = {.kernel_size = {1}, .stride = far + 1, .padding = {{far, 0}}};
  expect_iota(op, {1, 1, 2}, {1, 1, 2}, {0, 2});
  expect_iota(Fold{.output_size = {2}, .kernel_size = {1}, .stride = far + 1, .padding = {{far, 0}}}, {1, 1, 2}, {1, 1, 2},
              {0, 2});
}

TEST(FarStrides, InEveryFoldDialect) {
  const Dims k = {1, 1}, s = {far, far}, p = {far, far};
  const Ints expected = {5, 0, 0, 0};  // the middle of 3 x 3 positions
  expect_iota(openvino::Col2Im{{2, 2}, k, s, {1, 1}, p, p}, {1, 1, 9}, {1, 1, 2, 2}, expected);
  expect_iota(onnx::Col2Im{.image_shape = {2, 2}, .block_shape = k, .pads = {far, far, far, far}, .strides = s}, {1, 1, 9},
              {1, 1, 2, 2}, expected);
  expect_iota(torch::Fold{.output_size = {2, 2}, .kernel_size = k, .padding = far, .stride = far}, {1, 1, 9}, {1, 1, 2, 2},
              expected);
  expect_iota(torch::Unfold{.kernel_size = k, .padding = far, .stride = far}, {1, 1, 2, 2}, {1, 1, 9},
              {0, 0, 0, 0, 1, 0, 0, 0, 0});
}

TEST(FarPads, OfEveryPaddingMode) {
  // The positions are -3 * 2^40, 0 and 3 * 2^40, in an image of three elements.
  const auto columns = [](PaddingMode mode) {
    return Unfold{.kernel_size = {1}, .stride = 3 * far, .padding = {{3 * far, 3 * far}}, .padding_mode = mode};
  };
  expect_iota(columns(PaddingMode::edge), {1, 1, 3}, {1, 1, 3}, {1, 1, 3});
  expect_iota(columns(PaddingMode::wrap), {1, 1, 3}, {1, 1, 3}, {1, 1, 1});
  // The mode symmetric repeats every 6 elements and reflect every 4; 3 * 2^40 is a multiple of both.
  expect_iota(columns(PaddingMode::symmetric), {1, 1, 3}, {1, 1, 3}, {1, 1, 1});
  expect_iota(columns(PaddingMode::reflect), {1, 1, 3}, {1, 1, 3}, {1, 1, 1});
}

TEST(LargestStride, HasOnePosition) {
  expect_iota(Unfold{.kernel_size = {2}, .stride = limit}, {1, 1, 4}, {1, 2, 1}, {1, 2});
  expect_iota(Fold{.output_size = {4}, .kernel_size = {2}, .stride = limit}, {1, 2, 1}, {1, 1, 4}, {1, 2, 0, 0});
  expect_iota(torch::Unfold{.kernel_size = {2, 2}, .stride = limit}, {1, 1, 2, 2}, {1, 4, 1}, {1, 2, 3, 4});
  expect_iota(openvino::ExtractImagePatches{{1, 1}, {limit, limit}, {1, 1}, openvino::AutoPad::same_upper}, {1, 1, 4, 4},
              {1, 1, 1, 1}, {1});
}

TEST(LargestDilation, WithAKernelOfOne) {
  expect_iota(Unfold{.kernel_size = {1}, .dilation = limit}, {1, 1, 3}, {1, 1, 3}, {1, 2, 3});
  expect_iota(Unfold{.kernel_size = {2}, .dilation = std::int64_t{1} << 59, .allow_empty = true}, {1, 1, 3}, {1, 2, 0}, {});
}

TEST(Sizes, BeyondSixtyThreeBitsAreRefused) {
  const auto overflow = ErrorCode::overflow;
  const std::int64_t half = std::int64_t{1} << 62;
  expect_error(Unfold{.kernel_size = {1}, .padding = {{half, half}}}, {1, 1, 3}, {overflow});
  expect_error(Unfold{.kernel_size = {1}, .padding = {{limit, 0}}}, {1, 1, 3}, {overflow});
  expect_error(Unfold{.kernel_size = {3}, .dilation = half}, {1, 1, 3}, {overflow});
  expect_error(Unfold{.kernel_size = {half, 4}}, {1, 1, 3, 3}, {overflow});
  expect_error(Fold{.output_size = {3}, .kernel_size = {1}, .padding = {{half, half}}}, {1, 1, 1}, {overflow});
  expect_error(Fold{.output_size = {3}, .kernel_size = {3}, .dilation = half}, {1, 3, 1}, {overflow});
  expect_error(Coverage{.output_size = {3}, .kernel_size = 3, .dilation = half}, {}, {overflow});
  expect_error(torch::Fold{.output_size = {3, 3}, .kernel_size = {1, 1}, .padding = half}, {1, 1, 1}, {overflow});
  expect_error(torch::Fold{.output_size = {3, 3}, .kernel_size = {2, 2}, .dilation = limit}, {1, 4, 1},
               {overflow, ErrorCode::position_count, ErrorCode::value});
  expect_error(torch::Unfold{.kernel_size = {1, 1}, .padding = {0, limit}}, {1, 1, 3, 3}, {overflow});
  expect_error(onnx::Col2Im{.image_shape = {3}, .block_shape = {1}, .pads = {limit, limit}}, {1, 1, 1}, {overflow});
  expect_error(openvino::Col2Im{{3, 3}, {3, 1}, {1, 1}, {half, 1}, {0, 0}, {0, 0}}, {3, 1}, {overflow});
  expect_error(SpaceToBatch{.block = {half, half}}, {1, 1, 0, 0}, {overflow});
  expect_error(SpaceToBatch{.block = {1, 1}, .padding = {{limit, 1}, {0, 0}}}, {1, 1, 1, 1}, {overflow});
  expect_error(SpaceToDepth{.block = {half, half}}, {1, 1, 0, 0}, {overflow});
  expect_error(DepthToSpace{.block = {2, 2}}, {1, 4, limit, 1}, {overflow});
  expect_error(BatchToSpace{.block = {2, 2}}, {4, 1, limit, 1}, {overflow});
}

TEST(Sizes, OfHugeImages) {
  const torch::Fold op = {
      .output_size = {far / 2048, far / 2048}, .kernel_size = 2, .dilation = far, .padding = far, .stride = far};
  // A shape of 2^58 elements is computed, although no memory can hold it.
  expect_shape(op, {1, 4, 4}, {1, 1, far / 2048, far / 2048});
  // A shape of 2^61 elements is computed or refused; a shape of 2^64 elements is refused.
  try {
    EXPECT_TRUE(op.output_shape({1, 4 * 8, 4}) == Dims({1, 8, far / 2048, far / 2048}));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::overflow) << error.what();
  }
  EXPECT_THROW(op.output_shape({1, 4 * 64, 4}), Error);
  EXPECT_THROW(contiguous(static_cast<void*>(nullptr), {8, far / 2048, far / 2048}, DType::float32), Error);
}

TEST(Sizes, OfViewsWhoseElementsShareMemory) {
  // A broadcast view with one element in memory has 2^40 elements, of which two are read.
  const float value = 3;
  std::vector<float> columns(2, 0);
  const ConstTensorView image = {&value, {1, 1, 1, far}, {0, 0, 0, 0}, DType::float32, 4};
  run(Unfold{.kernel_size = {1, 1}, .stride = {1, far - 1}}, image, contiguous(columns.data(), {1, 1, 2}, DType::float32));
  EXPECT_EQ(columns, (std::vector<float>{3, 3}));
}

}  // namespace
}  // namespace patchfold::vectors
