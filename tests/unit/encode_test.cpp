// SPDX-License-Identifier: Apache-2.0
#include "tensor/encode.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "base/small_float.hpp"
#include "float_control.hpp"
#include "kernels/half.hpp"
#include "patchfold/error.hpp"

namespace patchfold {
namespace {

std::uint64_t bits_of(const Scalar& scalar, DType dtype) {
  const auto bytes = encode(scalar, dtype, "op", "value");
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), std::min<std::size_t>(8, size_of(dtype)));
  return bits;
}

bool refused(const Scalar& scalar, DType dtype) {
  try {
    encode(scalar, dtype, "op", "value");
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::value);
    EXPECT_EQ(error.argument(), "value");
    return true;
  }
}

TEST(Encode, HoldsIntegersExactlyOrRefuses) {
  EXPECT_EQ(bits_of(-1, DType::int8), 0xffu);
  EXPECT_EQ(bits_of(255, DType::uint8), 0xffu);
  EXPECT_TRUE(refused(256, DType::uint8));
  EXPECT_TRUE(refused(-1, DType::uint64));
  EXPECT_TRUE(refused(-129, DType::int8));
  EXPECT_TRUE(refused(1.5, DType::int32));
  EXPECT_EQ(bits_of(3.0, DType::int32), 3u);
  EXPECT_TRUE(refused(std::nan(""), DType::int64));
  EXPECT_TRUE(refused(9223372036854775808.0, DType::int64));
  EXPECT_EQ(bits_of(-9223372036854775808.0, DType::int64), 0x8000000000000000u);
  EXPECT_EQ(bits_of(std::numeric_limits<std::uint64_t>::max(), DType::uint64), ~std::uint64_t{0});
  EXPECT_TRUE(refused(std::numeric_limits<std::uint64_t>::max(), DType::int64));
}

TEST(Encode, RoundsSmallFloatsToNearestEven) {
  EXPECT_EQ(bits_of(1.0, DType::float16), 0x3c00u);
  EXPECT_EQ(bits_of(65504.0, DType::float16), 0x7bffu);
  EXPECT_EQ(bits_of(65520.0, DType::float16), 0x7c00u);
  EXPECT_EQ(bits_of(std::ldexp(1.0, -24), DType::float16), 1u);
  EXPECT_EQ(bits_of(std::ldexp(1.0, -25), DType::float16), 0u);
  EXPECT_EQ(bits_of(std::ldexp(1.5, -25), DType::float16), 1u);
  EXPECT_EQ(bits_of(-0.0, DType::float16), 0x8000u);
  EXPECT_EQ(bits_of(1.0, DType::bfloat16), 0x3f80u);
  EXPECT_EQ(bits_of(1.00390625, DType::bfloat16), 0x3f80u);  // halfway between two bfloat16: the even one
}

TEST(Encode, KnowsTheFloat8Formats) {
  // The expected bits are from the OCP 8-bit floating-point specification and from ml_dtypes.
  EXPECT_EQ(bits_of(1.0, DType::float8_e4m3fn), 0x38u);
  EXPECT_EQ(bits_of(448.0, DType::float8_e4m3fn), 0x7eu);
  EXPECT_TRUE(refused(480.0, DType::float8_e4m3fn));
  EXPECT_TRUE(refused(INFINITY, DType::float8_e4m3fn));
  EXPECT_EQ(bits_of(std::nan(""), DType::float8_e4m3fn) & 0x7f, 0x7fu);
  EXPECT_EQ(bits_of(1.0, DType::float8_e4m3fnuz), 0x40u);
  EXPECT_EQ(bits_of(240.0, DType::float8_e4m3fnuz), 0x7fu);
  EXPECT_EQ(bits_of(-0.0, DType::float8_e4m3fnuz), 0x00u);
  EXPECT_EQ(bits_of(std::nan(""), DType::float8_e4m3fnuz), 0x80u);
  EXPECT_EQ(bits_of(1.0, DType::float8_e5m2), 0x3cu);
  EXPECT_EQ(bits_of(57344.0, DType::float8_e5m2), 0x7bu);
  EXPECT_EQ(bits_of(-INFINITY, DType::float8_e5m2), 0xfcu);
  EXPECT_EQ(bits_of(1.0, DType::float8_e5m2fnuz), 0x40u);
  EXPECT_EQ(bits_of(std::ldexp(1.0, -9), DType::float8_e4m3fn), 1u);
}

TEST(Encode, BeyondTheLargestNumberLiesInfinityIfTheTypeHasIt) {
  const struct {
    DType dtype;
    double largest, half_way;
    std::uint64_t largest_bits, infinity;
  } types[] = {{DType::float16, 65504, 65520, 0x7bff, 0x7c00},
               {DType::bfloat16, 0x1.fep127, 0x1.ffp127, 0x7f7f, 0x7f80},
               {DType::float8_e5m2, 57344, 61440, 0x7b, 0x7c},
               {DType::float32, 0x1.fffffep127, 0x1.ffffffp127, 0x7f7fffff, 0x7f800000}};
  for (const auto& type : types) {
    EXPECT_EQ(bits_of(type.largest, type.dtype), type.largest_bits) << name_of(type.dtype);
    EXPECT_EQ(bits_of(std::nextafter(type.half_way, 0), type.dtype), type.largest_bits) << name_of(type.dtype);
    EXPECT_EQ(bits_of(type.half_way, type.dtype), type.infinity) << name_of(type.dtype);
    EXPECT_EQ(bits_of(1e300, type.dtype), type.infinity) << name_of(type.dtype);
    EXPECT_EQ(bits_of(INFINITY, type.dtype), type.infinity) << name_of(type.dtype);
  }
  const struct {
    DType dtype;
    double largest, beyond;
    std::uint64_t largest_bits;
  } finite[] = {{DType::float8_e4m3fn, 448, 0x1.d000000000001p8, 0x7e},
                {DType::float8_e4m3fnuz, 240, 248, 0x7f},
                {DType::float8_e5m2fnuz, 57344, 61440, 0x7f}};
  for (const auto& type : finite) {
    EXPECT_EQ(bits_of(type.largest, type.dtype), type.largest_bits) << name_of(type.dtype);
    EXPECT_EQ(bits_of(std::nextafter(type.beyond, 0), type.dtype), type.largest_bits) << name_of(type.dtype);
    EXPECT_TRUE(refused(type.beyond, type.dtype)) << name_of(type.dtype);
    EXPECT_TRUE(refused(-INFINITY, type.dtype)) << name_of(type.dtype);
  }
}

TEST(Encode, KeepsTheSignAndThePayloadOfANaN) {
  const auto nan = std::bit_cast<double>(std::uint64_t{0xfff4000020000000});
  EXPECT_EQ(bits_of(nan, DType::float64), 0xfff4000020000000u);
  EXPECT_EQ(bits_of(nan, DType::float32), 0xffe00001u);
  EXPECT_EQ(bits_of(nan, DType::float16), 0xfe00u);
  EXPECT_EQ(bits_of(nan, DType::bfloat16), 0xffc0u);
}

/// Returns the bytes of the scalar in the type, or nothing if encode() refuses the scalar.
std::optional<std::array<std::byte, 16>> outcome(const Scalar& scalar, DType dtype) {
  try {
    return encode(scalar, dtype, "op", "value");
  } catch (const Error&) {
    return std::nullopt;
  }
}

TEST(Encode, TheCallersFloatingPointEnvironmentDoesNotMatter) {
  std::vector<Scalar> scalars;
  for (const double value : {0.0,
                             0.1,
                             1.0 / 3,
                             1.5,
                             3.0,
                             255.0,
                             447.9,
                             463.9,
                             464.0,
                             464.1,
                             2049.5,
                             57345.0,
                             61439.9,
                             61440.0,
                             65519.9,
                             65520.0,
                             0x1.000001p0,
                             0x1.fffffefp127,
                             0x1.ffffffp127,
                             1e-8,
                             0x1.1p-25,
                             0x1p-133,
                             0x1.8p-134,
                             0x1.1p-150,
                             1e-40,
                             1e-310,
                             5e-324,
                             1e300,
                             double{INFINITY},
                             std::nan("")})
    for (const double sign : {1.0, -1.0}) {
      scalars.emplace_back(sign * value);
      scalars.emplace_back(std::complex<double>(sign * value, 0.1));
      scalars.emplace_back(std::complex<double>(0, sign * value));
    }
  for (const std::uint64_t value :
       {std::uint64_t{3}, std::uint64_t{16777217}, std::uint64_t{9007199254740993}, std::uint64_t{9007199254740995},
        std::uint64_t{0x7ffffffffffffbff}, std::uint64_t{0x7ffffffffffffe00}, std::uint64_t{0x8000000000000401},
        ~std::uint64_t{0}}) {
    scalars.emplace_back(value);
    scalars.emplace_back(static_cast<std::int64_t>(value));
    scalars.emplace_back(-static_cast<std::int64_t>(value >> 1));
  }
  const std::uint64_t control = testing::float_control();
  for (const DType dtype : dtypes())
    for (const Scalar& scalar : scalars) {
      const auto expected = outcome(scalar, dtype);
      for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(mode);
        testing::set_float_control(testing::float_control() | testing::odd_floats);
        const auto made = outcome(scalar, dtype);
        testing::set_float_control(control);
        std::fesetround(FE_TONEAREST);
        EXPECT_EQ(made, expected) << to_string(scalar) << " as " << name_of(dtype) << " in rounding mode " << mode;
      }
    }
}

TEST(Encode, TakesComplexNumbersForComplexTypesOnly) {
  const auto bytes = encode(std::complex<double>(1, -2), DType::complex64, "op", "value");
  float parts[2];
  std::memcpy(parts, bytes.data(), sizeof parts);
  EXPECT_EQ(parts[0], 1.0f);
  EXPECT_EQ(parts[1], -2.0f);
  EXPECT_TRUE(refused(std::complex<double>(0, 1), DType::float32));
  EXPECT_EQ(bits_of(std::complex<double>(0, 1), DType::boolean), 1u);
}

TEST(Encode, FillsOpaqueElementsWithZerosOnly) {
  EXPECT_FALSE(refused(0, DType::opaque));
  EXPECT_TRUE(refused(1, DType::opaque));
}

}  // namespace
}  // namespace patchfold

namespace patchfold::kernels {
namespace {

/// Returns the value of a float16, computed from its sign, exponent and mantissa.
double value_of(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double magnitude = exponent == 31  ? (mantissa ? std::nan("") : INFINITY)
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Float16, WidensEveryValueExactly) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float wide = float16_to_float(half);
    if (std::isnan(value_of(half))) {
      EXPECT_TRUE(std::isnan(wide)) << bits;
      continue;
    }
    ASSERT_EQ(static_cast<double>(wide), value_of(half)) << bits;
    ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0) << bits;
    ASSERT_EQ(float_to_float16(wide), half) << bits;
  }
}

TEST(Float16, RoundsToNearestEvenBetweenEveryTwoNeighbours) {
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);  // after the largest comes infinity, which counts as 2^16
    const double top = high == 0x7c00 ? 65536.0 : value_of(high);
    const auto middle = static_cast<float>((value_of(low) + top) / 2);
    const std::uint16_t even = bits % 2 == 0 ? low : high;
    ASSERT_EQ(float_to_float16(middle), even) << bits;
    ASSERT_EQ(float_to_float16(std::nextafter(middle, 0.0f)), low) << bits;
    ASSERT_EQ(float_to_float16(std::nextafter(middle, INFINITY)), high) << bits;
    ASSERT_EQ(float_to_float16(-middle), even | 0x8000) << bits;
  }
  EXPECT_EQ(float_to_float16(INFINITY), 0x7c00);
  EXPECT_EQ(float_to_float16(3e38f), 0x7c00);
  EXPECT_GT(float_to_float16(std::nanf("")) & 0x7fff, 0x7c00);
  // A NaN whose payload is only in the discarded bits must not become infinity.
  EXPECT_GT(float_to_float16(std::bit_cast<float>(0x7f800001u)) & 0x7fff, 0x7c00);
}

TEST(Halves, AgreeWithTheConversionOfEverySmallFloat) {
  for (std::uint64_t pattern = 0; pattern < std::uint64_t{1} << 32; pattern += 1021) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
    if (std::isnan(value)) continue;  // other tests check NaN
    ASSERT_EQ(float_to_float16(value), encode(Float16::format, value)) << value;
    ASSERT_EQ(float_to_bfloat16(value), encode(Bfloat16::format, value)) << value;
  }
}

TEST(Bfloat16, RoundsToNearestEvenBetweenEveryTwoNeighbours) {
  for (std::uint32_t bits = 0; bits < 0x7f80; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    ASSERT_EQ(float_to_bfloat16(bfloat16_to_float(low)), low);
    const auto middle = std::bit_cast<float>(bits << 16 | 0x8000u);
    ASSERT_EQ(float_to_bfloat16(middle), bits % 2 == 0 ? low : high) << bits;
    ASSERT_EQ(float_to_bfloat16(std::bit_cast<float>(bits << 16 | 0x7fffu)), low) << bits;
    ASSERT_EQ(float_to_bfloat16(std::bit_cast<float>(bits << 16 | 0x8001u)), high) << bits;
  }
  EXPECT_GT(float_to_bfloat16(std::bit_cast<float>(0x7f800001u)) & 0x7fff, 0x7f80);
  EXPECT_EQ(float_to_bfloat16(-INFINITY), 0xff80);
}

}  // namespace
}  // namespace patchfold::kernels
