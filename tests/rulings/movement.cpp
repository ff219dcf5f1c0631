// SPDX-License-Identifier: Apache-2.0
// Sums of one element each keep its bits; elements that lie between those of another buffer.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

// Fold adds, so it is not movement even where each pixel has one contribution: -0.0 becomes +0.0 and NaN stays NaN, but
// every other number keeps its bits.
template <class T>
void expect_fold(const Fold& op, DType dtype, const Dims& in, const Dims& out, const Ints& source, T exponent, T mantissa) {
  const auto bits = special_bits(dtype);
  std::vector<T> data;
  for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(in)); ++i)
    data.push_back(static_cast<T>(bits[i % bits.size()]));
  const T minus_zero = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
  const auto got = result_of(op, dtype, in, bytes_of(data), out);
  ASSERT_EQ(got.size(), source.size() * sizeof(T));
  for (std::size_t i = 0; i < source.size(); ++i) {
    T value = 0;
    for (std::size_t byte = sizeof(T); byte-- > 0;)
      value = static_cast<T>(value << 8 | std::to_integer<T>(got[i * sizeof(T) + byte]));
    const T from = data[static_cast<std::size_t>(source[i] - 1)];
    if ((from & exponent) == exponent && (from & mantissa) != 0)
      EXPECT_TRUE((value & exponent) == exponent && (value & mantissa) != 0) << name_of(dtype) << " element " << i;
    else
      EXPECT_EQ(value, from == minus_zero ? T{0} : from) << name_of(dtype) << " element " << i;
  }
}

void expect_fold_of_all(const Fold& op, const Dims& in, const Dims& out, const Ints& source) {
  expect_fold<std::uint16_t>(op, DType::float16, in, out, source, 0x7c00, 0x03ff);
  expect_fold<std::uint16_t>(op, DType::bfloat16, in, out, source, 0x7f80, 0x007f);
  expect_fold<std::uint32_t>(op, DType::float32, in, out, source, 0x7f800000, 0x007fffff);
  expect_fold<std::uint64_t>(op, DType::float64, in, out, source, 0x7ff0000000000000, 0x000fffffffffffff);
}

TEST(FoldOfSingleContributions, KernelOneStrideOne) {
  expect_fold_of_all(Fold{.output_size = {13}, .kernel_size = 1}, {1, 2, 13}, {1, 2, 13}, iota({26}));
  expect_fold_of_all(Fold{.output_size = {5, 13}, .kernel_size = 1}, {2, 3, 65}, {2, 3, 5, 13}, iota({390}));
}

TEST(FoldOfSingleContributions, KernelEqualToStride) {
  expect_fold_of_all(Fold{.output_size = {4, 6}, .kernel_size = 2, .stride = 2}, {1, 8, 6}, {1, 2, 4, 6},
                     {1,  7,  2,  8,  3,  9,  13, 19, 14, 20, 15, 21, 4,  10, 5,  11, 6,  12, 16, 22, 17, 23, 18, 24,
                      25, 31, 26, 32, 27, 33, 37, 43, 38, 44, 39, 45, 28, 34, 29, 35, 30, 36, 40, 46, 41, 47, 42, 48});
  expect_fold_of_all(Fold{.output_size = {26}, .kernel_size = {2}, .stride = 2}, {1, 2, 13}, {1, 1, 26},
                     {1, 14, 2, 15, 3, 16, 4, 17, 5, 18, 6, 19, 7, 20, 8, 21, 9, 22, 10, 23, 11, 24, 12, 25, 13, 26});
}

TEST(FoldOfSingleContributions, BooleansBecomeZeroOrOne) {
  const std::vector<std::uint8_t> columns = {0, 1, 2, 0x80, 0xff, 0}, image = {0, 1, 1, 1, 1, 0};
  expect_same(Fold{.output_size = {6}, .kernel_size = {1}}, DType::boolean, {1, 1, 6}, columns, {1, 1, 6}, image);
  expect_same<std::uint8_t>(Fold{.output_size = {6}, .kernel_size = {2}, .stride = 2}, DType::boolean, {1, 2, 3}, columns,
                            {1, 1, 6}, {0, 1, 1, 1, 1, 0});
}

// Tests that interleaved buffers, whose elements do not overlap, are accepted.
TEST(InterleavedBuffers, AreDistinct) {
  std::vector<float> buffer{0, -1, 1, -1, 2, -1, 3, -1};
  const ConstTensorView src{buffer.data(), {1, 1, 4}, {32, 32, 8}, DType::float32, 4};
  const TensorView dst{buffer.data() + 1, {1, 1, 4}, {32, 32, 8}, DType::float32, 4};
  const Plan plan = Unfold{.kernel_size = {1}}.plan(src, dst);
  EXPECT_EQ(plan.run(src.data, dst.data), Status::ok);
  EXPECT_EQ(buffer, (std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(plan.run(src.data, buffer.data() + 2), Status::overlap);
}

}  // namespace
}  // namespace patchfold::vectors
