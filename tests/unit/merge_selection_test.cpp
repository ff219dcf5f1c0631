// SPDX-License-Identifier: Apache-2.0
// Tests the choice of the tile in merges that take each element from one tile.
#include <gtest/gtest.h>

#include <vector>

#include "patchfold/tiling.hpp"

namespace patchfold {
namespace {

TEST(MergeSelection, AnElementBetweenTwoMiddlesBelongsToTheFormerTile) {
  const Tiling tiling(TilingSpec{.shape = {9}, .tile = {5}, .overlap = 1});
  std::vector<float> output(9);
  Merger merger(tiling, {.reduce = Reduce::center}, view(output.data(), {9}));
  const std::vector<float> left(5, 1), right(5, 3);
  merger.add(0, view(left.data(), {5}));
  merger.add(1, view(right.data(), {5}));
  merger.finish();
  EXPECT_EQ(output, (std::vector<float>{1, 1, 1, 1, 1, 3, 3, 3, 3}));
}

TEST(MergeSelection, ATileWithoutWeightIsNotSelected) {
  const Tiling tiling(TilingSpec{.shape = {9}, .tile = {5}, .overlap = 1});
  const std::vector<float> left(5, 1), right(5, 3);
  // Two tiles cover the element, but only a tile whose weight there is above 0 counts.
  const struct {
    Reduce reduce;
    std::vector<double> weights;
    float between;
  } cases[] = {{Reduce::first, {1, 1, 1, 1, 0}, 3},  {Reduce::first, {1, 1, 1, 1, 2}, 1},
               {Reduce::last, {0, 1, 1, 1, 1}, 1},   {Reduce::last, {2, 1, 1, 1, 1}, 3},
               {Reduce::center, {1, 1, 1, 1, 0}, 3}, {Reduce::center, {0, 1, 1, 1, 1}, 1}};
  for (const auto& [reduce, weights, between] : cases) {
    MergeSpec spec{.reduce = reduce, .fill = 7};
    spec.window = {WeightWindow::Kind::axes, 0.125, {weights}, {}};
    std::vector<float> expected{1, 1, 1, 1, between, 3, 3, 3, 3};
    if (weights.front() == 0) expected[0] = 7;
    if (weights.back() == 0) expected[8] = 7;
    std::vector<float> output(9);
    Merger merger(tiling, spec, view(output.data(), {9}));
    merger.add(0, view(left.data(), {5}));
    merger.add(1, view(right.data(), {5}));
    merger.finish();
    EXPECT_EQ(output, expected) << static_cast<int>(reduce) << weights.front();
  }
}

TEST(MergeSelection, WhereTheNearestTileIsMaskedTheFewestStepsCount) {
  const Tiling tiling(TilingSpec{.shape = {20}, .tile = {12}, .stride = 4});
  MergeSpec spec{.reduce = Reduce::center, .mask = {1, 0, 1}};
  std::vector<float> output(20);
  Merger merger(tiling, spec, view(output.data(), {20}));
  const std::vector<float> left(12, 1), right(12, 3);
  merger.add(2, view(right.data(), {12}));
  merger.add(0, view(left.data(), {12}));
  merger.finish();
  EXPECT_EQ(output, (std::vector<float>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3}));
}

}  // namespace
}  // namespace patchfold
