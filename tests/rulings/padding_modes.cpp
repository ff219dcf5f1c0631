// SPDX-License-Identifier: Apache-2.0
// The padding modes of unfold equal the modes of numpy.pad, also for pads larger than the extent. With a kernel of 1 the columns
// are the padded image; the expected numbers are the result of numpy.pad 2.4 for 1, 2, 3, ..
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

const struct {
  std::int64_t extent;
  Pads pads;
  std::string expected[4];  ///< one digit an element: edge, reflect, symmetric, wrap
} cases[] = {
    {1, {3, 5}, {"111111111", "111111111", "111111111", "111111111"}},
    {1, {11, 0}, {"111111111111", "111111111111", "111111111111", "111111111111"}},
    {1, {0, 7}, {"11111111", "11111111", "11111111", "11111111"}},
    {1, {1, 1}, {"111", "111", "111", "111"}},
    {2, {3, 5}, {"1111222222", "2121212121", "2211221122", "2121212121"}},
    {2, {11, 0}, {"1111111111112", "2121212121212", "2211221122112", "2121212121212"}},
    {2, {0, 7}, {"122222222", "121212121", "122112211", "121212121"}},
    {2, {1, 1}, {"1122", "2121", "1122", "2121"}},
    {3, {3, 5}, {"11112333333", "23212321232", "32112332112", "12312312312"}},
    {3, {11, 0}, {"11111111111123", "23212321232123", "23321123321123", "23123123123123"}},
    {3, {0, 7}, {"1233333333", "1232123212", "1233211233", "1231231231"}},
    {3, {1, 1}, {"11233", "21232", "11233", "31231"}},
    {4, {3, 5}, {"111123444444", "432123432123", "321123443211", "234123412341"}},
    {4, {11, 0}, {"111111111111234", "234321234321234", "321123443211234", "234123412341234"}},
    {4, {0, 7}, {"12344444444", "12343212343", "12344321123", "12341234123"}},
    {4, {1, 1}, {"112344", "212343", "112344", "412341"}},
};

void expect_padded(PaddingMode mode, std::size_t column) {
  for (const auto& [extent, pads, all] : cases) {
    Ints expected;
    for (const char digit : all[column]) expected.push_back(digit - '0');
    const auto total = extent + pads.begin + pads.end;
    const Unfold op = {.kernel_size = {1}, .padding = PadsList{pads}, .padding_mode = mode};
    expect_iota(op, {1, 1, extent}, {1, 1, total}, expected);
    expect_moved(op, {1, 1, extent}, {1, 1, total}, expected);
    const Unfold tall = {.kernel_size = {1, 1}, .padding = PadsList{pads, {0, 0}}, .padding_mode = mode};
    expect_iota(tall, {1, 1, extent, 1}, {1, 1, total}, expected);
  }
}

TEST(PaddingModes, Edge) {
  expect_padded(PaddingMode::edge, 0);
}

TEST(PaddingModes, Reflect) {
  expect_padded(PaddingMode::reflect, 1);
}

TEST(PaddingModes, Symmetric) {
  expect_padded(PaddingMode::symmetric, 2);
}

TEST(PaddingModes, Wrap) {
  expect_padded(PaddingMode::wrap, 3);
}

TEST(PaddingModes, OnTwoAxes) {
  const auto op = [](PaddingMode mode) {
    return Unfold{.kernel_size = 1, .padding = {{1, 3}, {4, 0}}, .padding_mode = mode};
  };
  const Dims in = {1, 1, 2, 3}, out = {1, 1, 42};
  expect_iota(op(PaddingMode::edge), in, out, {1, 1, 1, 1, 1, 2, 3, 1, 1, 1, 1, 1, 2, 3, 4, 4, 4, 4, 4, 5, 6,
                                               4, 4, 4, 4, 4, 5, 6, 4, 4, 4, 4, 4, 5, 6, 4, 4, 4, 4, 4, 5, 6});
  expect_iota(op(PaddingMode::reflect), in, out, {4, 5, 6, 5, 4, 5, 6, 1, 2, 3, 2, 1, 2, 3, 4, 5, 6, 5, 4, 5, 6,
                                                  1, 2, 3, 2, 1, 2, 3, 4, 5, 6, 5, 4, 5, 6, 1, 2, 3, 2, 1, 2, 3});
  expect_iota(op(PaddingMode::symmetric), in, out, {3, 3, 2, 1, 1, 2, 3, 3, 3, 2, 1, 1, 2, 3, 6, 6, 5, 4, 4, 5, 6,
                                                    6, 6, 5, 4, 4, 5, 6, 3, 3, 2, 1, 1, 2, 3, 3, 3, 2, 1, 1, 2, 3});
  expect_iota(op(PaddingMode::wrap), in, out, {6, 4, 5, 6, 4, 5, 6, 3, 1, 2, 3, 1, 2, 3, 6, 4, 5, 6, 4, 5, 6,
                                               3, 1, 2, 3, 1, 2, 3, 6, 4, 5, 6, 4, 5, 6, 3, 1, 2, 3, 1, 2, 3});
}

TEST(PaddingModes, WithKernelStrideAndDilation) {
  const auto op = [](PaddingMode mode) {
    return Unfold{
        .kernel_size = {2, 3}, .stride = {2, 1}, .dilation = {1, 2}, .padding = {{2, 1}, {1, 2}}, .padding_mode = mode};
  };
  const Dims in = {1, 1, 3, 4}, out = {1, 6, 9};
  expect_iota(op(PaddingMode::constant), in, out,
              {0, 0, 0, 0, 1, 2, 0, 9, 10, 0, 0, 0, 2, 3, 4, 10, 11, 12, 0, 0, 0, 4, 0, 0, 12, 0, 0,
               0, 0, 0, 0, 5, 6, 0, 0, 0,  0, 0, 0, 6, 7, 8, 0,  0,  0,  0, 0, 0, 8, 0, 0, 0,  0, 0});
  expect_iota(op(PaddingMode::edge), in, out,
              {1, 1, 2, 1, 1, 2, 9, 9, 10, 2, 3, 4, 2, 3, 4, 10, 11, 12, 4, 4, 4, 4, 4, 4, 12, 12, 12,
               1, 1, 2, 5, 5, 6, 9, 9, 10, 2, 3, 4, 6, 7, 8, 10, 11, 12, 4, 4, 4, 8, 8, 8, 12, 12, 12});
  expect_iota(op(PaddingMode::reflect), in, out,
              {10, 9, 10, 2, 1, 2, 10, 9, 10, 10, 11, 12, 2, 3, 4, 10, 11, 12, 12, 11, 10, 4, 3, 2, 12, 11, 10,
               6,  5, 6,  6, 5, 6, 6,  5, 6,  6,  7,  8,  6, 7, 8, 6,  7,  8,  8,  7,  6,  8, 7, 6, 8,  7,  6});
  expect_iota(op(PaddingMode::symmetric), in, out,
              {5, 5, 6, 1, 1, 2, 9, 9, 10, 6, 7, 8, 2, 3, 4, 10, 11, 12, 8, 8, 7, 4, 4, 3, 12, 12, 11,
               1, 1, 2, 5, 5, 6, 9, 9, 10, 2, 3, 4, 6, 7, 8, 10, 11, 12, 4, 4, 3, 8, 8, 7, 12, 12, 11});
  expect_iota(op(PaddingMode::wrap), in, out,
              {8,  5, 6,  4, 1, 2, 12, 9, 10, 6,  7,  8,  2, 3, 4, 10, 11, 12, 8,  5, 6,  4, 1, 2, 12, 9, 10,
               12, 9, 10, 8, 5, 6, 4,  1, 2,  10, 11, 12, 6, 7, 8, 2,  3,  4,  12, 9, 10, 8, 5, 6, 4,  1, 2});
}

TEST(PaddingModes, NeedData) {
  for (const auto mode : {PaddingMode::edge, PaddingMode::reflect, PaddingMode::symmetric, PaddingMode::wrap}) {
    const Unfold op = {.kernel_size = {1}, .padding = {{1, 1}}, .padding_mode = mode};
    expect_error(op, {1, 1, 0}, {ErrorCode::value, ErrorCode::shape});
  }
}

TEST(PaddingModes, SymmetricAndWrapOfSamePadding) {
  // There are ceil(4 / 1) positions, so the total padding is 2: one element at each end.
  const auto op = [](PaddingMode mode) {
    return Unfold{.kernel_size = {3}, .padding = Padding::same_upper, .padding_mode = mode};
  };
  expect_iota(op(PaddingMode::symmetric), {1, 1, 4}, {1, 3, 4}, {1, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 4});
  expect_iota(op(PaddingMode::wrap), {1, 1, 4}, {1, 3, 4}, {4, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 1});
}

}  // namespace
}  // namespace patchfold::vectors
