// SPDX-License-Identifier: Apache-2.0
// Parameters near 2^40 and 2^63 with few positions: right, at once, and without overflow; sizes that do not fit are refused.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

constexpr std::int64_t far = std::int64_t{1} << 40;

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
