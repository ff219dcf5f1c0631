// SPDX-License-Identifier: Apache-2.0
// Tests mergers to which several threads add tiles, and mergers that are destroyed before their end.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "at_once.hpp"
#include "executors.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::testing {
namespace {

constexpr std::int64_t height = 300, width = 200;

/// A picture cut into overlapping tiles.
struct Cut {
  Tiling tiling{TilingSpec{.shape = {height, width}, .tile = {32, 32}, .overlap = 12}};
  std::vector<float> picture = std::vector<float>(height * width);
  std::vector<std::vector<float>> tiles{};

  Cut() {
    std::iota(picture.begin(), picture.end(), 1.0f);
    for (const Tile tile : tiling) {
      tiles.emplace_back(32 * 32);
      tiling.cut(tile.index, view(std::as_const(picture).data(), {height, width}), view(tiles.back().data(), {32, 32}));
    }
  }
  ConstTensorView tile(std::int64_t index) const { return view(tiles[static_cast<std::size_t>(index)].data(), {32, 32}); }
};

/// A sink that keeps the rows, and records if two threads call it at once.
struct Rows : RowSink {
  std::vector<float> values{};
  std::atomic<bool> inside{false};
  bool at_once = false;
  void write(Span, const ConstTensorView& band) override {
    at_once = inside.exchange(true) || at_once;
    const auto* data = static_cast<const float*>(band.data);
    values.insert(values.end(), data, data + element_count(band.shape));
    inside = false;
  }
};

/// Lets each of four threads add every fourth tile. The owners of the tiles count the releases in `released`.
std::optional<std::string> add_all(Merger& merger, const Cut& cut, std::atomic<int>& released, std::int64_t last) {
  return testing::at_once(4, [&](int i) -> std::optional<std::string> {
    for (std::int64_t k = i; k < last; k += 4) {
      merger.add(k, cut.tile(k), std::shared_ptr<const void>(&cut, [&](const void*) { ++released; }));
      if (merger.waiting_bytes() > merger.peak_bytes()) return "more waits than ever waited";
      try {
        merger.add(k, cut.tile(k));
        return "a tile came twice";
      } catch (const Error&) {
      }
    }
    return std::nullopt;
  });
}

TEST(Merger, TakesTilesFromSeveralThreads) {
  const Cut cut;
  PlainThreads plain(2);
  for (const bool copy : {false, true})
    for (Executor* executor : {&default_executor(), static_cast<Executor*>(&plain)}) {
      std::atomic<int> released{0};
      std::vector<float> picture(height * width);
      Merger into_memory(cut.tiling, {.copy = copy}, view(picture.data(), {height, width}), *executor);
      EXPECT_EQ(add_all(into_memory, cut, released, cut.tiling.size()), std::nullopt);
      into_memory.finish();
      EXPECT_EQ(picture, cut.picture);

      Rows rows;
      Merger into_rows(cut.tiling, {.copy = copy}, rows, *executor);
      EXPECT_EQ(add_all(into_rows, cut, released, cut.tiling.size()), std::nullopt);
      into_rows.finish();
      EXPECT_EQ(rows.values, cut.picture);
      EXPECT_FALSE(rows.at_once);
      EXPECT_EQ(released, 2 * cut.tiling.size());
    }
}

TEST(Merger, IsDestroyedInTheMiddleByAnyThread) {
  const Cut cut;
  for (const bool copy : {false, true}) {
    std::atomic<int> released{0};
    std::vector<float> picture(height * width);
    auto merger = std::make_unique<Merger>(cut.tiling, MergeSpec{.copy = copy}, view(picture.data(), {height, width}));
    EXPECT_EQ(add_all(*merger, cut, released, cut.tiling.size() / 2), std::nullopt);
    std::thread([&] { merger.reset(); }).join();
    EXPECT_EQ(released, cut.tiling.size() / 2);
  }
}

TEST(Mergers, OfDifferentThreadsHaveNothingInCommon) {
  const Cut cut;
  const auto wrong = testing::at_once(4, [&](int i) -> std::optional<std::string> {
    for (int n = 0; n < 3; ++n) {
      std::vector<float> picture(height * width);
      Merger merger(cut.tiling, {.copy = i % 2 == 0}, view(picture.data(), {height, width}));
      for (std::int64_t k = 0; k < cut.tiling.size(); ++k) merger.add(k, cut.tile(k));
      merger.finish();
      if (picture != cut.picture) return "another picture";
    }
    return std::nullopt;
  });
  EXPECT_EQ(wrong, std::nullopt);
}

}  // namespace
}  // namespace patchfold::testing
