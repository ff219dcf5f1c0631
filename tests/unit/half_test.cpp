// SPDX-License-Identifier: Apache-2.0
#include "kernels/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/small_float.hpp"

namespace patchfold::kernels {
namespace {

/// Returns the value of a float16 by its definition.
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
    const auto high = static_cast<std::uint16_t>(bits + 1);  // after the largest comes infinity, as if it were 2^16
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
    if (std::isnan(value)) continue;  // sums keep payloads
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
