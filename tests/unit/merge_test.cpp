// SPDX-License-Identifier: Apache-2.0
// Tests tilings and mergers in C++: round trips, predicted and actual memory, and refusals.
// Compares merges and tilings with their definitions, element by element: chosen tiles, types of numbers, and counts.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "engine/machine.hpp"
#include "kernels/processor.hpp"
#include "merge_support.hpp"

namespace patchfold {
namespace {

TEST(Merge, MemoryDoesNotGrowAlongTheStreamAxis) {
  const auto most = [](std::int64_t height) {
    return merge_memory(Tiling(two_axes({height, 100}, {32, 32}, 8)), {}, true).most;
  };
  EXPECT_EQ(most(32 + 24 * 10), most(32 + 24 * 1000));
}

TEST(Merge, ATileIsLetGoWhenNobodyWaitsForIt) {
  const Tiling tiling(TilingSpec{.shape = {30}, .tile = {10}, .overlap = 2});
  std::vector<float> output(30);
  Merger merger(tiling, {}, view(output.data(), {30}));
  std::vector<std::weak_ptr<std::vector<float>>> kept;
  for (std::int64_t i = 0; i < tiling.size(); ++i) {
    const auto tile = std::make_shared<std::vector<float>>(10, 1.5F);
    kept.emplace_back(tile);
    merger.add(i, view(std::as_const(*tile).data(), {10}), tile);
  }
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(kept[i].expired()) << i;
  merger.finish();
  EXPECT_EQ(output, std::vector<float>(30, 1.5F));
}

TEST(Merge, ASinkThatFailsStopsTheMergeAndKeepsWhatItGot) {
  const Tiling tiling(two_axes({40, 10}, {10, 10}, 2));
  const std::vector<float> array = ramp(400);
  Rows rows(10 * sizeof(float));
  rows.fail_at = 20;
  Merger merger(tiling, {}, rows);
  std::vector<std::vector<float>> tiles;
  const auto add = [&](std::int64_t i) {
    tiles.push_back(cut(tiling, array, i));
    merger.add(i, view(std::as_const(tiles.back()).data(), {10, 10}));
  };
  add(0);
  add(1);
  EXPECT_THROW(add(2), std::runtime_error);
  EXPECT_EQ(error_of([&] { add(3); }),
            "merge: tile: must not come after the merger has failed; given tile 2 failed: no space left");
  EXPECT_EQ(error_of([&] { merger.finish(); }),
            "merge: finish: must not be called after the merger has failed; given tile 2 failed: no space left");
  EXPECT_EQ(std::memcmp(rows.bytes.data(), array.data(), rows.bytes.size()), 0);
}

TEST(Merge, MergesAlongOneAxisAreSharedOut) {
  constexpr std::int64_t extent = 1 << 20;
  const Tiling tiling(TilingSpec{.shape = {extent}, .tile = {1 << 18}, .overlap = 1 << 16});
  std::vector<std::int64_t> calls;
  CallableExecutor threads(4, [&calls](std::int64_t pieces, const auto& task) {
    calls.push_back(pieces);
    for (std::int64_t piece = pieces - 1; piece >= 0; --piece) task(piece);
  });
  const std::vector<float> array = ramp(extent);
  std::vector<float> alone(array.size()), shared(array.size());
  for (const bool is_shared : {false, true}) {
    Merger merger(tiling, {}, view((is_shared ? shared : alone).data(), {extent}), is_shared ? threads : serial_executor());
    std::vector<std::vector<float>> tiles;
    for (std::int64_t tile = 0; tile < tiling.size(); ++tile) {
      tiles.push_back(cut(tiling, array, tile));
      for (float& value : tiles.back()) value += 0.01F * static_cast<float>(tile);
      merger.add(tile, view(std::as_const(tiles.back()).data(), tiling.tile_shape(tile)));
    }
    merger.finish();
  }
  EXPECT_EQ(std::memcmp(alone.data(), shared.data(), alone.size() * sizeof(float)), 0);
  EXPECT_EQ(calls.size(), static_cast<std::size_t>(tiling.size()));
  // A tile of 1 MB finishes 192 K elements of the output, enough for three pieces for each of four threads. The test
  // requires at least eight pieces.
  for (const std::int64_t pieces : calls) EXPECT_GE(pieces, 8);
}

TEST(Merge, AnExecutorThatFailsIsAnError) {
  const Tiling tiling(TilingSpec{.shape = {1024, 1024}, .tile = {1024, 1024}});
  CallableExecutor broken(8, [](std::int64_t, const auto&) { throw std::runtime_error("no threads"); });
  const std::vector<float> tile(1 << 20);
  std::vector<float> output(1 << 20);
  Merger merger(tiling, {}, view(output.data(), {1024, 1024}), broken);
  EXPECT_EQ(error_of([&] {
              merger.add(0, view(tile.data(), {1024, 1024}));
            }),
            "merge: executor: the executor did not run the work");
}

TEST(Merge, ALimitIsKept) {
  const Tiling tiling(TilingSpec{.shape = {100}, .tile = {10}, .overlap = 2});
  MergeSpec spec;
  spec.memory_limit = 30;
  std::vector<float> output(100), tile(10);
  const auto merger_of = [&] { return Merger(tiling, spec, view(output.data(), {100})); };
  EXPECT_EQ(
      error_of([&] { merger_of(); }),
      "merge: memory_limit: must be at least what a merge of tiles in order needs; given 30, expected at least 80 bytes");
  spec.memory_limit = 160;
  Merger merger = merger_of();
  merger.add(3, view(std::as_const(tile).data(), {10}));
  merger.add(7, view(std::as_const(tile).data(), {10}));
  EXPECT_EQ(error_of([&] { merger.add(9, view(std::as_const(tile).data(), {10})); }),
            "merge: tile 9 at position [9]: comes too early: memory_limit would leave no room for the tiles before it; "
            "given 160 bytes, expected tile 0 next, or 200 bytes");
}

TEST(Merge, UnderALimitTilesInOrderAlwaysHaveRoom) {
  const Tiling tiling(two_axes({40, 40}, {10, 10}, 5));
  const std::vector<float> array = ramp(1600);
  for (const bool copy : {false, true})
    for (const bool to_sink : {false, true})
      for (const std::int64_t spare : {0, 400, 1500, 5000}) {
        MergeSpec spec;
        spec.copy = copy;
        spec.memory_limit = merge_memory(tiling, spec, to_sink).most + spare;
        std::vector<float> output(1600);
        Rows rows(40 * sizeof(float));
        Merger merger = to_sink ? Merger(tiling, spec, rows) : Merger(tiling, spec, view(output.data(), {40, 40}));
        std::vector<std::vector<float>> tiles;
        for (std::int64_t i = 0; i < tiling.size(); ++i) tiles.push_back(cut(tiling, array, i));
        std::vector<bool> come(static_cast<std::size_t>(tiling.size()));
        const auto add = [&](std::int64_t i) {
          merger.add(i, view(std::as_const(tiles[static_cast<std::size_t>(i)]).data(), {10, 10}));
          come[static_cast<std::size_t>(i)] = true;
        };
        for (std::int64_t i = 0; i < tiling.size(); ++i) {
          for (std::int64_t early = i + 1; early < tiling.size(); early += 3)
            if (!come[static_cast<std::size_t>(early)]) error_of([&] { add(early); });
          if (!come[static_cast<std::size_t>(i)]) {
            ASSERT_NO_THROW(add(i)) << i << ", spare " << spare;
          }
          EXPECT_LE(merger.peak_bytes(), *spec.memory_limit);
        }
        merger.finish();
        if (to_sink) std::memcpy(output.data(), rows.bytes.data(), rows.bytes.size());
        EXPECT_EQ(output, array);
      }
}

TEST(Merge, TheCallersRoundingModeDoesNotMatter) {
  const Tiling tiling(TilingSpec{.shape = {61}, .tile = {16}, .stride = 5});
  std::vector<std::vector<float>> tiles;
  for (std::int64_t i = 0; i < tiling.size(); ++i) {
    tiles.push_back(ramp(16));
    for (float& value : tiles.back()) value = (value + static_cast<float>(31 * i)) / 7;
  }
  const auto merged = [&](int mode) {
    std::fesetround(mode);
    std::vector<float> output(61);
    Merger merger(tiling, {}, view(output.data(), {61}));
    for (std::int64_t i = 0; i < tiling.size(); ++i)
      merger.add(i, view(std::as_const(tiles[static_cast<std::size_t>(i)]).data(), {16}));
    merger.finish();
    std::fesetround(FE_TONEAREST);
    return output;
  };
  EXPECT_EQ(merged(FE_UPWARD), merged(FE_TONEAREST));
  EXPECT_EQ(merged(FE_TOWARDZERO), merged(FE_TONEAREST));
}

TEST(Merge, AnOwnerMayCallTheMergerWhenItIsLetGo) {
  const Tiling tiling(TilingSpec{.shape = {18}, .tile = {10}, .overlap = 2});
  const std::vector<float> tile(10);
  std::vector<float> output(18);
  Merger merger(tiling, {}, view(output.data(), {18}));
  int calls = 0;
  const auto owner = [&] {
    return std::shared_ptr<const void>(&tile, [&](const void*) {
      merger.waiting_bytes();
      ++calls;
    });
  };
  merger.add(0, view(tile.data(), {10}), owner());
  merger.add(1, view(tile.data(), {10}), owner());
  EXPECT_EQ(calls, 2);
}

TEST(Merge, TilesMayLieAnywhereButInTheOutput) {
  const Tiling tiling(TilingSpec{.shape = {18}, .tile = {10}, .overlap = 2});
  std::vector<std::byte> bytes(200);
  const auto at = [&](std::size_t offset) {
    return contiguous(static_cast<const void*>(bytes.data() + offset), {10}, DType::float32);
  };
  Merger merger(tiling, {}, contiguous(static_cast<void*>(bytes.data() + 101), {18}, DType::float32));
  EXPECT_EQ(error_of([&] { merger.add(0, at(62)); }),
            "merge: tile 0 at position [0]: must not share memory with the output");
  merger.add(0, at(1));
  merger.add(1, at(3));
  merger.finish();
}

/// Forces one way to store outputs while the object lives.
class Forced {
 public:
  explicit Forced(kernels::Store store) { engine::force_store(store); }
  ~Forced() { engine::force_store({}); }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;
};

TEST(Merge, WhatLeavesPastTheCacheIsTheSame) {
  const Dims shape{96, 2304};
  const Tiling tiling(TilingSpec{.shape = shape, .tile = {64, 2304}, .overlap = {32, 0}});
  const std::vector<float> array = ramp(element_count(shape));
  std::vector<std::vector<float>> tiles;
  for (std::int64_t i = 0; i < tiling.size(); ++i) {
    tiles.push_back(cut(tiling, array, i));
    for (float& value : tiles.back()) value *= 1 + 0.1F * static_cast<float>(i);
  }
  std::vector<std::vector<float>> outputs;
  for (const auto store : {kernels::Store::plain, kernels::Store::past_cache})
    for (const std::size_t off_line : {0, 1}) {  // only rows that begin at a cache line are stored past the cache
      const Forced forced(store);
      std::vector<float> output(array.size() + 32, -1);
      const std::size_t past_line = reinterpret_cast<std::uintptr_t>(output.data()) % 64 / sizeof(float);
      const std::size_t first = (16 - past_line) % 16 + off_line;
      Merger merger(tiling, {}, view(output.data() + first, shape));
      for (std::int64_t i = 0; i < tiling.size(); ++i)
        merger.add(i, view(std::as_const(tiles[static_cast<std::size_t>(i)]).data(), tiling.tile_shape(i)));
      merger.finish();
      EXPECT_EQ(output[first + array.size()], -1);
      outputs.emplace_back(output.begin() + static_cast<std::ptrdiff_t>(first),
                           output.begin() + static_cast<std::ptrdiff_t>(first + array.size()));
    }
  for (const auto& output : outputs)
    EXPECT_EQ(std::memcmp(outputs[0].data(), output.data(), array.size() * sizeof(float)), 0);
}

TEST(Merge, ASinkThatFailsAtTheEndIsNotAskedAgain) {
  Rows rows(4 * sizeof(float));
  rows.fail_at = 5;
  MergeSpec spec;
  spec.fill = 1;
  Merger merger(Tiling(TilingSpec{.shape = {9, 4}, .tile = {4, 4}, .stride = {6, 4}, .tail = Tail::drop}), spec, rows);
  const std::vector<float> tile(16);
  EXPECT_THROW(merger.add(0, view(tile.data(), {4, 4})), std::runtime_error);
  EXPECT_EQ(rows.next, 4);
  EXPECT_EQ(error_of([&] { merger.finish(); }),
            "merge: finish: must not be called after the merger has failed; given tile 0 failed: no space left");
}

/// Returns the merge of tiles along two axes; every element of a tile is the index of the tile.
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

/// Returns the tile from which the reduction first, last or center takes element (y, x), by the definition; -1 if there is
/// none.
std::int64_t selected_tile(const Tiling& tiling, const MergeSpec& spec, std::int64_t y, std::int64_t x) {
  const std::int64_t at[] = {y, x};
  const auto covers = [&](const Tile& tile) {
    for (std::size_t i = 0; i < 2; ++i)
      if (at[i] < tile.spans[i].write.begin || at[i] >= tile.spans[i].write.end) return false;
    return true;
  };
  // Returns twice the distance along axis i between the middle of the element and the middle of the tile.
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
  // Element 4 lies in both tiles, but a tile counts only if its weight there is above 0.
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

/// Returns the mean of an element that is `a` in one tile and `b` in another, each with the weight 1.
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
        Case{DType::float16, 0x3C00, 0x3C01, 0x3C00},   // halfway: the even neighbour, below
        Case{DType::float16, 0x3C01, 0x3C02, 0x3C02},   // halfway: the even neighbour, above
        Case{DType::float16, 0x0001, 0x0002, 0x0002},   // subnormal
        Case{DType::float16, 0x7BFF, 0x7BFF, 0x7BFF},   // the largest: the sum is beyond float16
        Case{DType::float16, 0xC200, 0x3C00, 0xBC00},   // -3 and 1: -1
        Case{DType::bfloat16, 0x3F80, 0x4000, 0x3FC0},  // 1 and 2
        Case{DType::bfloat16, 0x3F80, 0x3F81, 0x3F80}, Case{DType::bfloat16, 0x3F81, 0x3F82, 0x3F82},
        Case{DType::bfloat16, 0x7F7F, 0x7F7F, 0x7F7F}, Case{DType::bfloat16, 0xC040, 0x3F80, 0xBF80}})
    EXPECT_EQ(mean_of_two(dtype, a, b), mean) << name_of(dtype) << std::hex << " " << a << ", " << b;
}

TEST(MergeErrors, AnOutputWithChannelsThatTheSpecLacksNamesThem) {
  std::vector<float> output(std::size_t{3} * 8 * 8);
  for (const auto& [axes, shape] : {std::pair(Dims{}, Dims{3, 8, 8}), {Dims{1, 2}, Dims{3, 8, 8}}, {Dims{0, 1}, Dims{8, 8, 3}}}) {
    const Tiling tiling(TilingSpec{.shape = shape, .tile = {4, 4}, .axes = axes});
    const auto whole = view(output, shape);
    const std::string error = error_of([&] { Merger(tiling, {}, whole); });
    EXPECT_TRUE(error.ends_with("; channels=3,")) << error;
    EXPECT_EQ(error_of([&] { Merger(tiling, {.channels = {3}}, whole); }), "nothing");
  }
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
