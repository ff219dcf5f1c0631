// SPDX-License-Identifier: Apache-2.0
// Tests means of fold. Elements are summed in a wider type, the sum is divided by the number of elements, and the quotient
// is rounded once to nearest even. The mean of equal bits has these bits. Expected values were computed with Python's module
// fractions.
#include <complex>
#include <limits>
#include <random>

#include "contributions.hpp"

namespace patchfold::vectors {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
void expect_mean(DType dtype, const std::vector<T>& contributions, T expected) {
  expect_folded(FoldReduce::mean, dtype, contributions, expected);
}

TEST(Means, OfIntegersAreExactAndRoundHalvesToEven) {
  expect_mean<std::uint8_t>(DType::uint8, {255, 254, 253, 200}, 240);  // 240.5
  expect_mean<std::uint8_t>(DType::uint8, {255, 254, 253, 204}, 242);  // 241.5
  expect_mean<std::uint8_t>(DType::uint8, {255, 255, 254}, 255);
  expect_mean<std::uint8_t>(DType::uint8, {1, 0, 0, 0, 0, 2}, 0);  // 3 / 6 = 0.5
  expect_mean<std::int8_t>(DType::int8, {-128, -127}, -128);       // -127.5
  expect_mean<std::int8_t>(DType::int8, {-127, -126}, -126);       // -126.5
  expect_mean<std::int8_t>(DType::int8, {127, 127, 126, -128}, 63);
  expect_mean<std::uint16_t>(DType::uint16, {65535, 65535, 65534}, 65535);
  expect_mean<std::int16_t>(DType::int16, {-32768, -32768, 32767}, -10923);
  expect_mean<std::uint32_t>(DType::uint32, {4294967295u, 4294967295u, 4294967294u}, 4294967295u);
  expect_mean<std::uint32_t>(DType::uint32, {4294967295u, 4294967294u}, 4294967294u);
  expect_mean<std::int32_t>(DType::int32, {2147483647, 2147483646, -1}, 1431655764);
  constexpr std::uint64_t most = ~std::uint64_t{0};
  expect_mean<std::uint64_t>(DType::uint64, {most, most, most - 1}, most);
  expect_mean<std::uint64_t>(DType::uint64, {most, most - 1}, most - 1);
  expect_mean<std::uint64_t>(DType::uint64, {most, most, most, most, most, 0}, 15372286728091293012u);  // most * 5/6: ..12.5
  constexpr auto low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
  expect_mean<std::int64_t>(DType::int64, {low, low + 1}, low);
  expect_mean<std::int64_t>(DType::int64, {low, high}, 0);  // -0.5
  expect_mean<std::int64_t>(DType::int64, {low, low, high}, -3074457345618258603);
  expect_mean<std::int64_t>(DType::int64, {high, high, high, high - 2}, high - 1);  // high - 0.5
}

TEST(Means, OfBooleansAreTheMajoritys) {
  expect_mean<std::uint8_t>(DType::boolean, {1, 1, 0}, 1);
  expect_mean<std::uint8_t>(DType::boolean, {1, 0}, 0);
  expect_mean<std::uint8_t>(DType::boolean, {2, 0, 255}, 1);
  expect_mean<std::uint8_t>(DType::boolean, {2, 0, 0}, 0);
  expect_mean<std::uint8_t>(DType::boolean, {7, 7, 7}, 7);
  expect_mean<std::uint8_t>(DType::boolean, {255, 255}, 255);
}

TEST(Means, OfFloatsAreRoundedOnce) {
  expect_mean<U16>(DType::float16, {0x7bff, 0x7bff, 0x7bfe}, 0x7bff);          // the sum is beyond float16
  expect_mean<U16>(DType::float16, {0x0001, 0x0002}, 0x0002);                  // 1.5 times the smallest float16
  expect_mean<U16>(DType::float16, {0x0001, 0x0001, 0x0001, 0x8001}, 0x0000);  // half the smallest float16
  expect_mean<U16>(DType::float16, {0x6800, 0x3c00, 0x3c00}, 0x6157);          // 2050 / 3 = 683.33
  expect_mean<U16>(DType::bfloat16, {0x4380, 0x3f80, 0x3f80}, 0x42ac);         // 258 / 3 = 86
  expect_mean<U16>(DType::bfloat16, {0x7f7f, 0x7f7f, 0xff7f}, 0x7eaa);         // a third of the largest bfloat16
  expect_mean<float>(DType::float32, {1e8f, 1, -1e8f, 2}, 0.75f);              // float32 alone would lose the 1
  expect_mean<float>(DType::float32, {3.4028235e38f, 3.4028235e38f, 0}, 2.268549e38f);
  expect_mean<float>(DType::float32, {16777216, 16777216, 16777220}, 16777218);
  expect_mean<float>(DType::float32, {0x1p-149f, 0}, 0);
  expect_mean<float>(DType::float32, {0x1p-149f, 0x1p-148f}, 0x1p-148f);
  expect_mean<double>(DType::float64, {0.1, 0.2, 0.3}, 0.2);  // added in float64, they give a mean of 0.2000..03
  expect_mean<double>(DType::float64, {1e300, 1, -1e300}, 1.0 / 3);
  expect_mean<double>(DType::float64, {0x1p53, 1, 1, 0}, 0x1p51 + 0.5);
  expect_mean<double>(DType::float64, {0x1p-1074, 0}, 0);
  expect_mean<double>(DType::float64, {0x1p-1074, 0x1p-1073}, 0x1p-1073);
  const double most = std::numeric_limits<double>::max();
  expect_mean<double>(DType::float64, {most, most, 0}, 1.1984620899082105e308);  // the sum overflows
  expect_mean<double>(DType::float64, {most, most, most, -most}, most / 2);
  expect_mean<double>(DType::float64, {most, most, -most, -most, 3}, 0.6);
  using C64 = std::complex<float>;
  expect_mean<C64>(DType::complex64, {C64{1e8f, 3}, C64{1, 5}, C64{-1e8f, 7}, C64{2, 5}}, C64{0.75f, 5});
  using C128 = std::complex<double>;
  expect_mean<C128>(DType::complex128, {C128{0.1, 1}, C128{0.2, -1}, C128{0.3, 0}}, C128{0.2, 0});
}

TEST(Means, OfEqualBitsAreTheseBits) {
  for (const std::size_t count : {1, 2, 3, 5, 7, 9}) {
    for (const U16 bits : std::vector<U16>{0x8000, 0x0001, 0x3555, 0x7bff, 0xfc00, 0x7e01, 0xfd55, 0x7c01}) {
      expect_mean<U16>(DType::float16, std::vector<U16>(count, bits), bits);
      expect_mean<U16>(DType::bfloat16, std::vector<U16>(count, bits), bits);
    }
    for (const U32 bits :
         std::vector<U32>{0x80000000, 0x00000001, 0x3dcccccd, 0x7f7fffff, 0xff800000, 0x7fc00123, 0xffa00001})
      expect_mean<U32>(DType::float32, std::vector<U32>(count, bits), bits);
    for (const U64 bits : std::vector<U64>{0x8000000000000000, 0x0000000000000001, 0x3fb999999999999a, 0x7fefffffffffffff,
                                           0xfff0000000000000, 0x7ff8000000000123, 0xfff4000000000001})
      expect_mean<U64>(DType::float64, std::vector<U64>(count, bits), bits);
  }
  // Equal real or imaginary parts keep their bits even if the other parts differ.
  expect_mean<U64>(DType::complex64, {0x7fc0012300000000, 0x7fc001233f800000}, 0x7fc001233f000000);
}

TEST(Means, OfWhatIsNotFinite) {
  const U32 inf = 0x7f800000, minus = 0xff800000, nan = 0x7fc00000, one = 0x3f800000;
  expect_mean<U32>(DType::float32, {inf, one}, inf);
  expect_mean<U32>(DType::float32, {minus, one}, minus);
  expect_mean<U32>(DType::float32, {inf, minus}, nan);
  expect_mean<U32>(DType::float32, {0xffa00001, one}, nan);
  expect_mean<U32>(DType::float32, {0x7fc00123, 0x7fc00124}, nan);
  const U64 inf64 = 0x7ff0000000000000, most = 0xffefffffffffffff;
  expect_mean<U64>(DType::float64, {most, most, inf64}, inf64);  // the finite elements alone would overflow
  expect_mean<U64>(DType::float64, {inf64, 0xfff0000000000000}, 0x7ff8000000000000);
  expect_mean<U64>(DType::float64, {0xfff4000000000001, 0}, 0x7ff8000000000000);
  expect_mean<U16>(DType::float16, {0x7c00, 0x3c00}, 0x7c00);
  expect_mean<U16>(DType::bfloat16, {0xffc1, 0x3f80}, 0x7fc0);
  expect_mean<U32>(DType::float32, {0x80000000, 0x00000000}, 0x00000000);
}

TEST(Means, FillWhatNothingTouches) {
  const Fold op = {.output_size = {7}, .kernel_size = {2}, .stride = 3, .reduce = FoldReduce::mean};
  const std::vector<std::uint8_t> columns = {10, 30, 20, 40};
  expect_same<std::uint8_t>(op, DType::uint8, {1, 2, 2}, columns, {1, 1, 7}, {10, 20, 0, 30, 40, 0, 0});
  Fold filled = op;
  filled.fill = 255;
  expect_same<std::uint8_t>(filled, DType::uint8, {1, 2, 2}, columns, {1, 1, 7}, {10, 20, 255, 30, 40, 255, 255});
  filled.fill = -0.0;
  expect_same<U32>(filled, DType::float32, {1, 2, 2}, {1, 3, 2, 4}, {1, 1, 7}, {1, 2, 1u << 31, 3, 4, 1u << 31, 1u << 31});
  // Without positions, every element is the fill.
  expect_same<U32>(Fold{.output_size = {2}, .kernel_size = {5}, .reduce = FoldReduce::mean, .fill = 1.0}, DType::float32,
                   {1, 5, 0}, {}, {1, 1, 2}, {0x3f800000, 0x3f800000});
}

// Tests means of so many elements that their sum in float64 is not exact.
TEST(Means, OfVeryManyElements) {
  constexpr std::int64_t taps = (std::int64_t{1} << 20) + 3;
  const Fold op = {.output_size = {2}, .kernel_size = {taps}, .dilation = 0, .reduce = FoldReduce::mean};
  std::vector<std::uint32_t> integers(2 * taps);
  for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = i % 4 < 2 ? 4294967295u : 4294967293u;
  expect_same<std::uint32_t>(op, DType::uint32, {1, taps, 2}, integers, {1, 1, 2}, {4294967294u, 4294967294u});
  expect_same<float>(op, DType::float32, {1, taps, 2}, std::vector<float>(2 * taps, 0.1f), {1, 1, 2}, {0.1f, 0.1f});
  expect_same<double>(op, DType::float64, {1, taps, 2}, std::vector<double>(2 * taps, 0.1), {1, 1, 2}, {0.1, 0.1});
}

/// Returns an image of arbitrary bits.
std::vector<std::byte> noise(std::int64_t bytes, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> noise(static_cast<std::size_t>(bytes));
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random() >> 7);
  return noise;
}

TEST(Means, UndoUnfoldBitForBit) {
  const struct {
    Dims image, kernel, stride, dilation, padding;
  } geometries[] = {{{70}, {3}, {1}, {1}, {0}},
                    {{33, 41}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
                    {{35, 47}, {7, 7}, {4, 4}, {1, 1}, {0, 0}},
                    {{48, 64}, {16, 16}, {8, 8}, {1, 1}, {0, 0}},
                    {{36, 24}, {4, 4}, {4, 4}, {1, 1}, {0, 0}},
                    {{30, 26}, {4, 3}, {1, 1}, {2, 3}, {4, 2}},
                    {{9, 11, 13}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
                    {{4, 5, 4, 6}, {2, 2, 2, 2}, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}}};
  unsigned seed = 0;
  for (const DType dtype : dtypes()) {
    if (!is_summable(dtype)) continue;
    for (const auto& g : geometries)
      for (const Layout layout : {Layout::channels_first, Layout::channels_last}) {
        Dims shape = {2};
        if (layout == Layout::channels_first) shape.push_back(3);
        shape.append(g.image);
        if (layout == Layout::channels_last) shape.push_back(3);
        PadsList pads;
        for (const std::int64_t pad : g.padding) pads.push_back({pad, pad});
        const Unfold unfold = {
            .kernel_size = g.kernel, .stride = g.stride, .dilation = g.dilation, .padding = pads, .layout = layout};
        const Fold fold = {.output_size = g.image,
                           .kernel_size = g.kernel,
                           .stride = g.stride,
                           .dilation = g.dilation,
                           .padding = pads,
                           .layout = layout,
                           .reduce = FoldReduce::mean};
        const auto size = static_cast<std::int64_t>(size_of(dtype));
        const std::vector<std::byte> image = noise(element_count(shape) * size, ++seed);
        const Dims wide = unfold.output_shape(shape);
        std::vector<std::byte> columns(static_cast<std::size_t>(element_count(wide) * size)), back(image.size());
        run(unfold, contiguous(static_cast<const void*>(image.data()), shape, dtype),
            contiguous(columns.data(), wide, dtype));
        run(fold, contiguous(static_cast<const void*>(columns.data()), wide, dtype), contiguous(back.data(), shape, dtype));
        EXPECT_TRUE(back == image) << name_of(dtype) << ' ' << to_string(g.image) << ' ' << to_string(g.kernel);
      }
  }
}

TEST(Means, RefuseArgumentsOfSums) {
  const auto refused = [](const Fold& op) {
    try {
      op.output_shape({1, 4, 9});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const Fold op = {.output_size = {4, 4}, .kernel_size = {2, 2}};
  Fold onto = op;
  onto.accumulate = true;
  onto.reduce = FoldReduce::mean;
  EXPECT_EQ(
      refused(onto),
      "fold: accumulate: does not go with reduce mean: accumulate sums, and divide by the coverage at the end; given true, "
      "expected false");
  Fold filled = op;
  filled.fill = 3;
  EXPECT_EQ(refused(filled), "fold: fill: is for reduce mean: a sum of no elements is 0; given 3, expected 0");
  filled.fill = 0.0;
  EXPECT_EQ(refused(filled), "accepted");
}

}  // namespace
}  // namespace patchfold::vectors
