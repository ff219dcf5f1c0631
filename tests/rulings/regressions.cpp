// SPDX-License-Identifier: Apache-2.0
// Cases that users of other libraries reported as broken. Expected values of the data 1, 2, 3, .. come from a separate
// index-by-index program in Python unless the result must equal the data.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

// float16 sums lie within the stated bound of the exact sum.
TEST(Regressions, Float16SumsKeepTheirBound) {
  const std::int64_t taps = 9, extent = 200, positions = extent + taps - 1;
  const auto value = [](std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    return (bits >> 15 ? -1 : 1) * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
  };
  std::vector<std::uint16_t> columns;
  for (std::uint32_t i = 0; i < taps * positions; ++i) {
    auto x = (i + 1) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    columns.push_back(static_cast<std::uint16_t>((x >> 16 & 0x83ff) | (1 + (x >> 8 & 255) % 26) << 10));
  }
  const Fold op = {.output_size = {extent}, .kernel_size = {taps}, .padding = taps - 1};
  const auto image = result_of(op, DType::float16, {1, taps, positions}, bytes_of(columns), {1, 1, extent});
  for (std::int64_t y = 0; y < extent; ++y) {
    double exact = 0, magnitude = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const double x = value(columns[static_cast<std::size_t>(tap * positions + y + taps - 1 - tap)]);
      exact += x;  // exact: these sums need fewer than 53 bits
      magnitude += std::fabs(x);
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, &image[static_cast<std::size_t>(2 * y)], 2);
    const double n = static_cast<double>(taps), unit = std::ldexp(1, -24);
    const double ulp = std::ldexp(1, std::max((bits >> 10 & 31) - 25, -24));
    EXPECT_LE(std::fabs(value(bits) - exact), ulp / 2 + (n - 1) * unit * magnitude * (1 + n * unit)) << "pixel " << y;
  }
}

// Patches that neither overlap nor leave gaps: fold(unfold(x)) == x, bit for bit.
template <class T>
void expect_round_trip(const Dims& image, const Axes& window, const Padding& padding, const Dims& columns) {
  const Unfold unfold = {.kernel_size = window, .stride = window, .padding = padding};
  const Fold fold = {.output_size = image.slice(2, 4), .kernel_size = window, .stride = window, .padding = padding};
  std::vector<T> x(static_cast<std::size_t>(element_count(image)));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 2654435761u >> 7);
  std::vector<T> patches(static_cast<std::size_t>(element_count(columns))), back(x.size(), T{99});
  expect_shape(unfold, image, columns);
  expect_shape(fold, columns, image);
  run(unfold, view(x.data(), image), view(patches.data(), columns));
  run(fold, view(patches.data(), columns), view(back.data(), image));
  EXPECT_TRUE(x == back) << to_string(image) << ' ' << to_string(window);
}

// kornia dropped the rest of images that are not a multiple of the window.
TEST(Regressions, RoundTripOf1200x2040WithWindow256) {
  const Padding centred = {{40, 40}, {4, 4}}, at_the_end = {{0, 80}, {0, 8}};
  expect_round_trip<std::uint8_t>({1, 3, 1200, 2040}, 256, centred, {1, 196608, 40});
  expect_round_trip<std::uint8_t>({1, 3, 1200, 2040}, 256, at_the_end, {1, 196608, 40});
  expect_round_trip<float>({1, 1, 1200, 2040}, 256, centred, {1, 65536, 40});
}

// kornia failed on integer images with windows of 64 and more.
TEST(Regressions, RoundTripOfIntegerPatches) {
  for (const std::int64_t window : {64, 128, 512, 1024}) {
    const auto grid = 1024 / window;
    expect_round_trip<std::int32_t>({1, 3, 1024, 1024}, window, 0, {1, 3 * window * window, grid * grid});
  }
  expect_round_trip<std::uint8_t>({1, 3, 1024, 1024}, 64, 0, {1, 12288, 256});
  expect_round_trip<std::int64_t>({1, 1, 1024, 1024}, 256, 0, {1, 65536, 16});
}

// <unfold(x), y> == <x, fold(y)> in integers, and fold(unfold(1)) is the coverage.
TEST(Regressions, FoldIsTheAdjointOfUnfold) {
  const struct {
    Dims image, kernel, stride, dilation;
    PadsList pads;
    Dims columns;
  } cases[] = {{{2, 3, 7, 6}, {3, 2}, {2, 1}, {1, 2}, {{1, 0}, {2, 1}}, {2, 18, 21}},
               {{1, 2, 9}, {4}, {3}, {2}, {{2, 2}}, {1, 8, 3}},
               {{1, 1, 4, 5, 6}, {2, 3, 1}, {1, 2, 2}, {3, 1, 1}, {{0, 0}, {1, 1}, {0, 1}}, {1, 6, 12}}};
  for (const auto& test : cases) {
    const Unfold unfold = {
        .kernel_size = test.kernel, .stride = test.stride, .dilation = test.dilation, .padding = test.pads};
    const Fold fold = {.output_size = test.image.slice(2, test.image.size()),
                       .kernel_size = test.kernel,
                       .stride = test.stride,
                       .dilation = test.dilation,
                       .padding = test.pads};
    const auto x = iota(test.image, 5), y = iota(test.columns, -40);
    Ints unfolded(y.size()), folded(x.size()), ones(x.size(), 1), cover(x.size());
    run(unfold, view(x.data(), test.image), view(unfolded.data(), test.columns));
    run(fold, view(y.data(), test.columns), view(folded.data(), test.image));
    std::int64_t left = 0, right = 0;
    for (std::size_t i = 0; i < y.size(); ++i) left += unfolded[i] * y[i];
    for (std::size_t i = 0; i < x.size(); ++i) right += x[i] * folded[i];
    EXPECT_EQ(left, right) << to_string(test.image);

    run(unfold, view(ones.data(), test.image), view(unfolded.data(), test.columns));
    run(fold, view(unfolded.data(), test.columns), view(cover.data(), test.image));
    const auto pixels = static_cast<std::size_t>(element_count(fold.output_size));
    Ints counted(pixels);
    coverage({fold.output_size, test.kernel, test.stride, test.dilation, test.pads}, view(counted.data(), fold.output_size));
    for (std::size_t i = 0; i < cover.size(); ++i) EXPECT_EQ(cover[i], counted[i % pixels]) << to_string(test.image);
  }
}

}  // namespace
}  // namespace patchfold::vectors
