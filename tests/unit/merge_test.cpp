// SPDX-License-Identifier: Apache-2.0
// Tests tilings and mergers in C++: round trips, predicted and actual memory, and refusals.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstring>
#include <stdexcept>

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
  // A tile of 1 MB finishes 192 K elements of the output, enough for three pieces for each of four threads. At least eight are
  // required.
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

/// A scope that forces the way to write outputs.
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
    for (const std::size_t off_line : {0, 1}) {  // only rows that begin with a line of the cache leave past it
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

}  // namespace
}  // namespace patchfold
