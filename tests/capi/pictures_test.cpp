// SPDX-License-Identifier: Apache-2.0
// Pictures of bytes through the C interface; tests/unit/pictures_test.cpp tests what the functions compute.
#include <gmock/gmock.h>

#include "capi.hpp"

namespace patchfold::test {
namespace {

using ::testing::HasSubstr;

TEST(Pictures, ATableCutsPermutesAndNormalizesInOneCall) {
  // A picture of 4 x 4 pixels, three channels, as tokens (rows, columns, channel) of 2 x 2 patches.
  Tensor<std::uint8_t> picture({4, 4, 3});
  picture.count_up();
  Tensor<float> table({3, 256}), tokens({4, 12});
  table.count_up();
  const std::int64_t shape[] = {2, 2, 2, 2, 3}, from[] = {24, 6, 12, 3, 1}, to[] = {96, 48, 24, 12, 4};
  const pf_tensor cut{picture.values.data(), shape, from, 5, PF_DTYPE_UINT8, 1};
  const pf_tensor out{tokens.values.data(), shape, to, 5, PF_DTYPE_FLOAT32, 4};
  const pf_tensor entries = table.view();
  ASSERT_OK(pf_apply_table(&cut, -1, &entries, &out, pf_serial_executor()));
  for (std::size_t token = 0; token < 4; ++token)
    for (std::size_t k = 0; k < 12; ++k) {
      const std::size_t y = token / 2 * 2 + k / 6, x = token % 2 * 2 + k / 3 % 2, c = k % 3;
      EXPECT_EQ(tokens.values[token * 12 + k], static_cast<float>(c * 256 + (y * 4 + x) * 3 + c + 1 + 1));
    }
}

TEST(Pictures, AreResized) {
  Tensor<std::uint8_t> picture({1, 8, 8}), resized({1, 2, 4});
  for (std::size_t i = 0; i < 64; ++i) picture.values[i] = static_cast<std::uint8_t>(i);
  const pf_tensor from = picture.view(), to = resized.view();
  ASSERT_OK(pf_resize(&from, &to, PF_FILTER_BILINEAR, PF_FIXED_POINT_PILLOW, nullptr, nullptr));
  EXPECT_EQ(resized.values, (std::vector<std::uint8_t>{16, 18, 20, 21, 42, 44, 46, 47}));
  const float whole[] = {0, 0, 8, 8};
  resized.values.assign(8, 0);
  ASSERT_OK(pf_resize(&from, &to, PF_FILTER_BILINEAR, PF_FIXED_POINT_PILLOW, whole, nullptr));
  EXPECT_EQ(resized.values[7], 47);
}

TEST(Pictures, WrongCallsAreRefused) {
  Tensor<std::uint8_t> picture({8, 8}), resized({2, 4});
  Tensor<float> table({8, 256}), numbers({8, 8});
  const pf_tensor from = picture.view(), to = resized.view(), entries = table.view(), out = numbers.view();
  EXPECT_THAT(outcome(pf_apply_table(nullptr, 0, &entries, &out, nullptr)), HasSubstr("bytes: must not be NULL"));
  EXPECT_THAT(outcome(pf_apply_table(&from, 0, nullptr, &out, nullptr)), HasSubstr("table: must not be NULL"));
  EXPECT_THAT(outcome(pf_apply_table(&from, 0, &entries, nullptr, nullptr)), HasSubstr("out: must not be NULL"));
  EXPECT_THAT(outcome(pf_apply_table(&from, 9, &entries, &out, nullptr)), HasSubstr("axis: must be an axis of bytes"));
  EXPECT_THAT(outcome(pf_resize(nullptr, &to, 0, 0, nullptr, nullptr)), HasSubstr("picture: must not be NULL"));
  EXPECT_THAT(outcome(pf_resize(&from, nullptr, 0, 0, nullptr, nullptr)), HasSubstr("resized: must not be NULL"));
  for (const pf_filter filter : {-1, 6, 256, 1 << 30})
    EXPECT_THAT(outcome(pf_resize(&from, &to, filter, 0, nullptr, nullptr)), HasSubstr("filter: must be a filter"));
  for (const pf_fixed_point point : {-1, 2, 256, 1 << 30})
    EXPECT_THAT(outcome(pf_resize(&from, &to, 0, point, nullptr, nullptr)), HasSubstr("fixed_point: must be one"));
  const float box[] = {0, 0, 9, 8};
  EXPECT_THAT(outcome(pf_resize(&from, &to, 0, 0, box, nullptr)), HasSubstr("box: must be (left, upper, right, lower)"));
}

}  // namespace
}  // namespace patchfold::test
