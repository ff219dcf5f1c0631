// SPDX-License-Identifier: Apache-2.0
#include "tensor/encode.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

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
  EXPECT_EQ(bits_of(1.00390625, DType::bfloat16), 0x3f80u);  // halfway, to even
}

TEST(Encode, KnowsTheFloat8Formats) {
  // Values of the OCP 8-bit floating-point specification and of ml_dtypes.
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
