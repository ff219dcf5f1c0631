// SPDX-License-Identifier: Apache-2.0
// Tests --as, the conversion of the input.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>

#include "patchfold/tensor.hpp"
#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

/// Returns `in` converted to `type`. The operator moves nothing, so only the conversion changes the data.
Npy as(const Npy& in, const std::string& type, const std::string& options = "") {
  const Folder folder;
  folder.write("in.npy", npy_bytes(in));
  const Outcome outcome = folder.run("run reorder in.npy --kernel_size 1,1 --as " + type + " " + options + " -o out.npy");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return npy_of(folder.read("out.npy"));
}

template <class To, class From>
std::vector<To> converted(const std::string& descr, const std::vector<From>& values, const std::string& type,
                          const std::string& options = "") {
  return as(npy(descr, {1, 1, static_cast<std::int64_t>(values.size())}, values), type, options).template elements<To>();
}

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Convert, FloatsRoundToEvenAndClipToIntegers) {
  const std::vector<double> values = {0.5, 1.5, 2.5, -0.5, -1.5, 254.5, 255.5, 1e300, -1e300, inf, -inf, nan};
  EXPECT_EQ((converted<std::uint8_t>("<f8", values, "uint8")),
            (std::vector<std::uint8_t>{0, 2, 2, 0, 0, 254, 255, 255, 0, 255, 0, 0}));
  EXPECT_EQ((converted<std::int8_t>("<f8", values, "int8")),
            (std::vector<std::int8_t>{0, 2, 2, 0, -2, 127, 127, 127, -128, 127, -128, 0}));
  EXPECT_EQ((converted<std::int64_t>("<f8", std::vector<double>{0x1p63, -0x1p63, 0x1p62, nan}, "int64")),
            (std::vector<std::int64_t>{INT64_MAX, INT64_MIN, std::int64_t{1} << 62, 0}));
  EXPECT_EQ((converted<std::uint64_t>("<f8", std::vector<double>{0x1p64, -1, 0x1p63}, "uint64")),
            (std::vector<std::uint64_t>{UINT64_MAX, 0, std::uint64_t{1} << 63}));
}

TEST(Convert, IntegersClip) {
  EXPECT_EQ((converted<std::int8_t>("<i8", std::vector<std::int64_t>{-1000, -128, 127, 128}, "int8")),
            (std::vector<std::int8_t>{-128, -128, 127, 127}));
  EXPECT_EQ((converted<std::uint64_t>("<i8", std::vector<std::int64_t>{-1, INT64_MAX}, "uint64")),
            (std::vector<std::uint64_t>{0, INT64_MAX}));
  EXPECT_EQ((converted<std::int64_t>("<u8", std::vector<std::uint64_t>{UINT64_MAX, 5}, "int64")),
            (std::vector<std::int64_t>{INT64_MAX, 5}));
  EXPECT_EQ((converted<std::int64_t>("<i4", std::vector<std::int32_t>{INT32_MIN, 7}, "i64")),
            (std::vector<std::int64_t>{INT32_MIN, 7}));
  EXPECT_EQ((converted<float>("<u8", std::vector<std::uint64_t>{UINT64_MAX, 3}, "float32")),
            (std::vector<float>{0x1p64f, 3}));
}

TEST(Convert, AnythingButZeroIsTrue) {
  EXPECT_EQ((converted<std::uint8_t>("<f8", std::vector<double>{0, -0.0, 0.1, nan}, "bool")),
            (std::vector<std::uint8_t>{0, 0, 1, 1}));
  EXPECT_EQ((converted<float>("|b1", std::vector<std::uint8_t>{0, 1, 2}, "float32")), (std::vector<float>{0, 1, 1}));
}

TEST(Convert, FloatsRoundAsTheProcessorDoes) {
  const std::vector<double> values = {0.1, 1e300, -1e-300, 1e-45, inf, -0.0};
  const auto floats = converted<float>("<f8", values, "float32");
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(floats[i]), std::bit_cast<std::uint32_t>(static_cast<float>(values[i])))
        << values[i];
  EXPECT_EQ((converted<std::complex<float>>("<f8", std::vector<double>{1.5, -2}, "complex64")),
            (std::vector<std::complex<float>>{{1.5F, 0}, {-2, 0}}));
  EXPECT_EQ((converted<std::complex<double>>("<c8", std::vector<std::complex<float>>{{1, 2}}, "complex128")),
            (std::vector<std::complex<double>>{{1, 2}}));
}

TEST(Convert, SmallFloatsRoundToEven) {
  // 65504 is the largest float16, and 65520 rounds to infinity. 2^-24 is the smallest float16 above zero, and its half
  // rounds to zero.
  EXPECT_EQ((converted<std::uint16_t>("<f8",
                                      std::vector<double>{1, 65504, 65519.99, 65520, 0x1p-24, 0x1p-25, 0x1.8p-25,
                                                          1 + 0x1p-11, 1 + 0x3p-11, -0.0, nan},
                                      "float16")),
            (std::vector<std::uint16_t>{0x3c00, 0x7bff, 0x7bff, 0x7c00, 1, 0, 1, 0x3c00, 0x3c02, 0x8000, 0x7e00}));
  EXPECT_EQ(
      (converted<std::uint16_t>("<f8", std::vector<double>{1, 1 + 0x1p-8, 1 + 0x3p-8, 3.4e38, 1e39, 0x1p-133}, "bfloat16")),
      (std::vector<std::uint16_t>{0x3f80, 0x3f80, 0x3f82, 0x7f80, 0x7f80, 1}));
  EXPECT_EQ((converted<std::uint8_t>("<f8", std::vector<double>{1, 448, 1000, -inf, nan, 0x1p-9, 0x1p-10}, "float8_e4m3fn")),
            (std::vector<std::uint8_t>{0x38, 0x7e, 0x7e, 0xfe, 0x7f, 1, 0}));
  EXPECT_EQ((converted<std::uint8_t>("<f8", std::vector<double>{1, 240, 1000, -0.0, nan}, "float8_e4m3fnuz")),
            (std::vector<std::uint8_t>{0x40, 0x7f, 0x7f, 0, 0x80}));
  EXPECT_EQ((converted<std::uint8_t>("<f8", std::vector<double>{1, 57344, 61439, 61440, -1e9, inf, -inf}, "float8_e5m2")),
            (std::vector<std::uint8_t>{0x3c, 0x7b, 0x7b, 0x7c, 0xfc, 0x7c, 0xfc}));
  EXPECT_EQ((converted<std::uint8_t>("<f8", std::vector<double>{1, 57344, inf, nan}, "float8_e5m2fnuz")),
            (std::vector<std::uint8_t>{0x40, 0x7f, 0x7f, 0x80}));
}

/// Tests that every pattern of every small type survives the conversion to float64 and back.
TEST(Convert, SmallFloatsSurviveTheWayThereAndBack) {
  for (const char* type : {"float16", "bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"}) {
    SCOPED_TRACE(type);
    const bool wide = std::string_view(type).ends_with("16");
    std::string data;
    for (std::size_t bits = 0; bits < (wide ? 65536U : 256U); ++bits) {
      data += static_cast<char>(bits & 255);
      if (wide) data += static_cast<char>(bits >> 8);
    }
    const std::int64_t count = wide ? 65536 : 256;
    const auto values = as({wide ? "|V2" : "|V1", {1, 1, count}, data}, "float64", std::string("--dtype ") + type);
    const std::string again = as(values, type).data;
    const auto doubles = values.elements<double>();
    const std::size_t size = wide ? 2 : 1;
    for (std::size_t i = 0; i < doubles.size(); ++i)
      if (!std::isnan(doubles[i]) && again.substr(i * size, size) != data.substr(i * size, size))
        ADD_FAILURE() << i << ' ' << doubles[i];
    const auto nans = std::count_if(doubles.begin(), doubles.end(), [](double value) { return std::isnan(value); });
    EXPECT_EQ(nans, std::string_view(type) == "float16"         ? 2046
                    : std::string_view(type) == "bfloat16"      ? 254
                    : std::string_view(type) == "float8_e4m3fn" ? 2
                    : std::string_view(type) == "float8_e5m2"   ? 6
                                                                : 1);
  }
}

/// Converts every type to and from four types. Each of these four takes its own path through the converter.
TEST(Convert, EveryTypeToEveryType) {
  const Folder folder;
  const auto is_complex = [](DType dtype) { return dtype == DType::complex64 || dtype == DType::complex128; };
  folder.write("in.npy", npy_bytes(npy<std::uint8_t>("|u1", {1, 1, 3}, {0, 1, 2})));
  for (const DType way : {DType::int64, DType::uint64, DType::float64, DType::complex128}) {
    const std::string way_name(name_of(way));
    EXPECT_EQ(folder.run("run reorder in.npy --kernel_size 1,1 -o way.npy --as " + way_name).code, 0);
    for (const DType type : dtypes()) {
      if (type == DType::opaque) continue;
      SCOPED_TRACE(way_name + ' ' + std::string(name_of(type)));
      const std::string name(name_of(type));
      const Outcome there = folder.run("run reorder way.npy --kernel_size 1,1 -o there.npy --as " + name);
      EXPECT_EQ(there.code, is_complex(way) && !is_complex(type) ? 1 : 0) << there.err;
      if (there.code != 0) continue;
      EXPECT_EQ(npy_of(folder.read("there.npy")).data.size(), 3 * size_of(type));
      const Outcome back =
          folder.run("run reorder there.npy --kernel_size 1,1 -o back.npy --dtype " + name + " --as " + way_name);
      EXPECT_EQ(back.code, is_complex(type) && !is_complex(way) ? 1 : 0) << back.err;
      if (back.code != 0 || type == DType::boolean) continue;
      EXPECT_EQ(folder.read("back.npy"), folder.read("way.npy"));
    }
  }
}

TEST(Convert, KeepsTheOrderOfTheAxes) {
  const Folder folder;
  Npy in = npy<std::int16_t>("<i2", {1, 2, 3}, {1, 4, 2, 5, 3, 6});
  in.fortran_order = true;
  folder.write("in.npy", npy_bytes(in));
  EXPECT_EQ(folder.run("run reorder in.npy --kernel_size 1,1 --as float32 -o out.npy").code, 0);
  EXPECT_EQ(npy_of(folder.read("out.npy")).elements<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Convert, LargeTensorsInManyPieces) {
  std::vector<std::uint16_t> values(1'000'003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i);
  const auto floats = converted<float>("<u2", values, "float32");
  ASSERT_EQ(floats.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(floats[i], static_cast<float>(values[i])) << i;
}

TEST(Convert, WhatIsNoNumberIsRefused) {
  const Folder folder;
  folder.write("in.npy", npy_bytes({"|S4", {1, 1, 1}, "abcd"}));
  const Outcome outcome = folder.run("run reorder in.npy --kernel_size 1,1 --as float32 -o out.npy");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("--as: in.npy: cannot be converted to float32; given "), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace patchfold::cli_test
