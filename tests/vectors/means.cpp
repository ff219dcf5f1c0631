// SPDX-License-Identifier: Apache-2.0
// Means of fold, whose values oracle.py makes as fractions.
#include "vectors/support.hpp"

namespace patchfold::vectors {
namespace {

constexpr FoldReduce mean = FoldReduce::mean;
constexpr DType integers[] = {DType::uint8, DType::int16, DType::uint16, DType::int32, DType::int64};

TEST(MeansOfFold, overlap_with_pads) {
  expect_iota(Fold{.output_size = {4, 4}, .kernel_size = {3, 3}, .padding = 1, .reduce = mean}, {1, 9, 16}, {1, 1, 4, 4},
              {36, 44, 45, 54, 62, 70, 71, 80, 66, 74, 75, 84, 92, 100, 101, 110}, integers);
}

TEST(MeansOfFold, fill_of_what_no_patch_touches) {
  expect_iota(Fold{.output_size = {5, 5}, .kernel_size = {2, 2}, .stride = {3, 3}, .reduce = mean, .fill = 7}, {1, 4, 4},
              {1, 1, 5, 5}, {1, 5, 7, 2, 6, 9, 13, 7, 10, 14, 7, 7, 7, 7, 7, 3, 7, 7, 4, 8, 11, 15, 7, 12, 16}, integers);
}

TEST(MeansOfFold, layouts) {
  expect_fingerprint(Fold{.output_size = {12, 12}, .kernel_size = {4, 4}, .stride = {2, 2}, .reduce = mean}, {2, 48, 25},
                     {2, 3, 12, 12}, 0xba285cdfe6daf1fu);
  expect_fingerprint(Fold{.output_size = {16, 9},
                          .kernel_size = {5, 3},
                          .stride = {2, 3},
                          .dilation = {3, 1},
                          .padding = {{1, 0}, {0, 3}},
                          .reduce = mean,
                          .fill = 1000},
                     {2, 15, 12}, {2, 1, 16, 9}, 0xbeb227b2ea1a9c65u);
  expect_fingerprint(Fold{.output_size = {4, 6, 5},
                          .kernel_size = {3, 3, 3},
                          .stride = {1, 1, 2},
                          .padding = {{1, 0}, {0, 0}, {0, 0}},
                          .layout = Layout::channels_last,
                          .order = Order::kernel,
                          .positions = Positions::grid,
                          .reduce = mean},
                     {1, 3, 4, 2, 54}, {1, 4, 6, 5, 2}, 0x7bca8988e7e91afeu);
  expect_fingerprint(Fold{.output_size = {50}, .kernel_size = {7}, .stride = 2, .reduce = mean}, {1, 14, 22}, {1, 2, 50},
                     0xbaa5d7f308de0f9cu);
}

}  // namespace
}  // namespace patchfold::vectors
