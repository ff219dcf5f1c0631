// SPDX-License-Identifier: Apache-2.0
// unfoldNd's problems for one, two and three spatial axes, as torch.unfold and torch.fold with lists of any length. Where
// fold(unfold(x)) == x the data itself is the expectation; oracle.py makes the fingerprints of unfold's columns of the data
// 1, 2, 3, ..
#include <cstring>

#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

struct Case {
  const char* name;
  Dims image;
  Axes kernel, dilation, padding, stride;
  Dims columns;
  std::uint64_t expected;
  friend void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }
};

Ints run(const Problem& problem, const Dims& in, const Ints& data, const Dims& out) {
  const auto bytes = result_of(problem, DType::int64, in, encode(DType::int64, data), out);
  Ints values(bytes.size() / 8);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

const Case unfold_cases[] = {
    {"d1_kernel_1", {2, 3, 50}, Axes{1}, 1, 0, 1, {2, 3, 50}, 0xa21efbfe6c168b02u},
    {"d1_kernel_2", {2, 3, 50}, Axes{2}, 1, 0, 1, {2, 6, 49}, 0xf7af1dcded9edb56u},
    {"d1_kernel_3", {2, 3, 50}, Axes{3}, 1, 0, 1, {2, 9, 48}, 0x92f61209dcacff71u},
    {"d1_dilation", {2, 3, 50}, Axes{3}, 2, 0, 1, {2, 9, 46}, 0x4c734a51dc34723eu},
    {"d1_dilation_padding", {2, 3, 50}, Axes{3}, 2, 1, 1, {2, 9, 48}, 0x9065f2a683792cb2u},
    {"d1_dilation_padding_stride", {2, 3, 50}, Axes{3}, 2, 1, 2, {2, 9, 24}, 0xbdc444e0498520dfu},
    {"d2_kernel_1", {2, 3, 50, 40}, Axes{1, 1}, 1, 0, 1, {2, 3, 2000}, 0xd156fdffbe5d836bu},
    {"d2_kernel_2", {2, 3, 50, 40}, Axes{2, 2}, 1, 0, 1, {2, 12, 1911}, 0x4fee41d0f107bd7eu},
    {"d2_kernel_3x2", {2, 3, 50, 40}, Axes{3, 2}, 1, 0, 1, {2, 18, 1872}, 0xfdd6136f55a61dc5u},
    {"d2_dilation", {2, 3, 50, 40}, Axes{3, 2}, 2, 0, 1, {2, 18, 1748}, 0xf696eabfb8d72d6eu},
    {"d2_dilation_padding", {2, 3, 50, 40}, Axes{3, 2}, 2, 1, 1, {2, 18, 1920}, 0x41386eca2279697u},
    {"d2_dilation_padding_stride", {2, 3, 50, 40}, Axes{3, 2}, 2, 1, 2, {2, 18, 480}, 0x363845a8cfa34d9cu},
    {"d3_kernel_1", {2, 3, 10, 8, 6}, Axes{1, 1, 1}, 1, 0, 1, {2, 3, 480}, 0xd333882891b3fdfcu},
    {"d3_kernel_2", {2, 3, 10, 8, 6}, Axes{2, 2, 2}, 1, 0, 1, {2, 24, 315}, 0xcda97faad99e2275u},
    {"d3_kernel_4x3x2", {2, 3, 10, 8, 6}, Axes{4, 3, 2}, 1, 0, 1, {2, 72, 210}, 0xd265ea12e9218e21u},
    {"d3_dilation", {2, 3, 10, 8, 6}, Axes{4, 3, 2}, 2, 0, 1, {2, 72, 64}, 0x70bb49bd5dd2239cu},
    {"d3_dilation_padding", {2, 3, 10, 8, 6}, Axes{4, 3, 2}, 2, 1, 1, {2, 72, 216}, 0xbb24eca0cc5ffa26u},
    {"d3_dilation_padding_stride", {2, 3, 10, 8, 6}, Axes{4, 3, 2}, 2, 1, 2, {2, 72, 27}, 0xfdd69af6acf2ee82u},
};

class UnfoldNdUnfold : public testing::TestWithParam<Case> {};

TEST_P(UnfoldNdUnfold, HasTheExpectedColumns) {
  const auto& test = GetParam();
  expect_fingerprint(torch::Unfold{test.kernel, test.dilation, test.padding, test.stride}, test.image, test.columns,
                     test.expected);
}

INSTANTIATE_TEST_SUITE_P(Problems, UnfoldNdUnfold, testing::ValuesIn(unfold_cases),
                         [](const auto& info) { return std::string(info.param.name); });

const Case inverse_cases[] = {
    {"d1_basic", {2, 3, 50}, Axes{2}, 1, 0, 2, {2, 6, 25}, 0u},
    {"d1_dilation", {2, 3, 50}, Axes{5}, 10, 0, 1, {2, 15, 10}, 0u},
    {"d1_padding", {2, 3, 50}, Axes{4}, 1, 2, 4, {2, 12, 13}, 0u},
    {"d1_padding_and_dilation", {2, 3, 50}, Axes{3}, 18, 2, 1, {2, 9, 18}, 0u},
    {"d2_basic", {2, 3, 50, 40}, Axes{2, 2}, 1, 0, 2, {2, 12, 500}, 0u},
    {"d2_dilation", {2, 3, 50, 40}, Axes{5, 2}, {10, 20}, 0, 1, {2, 30, 200}, 0u},
    {"d2_padding", {2, 3, 50, 40}, Axes{4, 3}, 1, {2, 1}, {4, 3}, {2, 36, 182}, 0u},
    {"d2_padding_and_dilation", {2, 3, 50, 40}, Axes{3, 2}, {18, 21}, {2, 1}, 1, {2, 18, 378}, 0u},
    {"d3_basic", {2, 3, 50, 40, 30}, Axes{2, 2, 2}, 1, 0, 2, {2, 24, 7500}, 0u},
    {"d3_dilation", {2, 3, 50, 40, 30}, Axes{5, 2, 6}, {10, 20, 5}, 0, 1, {2, 180, 1000}, 0u},
    {"d3_padding", {2, 3, 50, 40, 30}, Axes{4, 3, 6}, 1, {2, 1, 3}, {4, 3, 6}, {2, 216, 1092}, 0u},
    {"d3_padding_and_dilation", {2, 3, 50, 40, 30}, Axes{3, 2, 4}, {18, 21, 9}, {2, 1, 3}, 1, {2, 72, 3402}, 0u},
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

TEST(UnfoldNdFold, two_dimensional) {
  expect_iota(torch::Fold{.output_size = {4, 5}, .kernel_size = {2, 2}}, {2, 12, 12}, {2, 3, 4, 5},
              {1,   15,  17,  19,  16,  30,  86,   90,   94,   60,  38,  102,  106,  110,  68,  33,  79,  81,  83,  48,
               49,  111, 113, 115, 64,  126, 278,  282,  286,  156, 134, 294,  298,  302,  164, 81,  175, 177, 179, 96,
               97,  207, 209, 211, 112, 222, 470,  474,  478,  252, 230, 486,  490,  494,  260, 129, 271, 273, 275, 144,
               145, 303, 305, 307, 160, 318, 662,  666,  670,  348, 326, 678,  682,  686,  356, 177, 367, 369, 371, 192,
               193, 399, 401, 403, 208, 414, 854,  858,  862,  444, 422, 870,  874,  878,  452, 225, 463, 465, 467, 240,
               241, 495, 497, 499, 256, 510, 1046, 1050, 1054, 540, 518, 1062, 1066, 1070, 548, 273, 559, 561, 563, 288});
}

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
