// SPDX-License-Identifier: Apache-2.0
// Tests sums of fold. Sums start from +0 and add taps in ascending order. float16 and bfloat16 are added in float32 and
// rounded once; integers wrap; booleans are combined with OR. Every expected bit pattern was computed with numpy's float32
// and integer scalars, one addition after the other.
#include <complex>

#include "contributions.hpp"

namespace patchfold::vectors {
namespace {

template <class T>
void expect_sum(DType dtype, const std::vector<T>& contributions, T expected) {
  expect_folded(FoldReduce::sum, dtype, contributions, expected);
}

TEST(Float16Sums, AreRoundedOnce) {
  expect_sum<std::uint16_t>(DType::float16, {0x6800, 0x3c00, 0x3c00}, 0x6801);  // 2050; rounding every step gives 2048
  expect_sum<std::uint16_t>(DType::float16, {0x3c00, 0x3c00, 0x6800}, 0x6801);
  expect_sum<std::uint16_t>(DType::float16, {0x6800, 0x3c00, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400},
                            0x6800);  // 2048: float32 loses each small number beside 2049, which is then halfway
  expect_sum<std::uint16_t>(DType::float16, {0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x0400, 0x3c00, 0x6800},
                            0x6801);  // 2050
  expect_sum<std::uint16_t>(DType::float16, {0x6800, 0x3c00, 0x0c00}, 0x6801);
  expect_sum<std::uint16_t>(DType::float16, {0x6400, 0x3800, 0x3400}, 0x6401);
  expect_sum<std::uint16_t>(DType::float16, {0x7bff, 0x4800}, 0x7bff);
  expect_sum<std::uint16_t>(DType::float16, {0x7bff, 0x4c00}, 0x7c00);          // halfway to 65536: infinity
  expect_sum<std::uint16_t>(DType::float16, {0x7bff, 0x7bff, 0xfbff}, 0x7bff);  // float32 holds sums beyond float16
  expect_sum<std::uint16_t>(DType::float16, {0x0001, 0x0001}, 0x0002);
  expect_sum<std::uint16_t>(DType::float16, {0x0001, 0x0001, 0x0001, 0x0001, 0x0001, 0x0001, 0x0001, 0x8001}, 0x0006);
}

TEST(Bfloat16Sums, AreRoundedOnce) {
  expect_sum<std::uint16_t>(DType::bfloat16, {0x4380, 0x3f80, 0x3f80}, 0x4381);  // 258; rounding every step gives 256
  expect_sum<std::uint16_t>(DType::bfloat16, {0x3f80, 0x3f80, 0x4380}, 0x4381);
  expect_sum<std::uint16_t>(DType::bfloat16,
                            {0x4380, 0x3f80, 0x3700, 0x3700, 0x3700, 0x3700, 0x3700, 0x3700, 0x3700, 0x3700}, 0x4380);
  expect_sum<std::uint16_t>(DType::bfloat16,
                            {0x3700, 0x3700, 0x3700, 0x3700, 0x3700, 0x3700, 0x3700, 0x3700, 0x3f80, 0x4380}, 0x4381);
  expect_sum<std::uint16_t>(DType::bfloat16, {0x7f62, 0x7f62, 0xff62}, 0x7f80);
  expect_sum<std::uint16_t>(DType::bfloat16, {0x3f80, 0x3b80}, 0x3f80);
  expect_sum<std::uint16_t>(DType::bfloat16, {0x3f80, 0x3c40}, 0x3f82);
  expect_sum<std::uint16_t>(DType::bfloat16, {0x0001, 0x0001}, 0x0002);
}

TEST(Float32Sums, RunInAscendingOrderOfTheTap) {
  expect_sum<std::uint32_t>(DType::float32, {0x4cbebc20, 0x3f800000, 0xccbebc20}, 0x00000000);
  expect_sum<std::uint32_t>(DType::float32, {0x3f800000, 0x4cbebc20, 0xccbebc20}, 0x00000000);
  expect_sum<std::uint32_t>(DType::float32, {0x4cbebc20, 0xccbebc20, 0x3f800000}, 0x3f800000);
  expect_sum<std::uint32_t>(DType::float32, {0xccbebc20, 0x3f800000, 0x4cbebc20}, 0x00000000);
  expect_sum<std::uint32_t>(DType::float32, {0x7f7fffff, 0x7f7fffff, 0xff7fffff},
                            0x7f800000);  // infinity, which the first two numbers reach
  expect_sum<std::uint32_t>(DType::float32, {0xff7fffff, 0x7f7fffff, 0x7f7fffff}, 0x7f7fffff);
  expect_sum<std::uint32_t>(DType::float32, {0x4b800000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000}, 0x4b800000);
  expect_sum<std::uint32_t>(DType::float32, {0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000, 0x4b800000}, 0x4b800002);
  expect_sum<std::uint32_t>(DType::float32,
                            {0x3dcccccd, 0x3dcccccd, 0x3dcccccd, 0x3dcccccd, 0x3dcccccd, 0x3dcccccd, 0x3dcccccd, 0x3dcccccd,
                             0x3dcccccd, 0x3dcccccd},
                            0x3f800001);
  expect_sum<std::uint32_t>(DType::float32, {0x00000001, 0x00000001}, 0x00000002);
  expect_sum<std::uint32_t>(DType::float32, {0x00800000, 0x80000001}, 0x007fffff);
}

// Returns the bits of a float32 for the number i; the magnitudes for all i differ by a factor of up to 2^30. FloatSums folds
// such numbers to an image of 2 x 3 x 17 x 19 with kernel 3 and pad 1, and compares fingerprints of the bits.
std::uint32_t float_bits(std::uint32_t i) {
  auto x = i * 2654435761u + 12345u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return (x & 0x807fffffu) | (112 + (x >> 23 & 255) % 30) << 23;
}

struct Wide {
  DType dtype;
  std::size_t size;
  std::uint64_t expected;
};
const Wide wide[] = {{DType::float32, 4, 0x8fe9632814f88346u},
                     {DType::float16, 2, 0x3dee32df2f2003a2u},
                     {DType::bfloat16, 2, 0x63ee64d35d172d49u}};
constexpr std::int64_t wide_columns = 2 * 27 * 323;

Bytes wide_data(DType dtype) {
  Bytes data;
  for (std::uint32_t i = 0; i < wide_columns; ++i) {
    const auto b = float_bits(i);
    const std::uint32_t bits = dtype == DType::float32 ? b
                               : dtype == DType::bfloat16
                                   ? b >> 16
                                   : (b >> 16 & 0x8000) | (8 + (b >> 23 & 255) % 15) << 10 | (b & 0x3ff);
    for (std::size_t byte = 0; byte < size_of(dtype); ++byte) data.push_back(static_cast<std::byte>(bits >> 8 * byte));
  }
  return data;
}

std::uint64_t bits_fingerprint(const Bytes& bytes, std::size_t size) {
  Ints values;
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    std::int64_t value = 0;
    for (std::size_t byte = size; byte-- > 0;) value = value << 8 | std::to_integer<std::int64_t>(bytes[i + byte]);
    values.push_back(value);
  }
  return fingerprint(values);
}

const Fold wide_fold = {.output_size = {17, 19}, .kernel_size = 3, .padding = 1};

TEST(FloatSums, AgreeInEveryDialect) {
  for (const auto& test : wide) {
    const auto check = [&](const Problem& problem) {
      const auto image = result_of(problem, test.dtype, {2, 27, 323}, wide_data(test.dtype), {2, 3, 17, 19});
      EXPECT_EQ(bits_fingerprint(image, test.size), test.expected) << problem.name << ' ' << name_of(test.dtype);
    };
    check(wide_fold);
    check(torch::Fold{.output_size = {17, 19}, .kernel_size = {3, 3}, .padding = 1});
    check(onnx::Col2Im{.image_shape = {17, 19}, .block_shape = {3, 3}, .pads = {1, 1, 1, 1}});
    check(openvino::Col2Im{.output_size = {17, 19}, .kernel_size = {3, 3}, .pads_begin = {1, 1}, .pads_end = {1, 1}});
  }
}

TEST(IntegerSums, Wrap) {
  expect_sum<std::int8_t>(DType::int8, {127, 1}, -128);
  expect_sum<std::int8_t>(DType::int8, {100, 100}, -56);
  expect_sum<std::int8_t>(DType::int8, {-128, -1, -128}, -1);
  expect_sum<std::uint8_t>(DType::uint8, {255, 2}, 1);
  expect_sum<std::uint8_t>(DType::uint8, {200, 200, 200}, 88);
  expect_sum<std::int16_t>(DType::int16, {32767, 1}, -32768);
  expect_sum<std::uint16_t>(DType::uint16, {65535, 65535}, 65534);
  expect_sum<std::int32_t>(DType::int32, {2147483647, 1}, -2147483647 - 1);
  expect_sum<std::uint32_t>(DType::uint32, {4294967295u, 3}, 2);
  expect_sum<std::int64_t>(DType::int64, {9223372036854775807, 1}, -9223372036854775807 - 1);
  expect_sum<std::int64_t>(DType::int64, {(std::int64_t{1} << 40) + 1}, (std::int64_t{1} << 40) + 1);
  expect_sum<std::uint64_t>(DType::uint64, {18446744073709551615u, 2}, 1);
}

TEST(BooleanSums, AreOrOfBytesThatAreNotZero) {
  using Byte = std::uint8_t;
  expect_sum<Byte>(DType::boolean, {0}, 0);
  expect_sum<Byte>(DType::boolean, {1}, 1);
  expect_sum<Byte>(DType::boolean, {2}, 1);
  expect_sum<Byte>(DType::boolean, {0x80}, 1);
  expect_sum<Byte>(DType::boolean, {0, 0, 0}, 0);
  expect_sum<Byte>(DType::boolean, {0, 2, 0}, 1);
  expect_sum<Byte>(DType::boolean, {1, 1}, 1);
  expect_sum<Byte>(DType::boolean, {0xFF, 1}, 1);
  expect_sum<Byte>(DType::boolean, {0x80, 0x80}, 1);
  expect_sum<Byte>(DType::boolean, std::vector<Byte>(16, 16), 1);
}

TEST(ComplexSums, AddTheParts) {
  using C64 = std::complex<float>;
  using C128 = std::complex<double>;
  expect_sum<C64>(DType::complex64, {C64(1e8f, 1), C64(1, 1e8f), C64(-1e8f, -1e8f)}, C64(0, 0));
  expect_sum<C64>(DType::complex64, {C64(1e8f, 1), C64(-1e8f, -3), C64(1, 1e8f)}, C64(1, 1e8f));
  expect_sum<C64>(DType::complex64, {C64(-0.0f, -0.0f)}, C64(0, 0));
  expect_sum<C128>(DType::complex128, {C128(1e17, -0.0), C128(1, 2), C128(-1e17, 3)}, C128(0, 5));
  expect_sum<C128>(DType::complex128, {C128(1e17, 1), C128(-1e17, 2), C128(1, 3)}, C128(1, 6));
}

TEST(Float64Sums, RunInAscendingOrderOfTheTap) {
  expect_sum<double>(DType::float64, {1e17, 1, -1e17}, 0);
  expect_sum<double>(DType::float64, {1e17, -1e17, 1}, 1);
  expect_sum<double>(DType::float64, {9007199254740992, 1, 1}, 9007199254740992);
  expect_sum<double>(DType::float64, {1, 1, 9007199254740992}, 9007199254740994);
}

TEST(ZeroSums, ArePositive) {
  for (const std::size_t n : {1, 2, 9}) {
    expect_sum<std::uint16_t>(DType::float16, std::vector<std::uint16_t>(n, 0x8000), 0);
    expect_sum<std::uint16_t>(DType::bfloat16, std::vector<std::uint16_t>(n, 0x8000), 0);
    expect_sum<std::uint32_t>(DType::float32, std::vector<std::uint32_t>(n, 0x80000000u), 0);
    expect_sum<std::uint64_t>(DType::float64, std::vector<std::uint64_t>(n, 0x8000000000000000u), 0);
  }
}

TEST(InfiniteSums, FollowIeee) {
  expect_sum<std::uint32_t>(DType::float32, {0x7f800000, 0x3f800000}, 0x7f800000);
  expect_sum<std::uint32_t>(DType::float32, {0x3f800000, 0xff800000, 0x3f800000}, 0xff800000);
  expect_sum<std::uint16_t>(DType::float16, {0x7c00, 0x3c00}, 0x7c00);
  expect_sum<std::uint16_t>(DType::bfloat16, {0xff80, 0x3f80}, 0xff80);
}

// Expects that a sum is NaN; the bits of a NaN are not specified.
template <class T>
void expect_nan(DType dtype, const std::vector<T>& contributions, T exponent, T mantissa) {
  const auto taps = static_cast<std::int64_t>(contributions.size());
  const Fold op = {.output_size = {1}, .kernel_size = {taps}, .padding = {taps - 1}};
  std::vector<T> columns;
  for (const auto value : contributions) columns.insert(columns.end(), static_cast<std::size_t>(taps), value);
  const auto bytes = result_of(op, dtype, {1, taps, taps}, bytes_of(columns), {1, 1, 1});
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8 | std::to_integer<T>(bytes[i]));
  EXPECT_TRUE((value & exponent) == exponent && (value & mantissa) != 0) << name_of(dtype) << " 0x" << std::hex << value;
}

TEST(NanSums, StayNan) {
  expect_nan<std::uint32_t>(DType::float32, {0x7f800001}, 0x7f800000, 0x007fffff);
  expect_nan<std::uint32_t>(DType::float32, {0x3f800000, 0xffbfffff, 0x3f800000}, 0x7f800000, 0x007fffff);
  expect_nan<std::uint32_t>(DType::float32, {0x7f800000, 0xff800000}, 0x7f800000, 0x007fffff);
  expect_nan<std::uint16_t>(DType::float16, {0x7c01}, 0x7c00, 0x03ff);
  expect_nan<std::uint16_t>(DType::float16, {0x3c00, 0xfdff}, 0x7c00, 0x03ff);
  expect_nan<std::uint16_t>(DType::bfloat16, {0x7f81}, 0x7f80, 0x007f);
  expect_nan<std::uint16_t>(DType::bfloat16, {0x7fff, 0x3f80}, 0x7f80, 0x007f);
  expect_nan<std::uint64_t>(DType::float64, {0x7ff0000000000001}, 0x7ff0000000000000, 0x000fffffffffffff);
  expect_nan<std::uint64_t>(DType::float64, {0x7ff0000000000000, 0xfff0000000000000}, 0x7ff0000000000000,
                            0x000fffffffffffff);
}

// Tests that elements in the pads are dropped, even NaNs.
TEST(DroppedContributions, LeaveNoTrace) {
  const std::uint32_t one = 0x3f800000, two = 0x40000000, nan = 0x7fc00000;
  const Fold op = {.output_size = {2}, .kernel_size = {2}, .stride = 2, .padding = 1};
  expect_same<std::uint32_t>(op, DType::float32, {1, 2, 2}, {nan, two, one, nan}, {1, 1, 2}, {one, two});
}

template <class T>
void expect_accumulated(DType dtype, const std::vector<T>& columns, T held, T expected) {
  const auto taps = static_cast<std::int64_t>(columns.size());
  const Fold op = {.output_size = {taps}, .kernel_size = {taps}, .dilation = 0, .padding = {{0, 0}}, .accumulate = true};
  std::vector<T> all;
  for (const auto value : columns) all.insert(all.end(), static_cast<std::size_t>(taps), value);
  std::vector<T> image(static_cast<std::size_t>(taps), held);
  run(op, contiguous(static_cast<const void*>(all.data()), {1, taps, taps}, dtype),
      contiguous(image.data(), {1, 1, taps}, dtype));
  for (const auto& value : image)
    EXPECT_TRUE(bytes_of(&value, sizeof(T)) == bytes_of(&expected, sizeof(T))) << name_of(dtype);
}

TEST(Accumulate, AddsTheRoundedSumToWhatIsThere) {
  using U16 = std::uint16_t;
  expect_accumulated<float>(DType::float32, {1e8f, 1, -1e8f}, 0.5f, 0.5f);
  expect_accumulated<float>(DType::float32, {1, 2, 3}, 4, 10);
  expect_accumulated<U16>(DType::float16, {0x6800, 0x3c00}, 0x3c00, 0x6800);
  expect_accumulated<U16>(DType::float16, {0x6800, 0x3c00, 0x3c00}, 0x4000, 0x6802);
  expect_accumulated<U16>(DType::bfloat16, {0x4380, 0x3f80}, 0x3f80, 0x4380);
  expect_accumulated<std::int8_t>(DType::int8, {100, 27}, 1, -128);
  expect_accumulated<std::uint64_t>(DType::uint64, {1, 2}, 18446744073709551615u, 2);
  expect_accumulated<std::uint8_t>(DType::boolean, {0, 2}, 0, 1);
  expect_accumulated<std::uint8_t>(DType::boolean, {0, 0}, 1, 1);
  expect_accumulated<std::uint8_t>(DType::boolean, {0, 0}, 0, 0);
}

}  // namespace
}  // namespace patchfold::vectors
