// SPDX-License-Identifier: Apache-2.0
// Operators that move elements copy their bits: NaN payloads, signalling NaNs, -0.0, denormals, and bytes that are not numbers, for
// every element size. A separate index-by-index program in Python computed the expected source of each output element (1 + the
// index; 0 is padding).
#include <bit>

#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

const std::vector<std::uint16_t> float16_bits = {0x7c01, 0x7dff, 0x7e00, 0x7fff, 0xfc01, 0xfe2a, 0x8000,
                                                 0x0001, 0x83ff, 0x7c00, 0xfc00, 0x0000, 0x3c00};
const std::vector<std::uint16_t> bfloat16_bits = {0x7f81, 0x7fbf, 0x7fc0, 0x7fff, 0xff81, 0xffea, 0x8000,
                                                  0x0001, 0x807f, 0x7f80, 0xff80, 0x0000, 0x3f80};
const std::vector<std::uint32_t> float32_bits = {0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fc12345, 0xff800001,
                                                 0xffffffff, 0x80000000, 0x00000001, 0x807fffff, 0x7f800000,
                                                 0xff800000, 0x00000000, 0x3f800000};
const std::vector<std::uint64_t> float64_bits = {
    0x7ff0000000000001, 0x7ff7ffffffffffff, 0x7ff8000000000000, 0x7ff8000012345678, 0xfff0000000000001,
    0xffffffffffffffff, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x0000000000000000, 0x3ff0000000000000};
const std::vector<std::uint8_t> byte_bits = {0x00, 0x01, 0x02, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0x7c, 0xfc, 0x7d, 0x55, 0xaa};

template <class T>
void expect_special(const Problem& problem, DType dtype, const std::vector<T>& bits, const Dims& in, const Dims& out,
                    const Ints& source) {
  // Complex elements are pairs of T.
  const auto words = size_of(dtype) / sizeof(T);
  std::vector<T> data, expected;
  for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(in)) * words; ++i)
    data.push_back(bits[i % bits.size()]);
  for (const auto from : source)
    for (std::size_t word = 0; word < words; ++word)
      expected.push_back(from == 0 ? T{0} : data[static_cast<std::size_t>(from - 1) * words + word]);
  expect_same(problem, dtype, in, data, out, expected);
}

// Tests a problem with special values of every type, then with arbitrary bits of every type and size.
void expect_bits(const Problem& problem, const Dims& in, const Dims& out, const Ints& source) {
  expect_special(problem, DType::float16, float16_bits, in, out, source);
  expect_special(problem, DType::bfloat16, bfloat16_bits, in, out, source);
  expect_special(problem, DType::float32, float32_bits, in, out, source);
  expect_special(problem, DType::float64, float64_bits, in, out, source);
  expect_special(problem, DType::complex64, float32_bits, in, out, source);
  expect_special(problem, DType::complex128, float64_bits, in, out, source);
  for (const auto dtype :
       {DType::boolean, DType::float8_e4m3fn, DType::float8_e4m3fnuz, DType::float8_e5m2, DType::float8_e5m2fnuz})
    expect_special(problem, dtype, byte_bits, in, out, source);
  expect_moved(problem, in, out, source);
}

TEST(Bits, PassThroughUnfold) {
  expect_bits(
      Unfold{.kernel_size = 3, .padding = 1}, {1, 2, 4, 5}, {1, 18, 20},
      {0,  0,  0,  0,  0,  0,  1,  2,  3,  4,  0,  6,  7,  8,  9,  0,  11, 12, 13, 14, 0,  0,  0,  0,  0,  1,  2,  3,
       4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 0,  0,  0,  0,  0,  2,  3,  4,  5,  0,  7,  8,  9,  10, 0,  12,
       13, 14, 15, 0,  0,  1,  2,  3,  4,  0,  6,  7,  8,  9,  0,  11, 12, 13, 14, 0,  16, 17, 18, 19, 1,  2,  3,  4,
       5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 2,  3,  4,  5,  0,  7,  8,  9,  10, 0,  12, 13,
       14, 15, 0,  17, 18, 19, 20, 0,  0,  6,  7,  8,  9,  0,  11, 12, 13, 14, 0,  16, 17, 18, 19, 0,  0,  0,  0,  0,
       6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 0,  0,  0,  0,  0,  7,  8,  9,  10, 0,  12, 13, 14,
       15, 0,  17, 18, 19, 20, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  21, 22, 23, 24, 0,  26, 27, 28, 29, 0,
       31, 32, 33, 34, 0,  0,  0,  0,  0,  21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 0,  0,  0,  0,
       0,  22, 23, 24, 25, 0,  27, 28, 29, 30, 0,  32, 33, 34, 35, 0,  0,  21, 22, 23, 24, 0,  26, 27, 28, 29, 0,  31,
       32, 33, 34, 0,  36, 37, 38, 39, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
       22, 23, 24, 25, 0,  27, 28, 29, 30, 0,  32, 33, 34, 35, 0,  37, 38, 39, 40, 0,  0,  26, 27, 28, 29, 0,  31, 32,
       33, 34, 0,  36, 37, 38, 39, 0,  0,  0,  0,  0,  26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 0,
       0,  0,  0,  0,  27, 28, 29, 30, 0,  32, 33, 34, 35, 0,  37, 38, 39, 40, 0,  0,  0,  0,  0,  0});
  expect_bits(Unfold{.kernel_size = {2, 2},
                     .stride = {2, 1},
                     .dilation = {1, 2},
                     .layout = Layout::channels_last,
                     .order = Order::kernel},
              {2, 4, 4, 3}, {2, 4, 12},
              {1,  2,  3,  7,  8,  9,  13, 14, 15, 19, 20, 21, 4,  5,  6,  10, 11, 12, 16, 17, 18, 22, 23, 24,
               25, 26, 27, 31, 32, 33, 37, 38, 39, 43, 44, 45, 28, 29, 30, 34, 35, 36, 40, 41, 42, 46, 47, 48,
               49, 50, 51, 55, 56, 57, 61, 62, 63, 67, 68, 69, 52, 53, 54, 58, 59, 60, 64, 65, 66, 70, 71, 72,
               73, 74, 75, 79, 80, 81, 85, 86, 87, 91, 92, 93, 76, 77, 78, 82, 83, 84, 88, 89, 90, 94, 95, 96});
}

TEST(Bits, PassThroughUnfoldWithKernelEqualToStride) {
  const struct {
    std::int64_t k;
    Dims in, out;
    Ints source;
  } cases[] = {
      {1, {1, 2, 2, 3}, {1, 2, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
      {2, {1, 2, 4, 6}, {1, 8, 6}, {1,  3,  5,  13, 15, 17, 2,  4,  6,  14, 16, 18, 7,  9,  11, 19,
                                    21, 23, 8,  10, 12, 20, 22, 24, 25, 27, 29, 37, 39, 41, 26, 28,
                                    30, 38, 40, 42, 31, 33, 35, 43, 45, 47, 32, 34, 36, 44, 46, 48}},
      {3, {1, 2, 6, 9}, {1, 18, 6}, {1,  4,  7,  28,  31,  34,  2,  5,  8,  29,  32,  35,  3,  6,  9,  30,  33,  36,
                                     10, 13, 16, 37,  40,  43,  11, 14, 17, 38,  41,  44,  12, 15, 18, 39,  42,  45,
                                     19, 22, 25, 46,  49,  52,  20, 23, 26, 47,  50,  53,  21, 24, 27, 48,  51,  54,
                                     55, 58, 61, 82,  85,  88,  56, 59, 62, 83,  86,  89,  57, 60, 63, 84,  87,  90,
                                     64, 67, 70, 91,  94,  97,  65, 68, 71, 92,  95,  98,  66, 69, 72, 93,  96,  99,
                                     73, 76, 79, 100, 103, 106, 74, 77, 80, 101, 104, 107, 75, 78, 81, 102, 105, 108}},
      {4, {1, 1, 8, 12}, {1, 16, 6}, {1,  5,  9,  49, 53, 57, 2,  6,  10, 50, 54, 58, 3,  7,  11, 51, 55, 59, 4,  8,
                                      12, 52, 56, 60, 13, 17, 21, 61, 65, 69, 14, 18, 22, 62, 66, 70, 15, 19, 23, 63,
                                      67, 71, 16, 20, 24, 64, 68, 72, 25, 29, 33, 73, 77, 81, 26, 30, 34, 74, 78, 82,
                                      27, 31, 35, 75, 79, 83, 28, 32, 36, 76, 80, 84, 37, 41, 45, 85, 89, 93, 38, 42,
                                      46, 86, 90, 94, 39, 43, 47, 87, 91, 95, 40, 44, 48, 88, 92, 96}},
      {5, {1, 1, 5, 10}, {1, 25, 2}, {1,  6,  2,  7,  3,  8,  4,  9,  5,  10, 11, 16, 12, 17, 13, 18, 14,
                                      19, 15, 20, 21, 26, 22, 27, 23, 28, 24, 29, 25, 30, 31, 36, 32, 37,
                                      33, 38, 34, 39, 35, 40, 41, 46, 42, 47, 43, 48, 44, 49, 45, 50}},
  };
  for (const auto& test : cases)
    expect_bits(Unfold{.kernel_size = test.k, .stride = test.k}, test.in, test.out, test.source);
}

TEST(Bits, PassThroughUnfoldWithKernelEqualToStrideInOneAndThreeDimensions) {
  expect_bits(Unfold{.kernel_size = {8}, .stride = 8}, {2, 2, 24}, {2, 16, 3},
              {1,  9,  17, 2,  10, 18, 3,  11, 19, 4,  12, 20, 5,  13, 21, 6,  14, 22, 7,  15, 23, 8,  16, 24,
               25, 33, 41, 26, 34, 42, 27, 35, 43, 28, 36, 44, 29, 37, 45, 30, 38, 46, 31, 39, 47, 32, 40, 48,
               49, 57, 65, 50, 58, 66, 51, 59, 67, 52, 60, 68, 53, 61, 69, 54, 62, 70, 55, 63, 71, 56, 64, 72,
               73, 81, 89, 74, 82, 90, 75, 83, 91, 76, 84, 92, 77, 85, 93, 78, 86, 94, 79, 87, 95, 80, 88, 96});
  expect_bits(Unfold{.kernel_size = {2, 1, 3}, .stride = {2, 1, 3}}, {1, 2, 2, 2, 6}, {1, 12, 4},
              {1,  4,  7,  10, 2,  5,  8,  11, 3,  6,  9,  12, 13, 16, 19, 22, 14, 17, 20, 23, 15, 18, 21, 24,
               25, 28, 31, 34, 26, 29, 32, 35, 27, 30, 33, 36, 37, 40, 43, 46, 38, 41, 44, 47, 39, 42, 45, 48});
}

TEST(Bits, PassThroughDepthToSpace) {
  expect_bits(DepthToSpace{.block = 2}, {1, 8, 2, 3}, {1, 2, 4, 6},
              {1, 13, 2, 14, 3, 15, 25, 37, 26, 38, 27, 39, 4,  16, 5,  17, 6,  18, 28, 40, 29, 41, 30, 42,
               7, 19, 8, 20, 9, 21, 31, 43, 32, 44, 33, 45, 10, 22, 11, 23, 12, 24, 34, 46, 35, 47, 36, 48});
  expect_bits(DepthToSpace{.block = {3, 2}, .mode = DepthMode::depth_first}, {2, 6, 2, 2}, {2, 1, 6, 4},
              {1,  5,  2,  6,  9,  13, 10, 14, 17, 21, 18, 22, 3,  7,  4,  8,  11, 15, 12, 16, 19, 23, 20, 24,
               25, 29, 26, 30, 33, 37, 34, 38, 41, 45, 42, 46, 27, 31, 28, 32, 35, 39, 36, 40, 43, 47, 44, 48});
  expect_bits(DepthToSpace{.block = {2, 2}, .layout = Layout::channels_last}, {1, 2, 3, 8}, {1, 4, 6, 2},
              {1,  2,  3,  4,  9,  10, 11, 12, 17, 18, 19, 20, 5,  6,  7,  8,  13, 14, 15, 16, 21, 22, 23, 24,
               25, 26, 27, 28, 33, 34, 35, 36, 41, 42, 43, 44, 29, 30, 31, 32, 37, 38, 39, 40, 45, 46, 47, 48});
  expect_bits(onnx::DepthToSpace{2, onnx::Mode::CRD}, {1, 8, 2, 3}, {1, 2, 4, 6},
              {1,  7,  2,  8,  3,  9,  13, 19, 14, 20, 15, 21, 4,  10, 5,  11, 6,  12, 16, 22, 17, 23, 18, 24,
               25, 31, 26, 32, 27, 33, 37, 43, 38, 44, 39, 45, 28, 34, 29, 35, 30, 36, 40, 46, 41, 47, 42, 48});
}

TEST(Bits, PassThroughSpaceToDepth) {
  expect_bits(SpaceToDepth{.block = 2}, {1, 2, 4, 6}, {1, 8, 2, 3},
              {1, 3, 5,  13, 15, 17, 25, 27, 29, 37, 39, 41, 2, 4,  6,  14, 16, 18, 26, 28, 30, 38, 40, 42,
               7, 9, 11, 19, 21, 23, 31, 33, 35, 43, 45, 47, 8, 10, 12, 20, 22, 24, 32, 34, 36, 44, 46, 48});
  expect_bits(SpaceToDepth{.block = {2, 3}, .mode = DepthMode::depth_first, .layout = Layout::channels_last}, {1, 4, 6, 2},
              {1, 2, 2, 12},
              {1,  3,  5,  13, 15, 17, 2,  4,  6,  14, 16, 18, 7,  9,  11, 19, 21, 23, 8,  10, 12, 20, 22, 24,
               25, 27, 29, 37, 39, 41, 26, 28, 30, 38, 40, 42, 31, 33, 35, 43, 45, 47, 32, 34, 36, 44, 46, 48});
}

TEST(Bits, PassThroughBatchToSpace) {
  expect_bits(BatchToSpace{.block = 2}, {8, 1, 2, 2}, {2, 1, 4, 4},
              {1, 9,  2, 10, 17, 25, 18, 26, 3, 11, 4, 12, 19, 27, 20, 28,
               5, 13, 6, 14, 21, 29, 22, 30, 7, 15, 8, 16, 23, 31, 24, 32});
  expect_bits(BatchToSpace{.block = {2, 3}, .crops = {{1, 0}, {1, 2}}}, {6, 2, 2, 2}, {1, 2, 3, 3},
              {33, 41, 26, 11, 19, 4, 35, 43, 28, 37, 45, 30, 15, 23, 8, 39, 47, 32});
  expect_bits(tensorflow::BatchToSpaceND{{2}, {{0, 1}}}, {4, 3, 2}, {2, 5, 2},
              {1, 2, 13, 14, 3, 4, 15, 16, 5, 6, 7, 8, 19, 20, 9, 10, 21, 22, 11, 12});
}

TEST(Bits, PassThroughSpaceToBatch) {
  expect_bits(SpaceToBatch{.block = {2, 3}, .padding = {{1, 0}, {1, 2}}}, {1, 2, 3, 3}, {6, 2, 2, 2},
              {0, 0, 0, 6, 0, 0,  0, 15, 0, 0, 4, 0, 0,  0, 13, 0, 0, 0, 5, 0, 0,  0, 14, 0,
               0, 3, 0, 9, 0, 12, 0, 18, 1, 0, 7, 0, 10, 0, 16, 0, 2, 0, 8, 0, 11, 0, 17, 0});
}

TEST(Bits, PassThroughReorder) {
  expect_bits(Reorder{.kernel_size = {2, 3}}, {1, 12, 5}, {1, 12, 5},
              {1,  2,  3,  4,  5,  31, 32, 33, 34, 35, 6,  7,  8,  9,  10, 36, 37, 38, 39, 40,
               11, 12, 13, 14, 15, 41, 42, 43, 44, 45, 16, 17, 18, 19, 20, 46, 47, 48, 49, 50,
               21, 22, 23, 24, 25, 51, 52, 53, 54, 55, 26, 27, 28, 29, 30, 56, 57, 58, 59, 60});
}

TEST(Bits, PassThroughCopy) {
  expect_bits(Copy{}, {2, 1, 13}, {2, 1, 13}, iota({2, 1, 13}));
  expect_bits(Copy{}, {}, {}, {1});
}

// Fold adds, so it does not copy bits even if each pixel has one contribution: -0.0 becomes +0.0 and NaN may change its bits, but
// every other number keeps its bits.
template <class T>
void expect_fold(const Fold& op, DType dtype, const Dims& in, const std::vector<T>& bits, const Dims& out,
                 const Ints& source, T exponent, T mantissa) {
  std::vector<T> data, expected;
  for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(in)); ++i) data.push_back(bits[i % bits.size()]);
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
  expect_fold<std::uint16_t>(op, DType::float16, in, float16_bits, out, source, 0x7c00, 0x03ff);
  expect_fold<std::uint16_t>(op, DType::bfloat16, in, bfloat16_bits, out, source, 0x7f80, 0x007f);
  expect_fold<std::uint32_t>(op, DType::float32, in, float32_bits, out, source, 0x7f800000, 0x007fffff);
  expect_fold<std::uint64_t>(op, DType::float64, in, float64_bits, out, source, 0x7ff0000000000000, 0x000fffffffffffff);
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
