// SPDX-License-Identifier: Apache-2.0
// The padding modes of unfold are those of numpy.pad, also for pads larger than the extent. With a kernel of 1 the columns
// are the padded image; the expected numbers are what numpy.pad 2.4 gives for 1, 2, 3, ..
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

struct Case {
  std::int64_t extent;
  Pads pads;
  Ints expected;
};

void expect_padded(PaddingMode mode, const std::vector<Case>& cases) {
  for (const auto& [extent, pads, expected] : cases) {
    const auto total = extent + pads.begin + pads.end;
    const Unfold op = {.kernel_size = {1}, .padding = PadsList{pads}, .padding_mode = mode};
    expect_iota(op, {1, 1, extent}, {1, 1, total}, expected);
    expect_moved(op, {1, 1, extent}, {1, 1, total}, expected);
    const Unfold column = {.kernel_size = {1, 1}, .padding = PadsList{pads, {0, 0}}, .padding_mode = mode};
    expect_iota(column, {1, 1, extent, 1}, {1, 1, total}, expected);
  }
}

TEST(PaddingModes, Edge) {
  expect_padded(PaddingMode::edge, {
                                       {1, {3, 5}, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
                                       {1, {11, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
                                       {1, {0, 7}, {1, 1, 1, 1, 1, 1, 1, 1}},
                                       {1, {1, 1}, {1, 1, 1}},
                                       {2, {3, 5}, {1, 1, 1, 1, 2, 2, 2, 2, 2, 2}},
                                       {2, {11, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2}},
                                       {2, {0, 7}, {1, 2, 2, 2, 2, 2, 2, 2, 2}},
                                       {2, {1, 1}, {1, 1, 2, 2}},
                                       {3, {3, 5}, {1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 3}},
                                       {3, {11, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3}},
                                       {3, {0, 7}, {1, 2, 3, 3, 3, 3, 3, 3, 3, 3}},
                                       {3, {1, 1}, {1, 1, 2, 3, 3}},
                                       {4, {3, 5}, {1, 1, 1, 1, 2, 3, 4, 4, 4, 4, 4, 4}},
                                       {4, {11, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4}},
                                       {4, {0, 7}, {1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4}},
                                       {4, {1, 1}, {1, 1, 2, 3, 4, 4}},
                                   });
}

TEST(PaddingModes, Reflect) {
  expect_padded(PaddingMode::reflect, {
                                          {1, {3, 5}, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
                                          {1, {11, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
                                          {1, {0, 7}, {1, 1, 1, 1, 1, 1, 1, 1}},
                                          {1, {1, 1}, {1, 1, 1}},
                                          {2, {3, 5}, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1}},
                                          {2, {11, 0}, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}},
                                          {2, {0, 7}, {1, 2, 1, 2, 1, 2, 1, 2, 1}},
                                          {2, {1, 1}, {2, 1, 2, 1}},
                                          {3, {3, 5}, {2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2}},
                                          {3, {11, 0}, {2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3}},
                                          {3, {0, 7}, {1, 2, 3, 2, 1, 2, 3, 2, 1, 2}},
                                          {3, {1, 1}, {2, 1, 2, 3, 2}},
                                          {4, {3, 5}, {4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3}},
                                          {4, {11, 0}, {2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3, 4}},
                                          {4, {0, 7}, {1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3}},
                                          {4, {1, 1}, {2, 1, 2, 3, 4, 3}},
                                      });
}

TEST(PaddingModes, Symmetric) {
  expect_padded(PaddingMode::symmetric, {
                                            {1, {3, 5}, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
                                            {1, {11, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
                                            {1, {0, 7}, {1, 1, 1, 1, 1, 1, 1, 1}},
                                            {1, {1, 1}, {1, 1, 1}},
                                            {2, {3, 5}, {2, 2, 1, 1, 2, 2, 1, 1, 2, 2}},
                                            {2, {11, 0}, {2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2}},
                                            {2, {0, 7}, {1, 2, 2, 1, 1, 2, 2, 1, 1}},
                                            {2, {1, 1}, {1, 1, 2, 2}},
                                            {3, {3, 5}, {3, 2, 1, 1, 2, 3, 3, 2, 1, 1, 2}},
                                            {3, {11, 0}, {2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1, 2, 3}},
                                            {3, {0, 7}, {1, 2, 3, 3, 2, 1, 1, 2, 3, 3}},
                                            {3, {1, 1}, {1, 1, 2, 3, 3}},
                                            {4, {3, 5}, {3, 2, 1, 1, 2, 3, 4, 4, 3, 2, 1, 1}},
                                            {4, {11, 0}, {3, 2, 1, 1, 2, 3, 4, 4, 3, 2, 1, 1, 2, 3, 4}},
                                            {4, {0, 7}, {1, 2, 3, 4, 4, 3, 2, 1, 1, 2, 3}},
                                            {4, {1, 1}, {1, 1, 2, 3, 4, 4}},
                                        });
}

TEST(PaddingModes, Wrap) {
  expect_padded(PaddingMode::wrap, {
                                       {1, {3, 5}, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
                                       {1, {11, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
                                       {1, {0, 7}, {1, 1, 1, 1, 1, 1, 1, 1}},
                                       {1, {1, 1}, {1, 1, 1}},
                                       {2, {3, 5}, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1}},
                                       {2, {11, 0}, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}},
                                       {2, {0, 7}, {1, 2, 1, 2, 1, 2, 1, 2, 1}},
                                       {2, {1, 1}, {2, 1, 2, 1}},
                                       {3, {3, 5}, {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2}},
                                       {3, {11, 0}, {2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}},
                                       {3, {0, 7}, {1, 2, 3, 1, 2, 3, 1, 2, 3, 1}},
                                       {3, {1, 1}, {3, 1, 2, 3, 1}},
                                       {4, {3, 5}, {2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1}},
                                       {4, {11, 0}, {2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}},
                                       {4, {0, 7}, {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3}},
                                       {4, {1, 1}, {4, 1, 2, 3, 4, 1}},
                                   });
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
  // ceil(4 / 1) positions, a total of 2: one cell at each end.
  const auto op = [](PaddingMode mode) {
    return Unfold{.kernel_size = {3}, .padding = Padding::same_upper, .padding_mode = mode};
  };
  expect_iota(op(PaddingMode::symmetric), {1, 1, 4}, {1, 3, 4}, {1, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 4});
  expect_iota(op(PaddingMode::wrap), {1, 1, 4}, {1, 3, 4}, {4, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 1});
}

}  // namespace
}  // namespace patchfold::vectors
