// SPDX-License-Identifier: Apache-2.0
// Compares merges and tilings with their definitions, element by element: selections, types of numbers, counts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "merge_support.hpp"

namespace patchfold {
namespace {

/// Returns the merge of tiles of two axes whose elements are the index of the tile.
std::vector<float> merge_of_indices(const Tiling& tiling, const MergeSpec& spec) {
  std::vector<float> output(static_cast<std::size_t>(element_count(tiling.output())));
  Merger merger(tiling, spec, view(output.data(), tiling.output()));
  std::vector<std::vector<float>> tiles;
  for (const Tile tile : tiling) {
    const Dims shape = tiling.tile_shape(tile.index);
    tiles.emplace_back(static_cast<std::size_t>(element_count(shape)), static_cast<float>(tile.index));
    if (spec.mask.empty() || spec.mask[static_cast<std::size_t>(tile.index)] != 0)
      merger.add(tile.index, view(std::as_const(tiles.back()).data(), shape));
  }
  merger.finish();
  return output;
}

/// Returns the tile from which a selection takes the element (y, x), by the definition; -1 if there is none.
std::int64_t selected_tile(const Tiling& tiling, const MergeSpec& spec, std::int64_t y, std::int64_t x) {
  const std::int64_t at[] = {y, x};
  const auto covers = [&](const Tile& tile) {
    for (std::size_t i = 0; i < 2; ++i)
      if (at[i] < tile.spans[i].write.begin || at[i] >= tile.spans[i].write.end) return false;
    return true;
  };
  // Twice the distance along an axis between the middle of the element and the middle of the whole tile.
  const auto distance = [&](const Tile& tile, int i) {
    return std::abs(2 * at[i] + 1 - 2 * tile.spans[static_cast<std::size_t>(i)].start - tiling.result()[i]);
  };
  Dims nearest{0, 0};
  for (int i = 0; i < 2; ++i) {
    std::int64_t least = INT64_MAX;
    for (const Tile tile : tiling)
      if (covers(tile) && distance(tile, i) < least) least = distance(tile, i), nearest[i] = tile.position[i];
  }
  std::int64_t best = -1, fewest = INT64_MAX;
  for (const Tile tile : tiling) {
    if (!covers(tile) || (!spec.mask.empty() && spec.mask[static_cast<std::size_t>(tile.index)] == 0)) continue;
    if (spec.reduce == Reduce::first && best >= 0) continue;
    const std::int64_t steps = std::abs(tile.position[0] - nearest[0]) + std::abs(tile.position[1] - nearest[1]);
    if (spec.reduce == Reduce::center && steps >= fewest) continue;
    fewest = steps;
    best = tile.index;
  }
  return best;
}

TEST(MergeValues, SelectionsTakeTheTileThatTheDefinitionNames) {
  // Up to 4 x 3 tiles cover an element.
  const Tiling tiling(TilingSpec{.shape = {29, 23}, .tile = {13, 9}, .stride = {4, 4}});
  for (const Reduce reduce : {Reduce::first, Reduce::last, Reduce::center})
    for (const std::int64_t every : {0, 2, 3, 5, 7}) {
      MergeSpec spec;
      spec.reduce = reduce;
      spec.fill = -1;
      if (every > 0)
        for (std::int64_t i = 0; i < tiling.size(); ++i) spec.mask.push_back(i % every != 1);
      const std::vector<float> output = merge_of_indices(tiling, spec);
      for (std::int64_t y = 0; y < 29; ++y)
        for (std::int64_t x = 0; x < 23; ++x)
          ASSERT_EQ(output[static_cast<std::size_t>(y * 23 + x)], static_cast<float>(selected_tile(tiling, spec, y, x)))
              << word_of(reduce) << ", mask " << every << ", element " << y << ", " << x;
    }
}

TEST(MergeSelection, ATileWithoutWeightIsNotSelected) {
  const Tiling tiling(TilingSpec{.shape = {9}, .tile = {5}, .overlap = 1});
  const std::vector<float> left(5, 1), right(5, 3);
  // Two tiles give the element, but only the tile with a weight there counts.
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

/// Returns the mean of an element that two tiles give, each with the weight 1.
std::uint16_t mean_of_two(DType dtype, std::uint16_t a, std::uint16_t b) {
  const Tiling tiling(TilingSpec{.shape = {40}, .tile = {30}, .overlap = 20});
  MergeSpec spec;
  spec.window.kind = WeightWindow::Kind::ones;
  spec.dtype = dtype;
  spec.element_size = 2;
  std::vector<std::uint16_t> output(40);
  const std::vector<std::uint16_t> left(30, a), right(30, b);
  Merger merger(tiling, spec, contiguous(static_cast<void*>(output.data()), {40}, dtype));
  merger.add(0, contiguous(static_cast<const void*>(left.data()), {30}, dtype));
  merger.add(1, contiguous(static_cast<const void*>(right.data()), {30}, dtype));
  merger.finish();
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(output[i], i < 10 ? a : i < 30 ? output[10] : b) << "element " << i;
  return output[10];
}

TEST(MergeValues, MeansOfShortFloatsAreRoundedToNearestEven) {
  struct Case {
    DType dtype;
    std::uint16_t a, b, mean;
  };
  for (const auto& [dtype, a, b, mean] :
       {Case{DType::float16, 0x3C00, 0x4000, 0x3E00},   // 1 and 2: 1.5
        Case{DType::float16, 0x3C00, 0x3C01, 0x3C00},   // in the middle: the even one, below
        Case{DType::float16, 0x3C01, 0x3C02, 0x3C02},   // above
        Case{DType::float16, 0x0001, 0x0002, 0x0002},   // subnormal
        Case{DType::float16, 0x7BFF, 0x7BFF, 0x7BFF},   // the largest: the sum is beyond float16
        Case{DType::float16, 0xC200, 0x3C00, 0xBC00},   // -3 and 1: -1
        Case{DType::bfloat16, 0x3F80, 0x4000, 0x3FC0},  // 1 and 2
        Case{DType::bfloat16, 0x3F80, 0x3F81, 0x3F80}, Case{DType::bfloat16, 0x3F81, 0x3F82, 0x3F82},
        Case{DType::bfloat16, 0x7F7F, 0x7F7F, 0x7F7F}, Case{DType::bfloat16, 0xC040, 0x3F80, 0xBF80}})
    EXPECT_EQ(mean_of_two(dtype, a, b), mean) << name_of(dtype) << std::hex << " " << a << ", " << b;
}

TEST(MergeValues, ChannelsOfTheOutputMayLieApart) {
  const Tiling tiling(TilingSpec{.shape = {6, 2, 3}, .tile = {4}, .stride = {2}, .axes = {0}});
  // In memory, each group of three channels is followed by an element that is not part of the output.
  std::vector<float> output(std::size_t{6} * 2 * 4, -7.0F), expected;
  for (int y = 0; y < 6; ++y) expected.insert(expected.end(), {10, 11, 12, -7, 20, 21, 22, -7});
  std::vector<float> tile;
  for (int y = 0; y < 4; ++y) tile.insert(tile.end(), {10, 11, 12, 20, 21, 22});
  MergeSpec spec;
  spec.channels = {2, 3};
  Merger merger(tiling, spec, TensorView{output.data(), {6, 2, 3}, {32, 16, 4}, DType::float32, sizeof(float)});
  for (std::int64_t index = 0; index < tiling.size(); ++index)
    merger.add(index, view(std::as_const(tile).data(), {4, 2, 3}));
  merger.finish();
  EXPECT_EQ(output, expected);
}

}  // namespace
}  // namespace patchfold
