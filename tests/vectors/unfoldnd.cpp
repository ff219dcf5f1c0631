// SPDX-License-Identifier: Apache-2.0
// unfoldNd's problems for one, two and three spatial axes, as torch.unfold and torch.fold with lists of any length, where
// fold(unfold(x)) == x.
#include <cstring>

#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

struct Case {
  const char* name;
  Dims image;
  Axes kernel, dilation, padding, stride;
  Dims columns;
  friend void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }
};

Ints run(const Problem& problem, const Dims& in, const Ints& data, const Dims& out) {
  const auto bytes = result_of(problem, DType::int64, in, encode(DType::int64, data), out);
  Ints values(bytes.size() / 8);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

const Case inverse_cases[] = {
    {"d1_basic", {2, 3, 50}, Axes{2}, 1, 0, 2, {2, 6, 25}},
    {"d1_dilation", {2, 3, 50}, Axes{5}, 10, 0, 1, {2, 15, 10}},
    {"d1_padding", {2, 3, 50}, Axes{4}, 1, 2, 4, {2, 12, 13}},
    {"d1_padding_and_dilation", {2, 3, 50}, Axes{3}, 18, 2, 1, {2, 9, 18}},
    {"d2_basic", {2, 3, 50, 40}, Axes{2, 2}, 1, 0, 2, {2, 12, 500}},
    {"d2_dilation", {2, 3, 50, 40}, Axes{5, 2}, {10, 20}, 0, 1, {2, 30, 200}},
    {"d2_padding", {2, 3, 50, 40}, Axes{4, 3}, 1, {2, 1}, {4, 3}, {2, 36, 182}},
    {"d2_padding_and_dilation", {2, 3, 50, 40}, Axes{3, 2}, {18, 21}, {2, 1}, 1, {2, 18, 378}},
    {"d3_basic", {2, 3, 50, 40, 30}, Axes{2, 2, 2}, 1, 0, 2, {2, 24, 7500}},
    {"d3_dilation", {2, 3, 50, 40, 30}, Axes{5, 2, 6}, {10, 20, 5}, 0, 1, {2, 180, 1000}},
    {"d3_padding", {2, 3, 50, 40, 30}, Axes{4, 3, 6}, 1, {2, 1, 3}, {4, 3, 6}, {2, 216, 1092}},
    {"d3_padding_and_dilation", {2, 3, 50, 40, 30}, Axes{3, 2, 4}, {18, 21, 9}, {2, 1, 3}, 1, {2, 72, 3402}},
};

class UnfoldNdInverse : public testing::TestWithParam<Case> {};

TEST_P(UnfoldNdInverse, FoldGivesTheImageBack) {
  const auto& test = GetParam();
  const torch::Unfold unfold = {test.kernel, test.dilation, test.padding, test.stride};
  const torch::Fold fold = {test.image.slice(2, test.image.size()), test.kernel, test.dilation, test.padding, test.stride};
  const auto x = iota(test.image);
  expect_shape(unfold, test.image, test.columns);
  expect_values(fold, test.columns, run(unfold, test.image, x, test.columns), test.image, x);
}

INSTANTIATE_TEST_SUITE_P(Problems, UnfoldNdInverse, testing::ValuesIn(inverse_cases),
                         [](const auto& info) { return std::string(info.param.name); });

// Images of more than 2^24 elements, whose indices float32 cannot hold: 25 patches of 2 x 2 far apart, zeros elsewhere.
void expect_far_patches(std::int64_t extent, std::int64_t stride) {
  const auto columns = iota({4, 25});
  const Dims shape = {1, 1, extent, extent};
  const torch::Fold op = {.output_size = {extent, extent}, .kernel_size = 2, .stride = stride};
  expect_shape(op, {1, 4, 25}, shape);
  const auto image = result_of(op, DType::int8, {1, 4, 25}, encode(DType::int8, columns), shape);
  std::int64_t total = 0;
  for (const auto value : image) total += std::to_integer<int>(value);
  EXPECT_EQ(total, 5050);
  for (std::int64_t tap = 0; tap < 4; ++tap)
    for (std::int64_t position = 0; position < 25; ++position) {
      const auto row = position / 5 * stride + tap / 2, column = position % 5 * stride + tap % 2;
      EXPECT_EQ(std::to_integer<int>(image[static_cast<std::size_t>(row * extent + column)]), tap * 25 + position + 1);
    }
}

TEST(UnfoldNdFold, precision_just_beyond_2_24) {
  expect_far_patches(4098, 1024);
}

TEST(UnfoldNdFold, precision_5000_squared) {
  expect_far_patches(5000, 1000);
}

}  // namespace
}  // namespace patchfold::vectors
