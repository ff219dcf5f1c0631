// SPDX-License-Identifier: Apache-2.0
// Tests merges with `running_sums`, which add each tile to the output at once. These merges must give the bits of merges
// without running sums, and use the predicted memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "merge_support.hpp"

namespace patchfold {
namespace {

/// A random tiling with random tiles.
class Drawn {
 public:
  explicit Drawn(std::uint32_t seed) : random_(seed), tiling_(draw()) {
    spec_.window.kind = static_cast<WeightWindow::Kind>(between(0, 4));
    if (chance(30)) {
      spec_.window.kind = WeightWindow::Kind::array;
      for (std::int64_t n = element_count(tiling_.result()); n > 0; --n)
        spec_.window.array.push_back(static_cast<double>(between(1, 1000)) / 7);
    }
    spec_.reduce = Reduce::mean;
    spec_.copy = true;
    for (int axis = tiling_.output().size(); axis < tiling_.spec().shape.size(); ++axis)
      spec_.channels.push_back(tiling_.spec().shape[axis]);
    if (chance(30)) {
      spec_.fill = -7;
      for (std::int64_t i = 0; i < tiling_.size(); ++i) spec_.mask.push_back(chance(80));
    }
    for (std::int64_t i = 0; i < tiling_.size(); ++i) {
      std::vector<float>& tile = tiles_.emplace_back();
      for (std::int64_t n = element_count(tiling_.result_shape(i, spec_.channels)); n > 0; --n) tile.push_back(number());
      if (come(i)) order_.push_back(i);
    }
    if (chance(30))
      std::shuffle(order_.begin(), order_.end(), random_);
    else if (chance(60))
      for (std::size_t i = 1; i < order_.size(); i += static_cast<std::size_t>(between(1, 5)))
        std::swap(order_[i], order_[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i)))]);
  }

  void sort() { std::sort(order_.begin(), order_.end()); }

  std::vector<float> merged(RunningSums running_sums, bool to_sink, bool has_gaps) {
    spec_.running_sums = running_sums;
    spec_.sink_rows = to_sink ? between(1, 5) : 1;
    const Dims shape = tiling_.output_shape(spec_.channels);
    const auto size = static_cast<std::size_t>(element_count(shape));
    const std::int64_t step = has_gaps ? 3 : 1;
    Dims strides = contiguous_strides(shape, static_cast<std::size_t>(step) * sizeof(float));
    if (!to_sink && shape.size() > 1 && is_turned_) {  // in memory, the last axis is the slowest one
      auto stride = step * static_cast<std::int64_t>(sizeof(float));
      for (int axis = 0; axis < shape.size(); ++axis) {
        strides[axis] = stride;
        stride *= shape[axis];
      }
    }
    std::vector<float> output(size * static_cast<std::size_t>(step), -3);
    Rows rows(size / static_cast<std::size_t>(std::max<std::int64_t>(1, shape[0])) * sizeof(float));
    const MergeMemory memory = merge_memory(tiling_, spec_, to_sink);
    Merger merger = to_sink
                        ? Merger(tiling_, spec_, rows)
                        : Merger(tiling_, spec_, TensorView{output.data(), shape, strides, DType::float32, sizeof(float)});
    for (const std::int64_t i : order_)
      merger.add(i,
                 view(std::as_const(tiles_[static_cast<std::size_t>(i)]).data(), tiling_.result_shape(i, spec_.channels)));
    merger.finish();
    EXPECT_EQ(merger.waiting_bytes(), 0);
    if (std::is_sorted(order_.begin(), order_.end())) {
      EXPECT_EQ(merger.peak_bytes(), memory.most);
    }
    if (to_sink) {
      std::vector<float> values(size);
      if (size > 0) std::memcpy(values.data(), rows.bytes.data(), rows.bytes.size());
      return values;
    }
    std::vector<float> values;
    Dims at = Dims::filled(shape.size(), 0);
    for (std::size_t i = 0; i < size; ++i) {
      std::int64_t offset = 0;
      for (int axis = 0; axis < shape.size(); ++axis) offset += at[axis] * strides[axis];
      values.push_back(output[static_cast<std::size_t>(offset) / sizeof(float)]);
      for (int axis = shape.size(); axis-- > 0;)
        if (++at[axis] < shape[axis])
          break;
        else
          at[axis] = 0;
    }
    return values;
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  bool come(std::int64_t tile) const { return spec_.mask.empty() || spec_.mask[static_cast<std::size_t>(tile)] != 0; }
  float number() {
    switch (between(0, 30)) {
      case 0: return std::numeric_limits<float>::quiet_NaN();
      case 1: return std::numeric_limits<float>::infinity();
      case 2: return -std::numeric_limits<float>::infinity();
      case 3: return -0.0F;
      case 4: return std::numeric_limits<float>::max();
      default: return chance(30) ? 0.3F : static_cast<float>(between(-1000000, 1000000)) / 7919;
    }
  }
  Tiling draw() {
    TilingSpec spec;
    Dims stride;
    const auto rank = static_cast<int>(between(1, 3));
    for (int axis = 0; axis < rank; ++axis) {
      spec.tile.push_back(between(1, rank == 3 ? 9 : 24));
      spec.shape.push_back(between(1, rank == 1 ? 200 : rank == 2 ? 50 : 20));
      stride.push_back(between(1, spec.tile[axis]));
      spec.axes.push_back(axis);
    }
    spec.stride = stride;
    if (chance(40)) spec.shape.push_back(between(1, 4));
    spec.tail = std::array{Tail::shift_or_pad, Tail::pad, Tail::partial}[static_cast<std::size_t>(between(0, 2))];
    if (chance(50)) is_turned_ = true;
    return Tiling(spec);
  }

  std::mt19937 random_;
  bool is_turned_ = false;
  Tiling tiling_;
  MergeSpec spec_{};
  std::vector<std::vector<float>> tiles_{};
  std::vector<std::int64_t> order_{};
};

TEST(MergeRunningSums, GivesTheBitsOfTilesThatWait) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Drawn drawn(seed);
    const std::vector<float> expected = drawn.merged(RunningSums::none, false, false);
    for (const bool to_sink : {false, true}) {
      const std::vector<float> given = drawn.merged(RunningSums::float64, to_sink, seed % 3 == 0);
      ASSERT_EQ(given.size(), expected.size());
      for (std::size_t i = 0; i < given.size(); ++i)
        ASSERT_EQ(std::memcmp(&given[i], &expected[i], sizeof(float)), 0)
            << given[i] << " for " << expected[i] << ": seed " << seed << ", element " << i << (to_sink ? ", sink" : "");
    }
  }
}

TEST(MergeRunningSums, OfFortyEightBitsHaveTheSameBitsInAnyOrder) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Drawn drawn(seed);
    const std::vector<float> wide = drawn.merged(RunningSums::none, false, false);
    const std::vector<float> given = drawn.merged(RunningSums::float48, seed % 2 == 0, seed % 3 == 0);
    drawn.sort();
    const std::vector<float> expected = drawn.merged(RunningSums::float48, false, false);
    ASSERT_EQ(given.size(), expected.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      ASSERT_EQ(std::memcmp(&given[i], &expected[i], sizeof(float)), 0)
          << given[i] << " for " << expected[i] << ": seed " << seed << ", element " << i;
      // Sums of numbers of both signs may lose more, but not beyond the rounding of their largest number.
      if (std::isfinite(wide[i]) && std::abs(wide[i]) < 1e4F) {
        ASSERT_NEAR(given[i], wide[i], 1e-4F) << seed;
      } else {
        ASSERT_EQ(std::isnan(given[i]), std::isnan(wide[i])) << seed;
      }
    }
  }
}

TEST(MergeRunningSums, NeedsLessMemoryThanTilesThatWait) {
  const Tiling tiling(TilingSpec{.shape = {40, 40, 40, 3}, .tile = {24, 24, 24}, .stride = {12, 12, 12}, .axes = {0, 1, 2}});
  MergeSpec spec;
  spec.channels = {3};
  spec.copy = true;
  const std::int64_t waiting = merge_memory(tiling, spec, false).most;
  spec.running_sums = RunningSums::float64;
  const std::int64_t output = std::int64_t{40} * 40 * 40 * 3 * 4;
  EXPECT_LE(merge_memory(tiling, spec, false).most * 3, waiting);
  EXPECT_LE(merge_memory(tiling, spec, false).most, output);
  EXPECT_LE(merge_memory(tiling, spec, true).most, 2 * output);
  const std::int64_t wide = merge_memory(tiling, spec, false).most;
  spec.running_sums = RunningSums::float48;
  EXPECT_EQ(merge_memory(tiling, spec, false).most * 2, wide);
}

TEST(MergeRunningSums, RefusesWeightsOfTiles) {
  const Tiling tiling(two_axes({8, 8}, {4, 4}, 2));
  MergeSpec spec;
  spec.copy = true;
  spec.running_sums = RunningSums::float64;
  std::vector<float> output(64);
  Merger merger(tiling, spec, view(output.data(), {8, 8}));
  const std::vector<float> tile(16);
  EXPECT_EQ(error_of([&] {
              merger.add(0, view(tile.data(), {4, 4}), TileWeights{.number = 2});
            }),
            "merge: tile 0 at position [0, 0]: must have no weights of its own in running sums; given weights, "
            "expected no weights, or a merge without `running_sums`");
}

}  // namespace
}  // namespace patchfold
