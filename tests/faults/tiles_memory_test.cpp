// SPDX-License-Identifier: Apache-2.0
// Tests tilings that are made and cut, and merges of tiles, with failing allocations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "memory.hpp"
#include "operators.hpp"
#include "patchfold/tiling.hpp"

namespace patchfold::faults {
namespace {

struct Case {
  const char* name;
  TilingSpec tiling{.shape = {14, 11}, .tile = {6, 5}, .overlap = 2};
  MergeSpec merge{};
  bool has_weights = false;  ///< each tile has its own weights
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const char* name) -> Case& { return all.emplace_back(Case{name}); };
  add("mean");
  add("copied").merge.copy = true;
  add("center").merge.reduce = Reduce::center;
  Case& zeros = add("weights of 0");
  zeros.merge.window.kind = WeightWindow::Kind::axes;
  zeros.merge.window.axes = {{0, 1, 2, 2, 1, 1}, {1, 2, 3, 2, 0}};
  zeros.merge.fill = 0;
  Case& gaps = add("gaps");
  gaps.tiling.overlap = -1;
  gaps.tiling.tail = Tail::drop;
  gaps.merge.fill = 2;
  Case& masked = add("masked, copied, with a limit");
  masked.merge.mask.assign(static_cast<std::size_t>(Tiling(masked.tiling).size()), 1);
  masked.merge.mask[0] = masked.merge.mask[5] = 0;
  masked.merge.fill = 1;
  masked.merge.copy = true;
  masked.merge.memory_limit = 100'000;
  Case& channels = add("channels");
  channels.tiling.shape = {14, 11, 2};
  channels.tiling.axes = {0, 1};
  channels.merge.channels = {2};
  channels.merge.reduce = Reduce::max;
  for (const bool copy : {false, true}) {
    Case& own = add(copy ? "weights of tiles, copied, with a limit" : "weights of tiles");
    own.has_weights = true;
    own.merge.copy = copy;
    if (copy) own.merge.memory_limit = 100'000;
    own.merge.fill = 3;
  }
  return all;
}

/// The tiles of a case, and their merge.
struct Work {
  explicit Work(const Case& one)
      : tiling(one.tiling), spec(one.merge), shape(tiling.output_shape(spec.channels)), has_weights(one.has_weights) {
    for (std::int64_t index = 0; index < tiling.size(); ++index) {
      if (!spec.mask.empty() && spec.mask[static_cast<std::size_t>(index)] == 0) continue;
      order.push_back(index);
      shapes.push_back(tiling.result_shape(index, spec.channels));
      auto& tile = tiles.emplace_back(static_cast<std::size_t>(element_count(shapes.back())));
      for (std::size_t i = 0; i < tile.size(); ++i)
        tile[i] = static_cast<float>(index * 37 + static_cast<std::int64_t>(i % 11));
    }
    output.resize(static_cast<std::size_t>(element_count(shape)));
  }

  struct Sink final : RowSink {
    explicit Sink(std::vector<float>& output, std::int64_t width) : output(output), width(width) {}
    void write(Span rows, const ConstTensorView& band) override {
      EXPECT_EQ(rows.begin, next);
      next = rows.end;
      std::memcpy(&output[static_cast<std::size_t>(rows.begin * width)], band.data,
                  static_cast<std::size_t>(rows.size() * width) * sizeof(float));
    }
    std::vector<float>& output;
    std::int64_t width;
    std::int64_t next = 0;
  };

  void add(Merger& merger, std::size_t i, std::shared_ptr<const void> owner = {}) const {
    TileWeights own;
    if (has_weights) own.array = view(std::as_const(weights).data(), {1, shapes[i][1]});
    merger.add(order[i], view(std::as_const(tiles[i]).data(), shapes[i]), own, std::move(owner));
  }
  Merger merger(Sink* sink) {
    return sink == nullptr ? Merger(tiling, spec, view(output.data(), shape), serial_executor())
                           : Merger(tiling, spec, *sink, serial_executor());
  }

  Tiling tiling;
  MergeSpec spec;
  Dims shape;
  bool has_weights;
  std::vector<double> weights = {1, 2, 0, 3, 0.5};  // one for each column of a tile
  std::vector<std::int64_t> order{};
  std::vector<Dims> shapes{};
  std::vector<std::vector<float>> tiles{};
  std::vector<float> output{};
};

TEST(TilesWithoutMemory, AreNeitherLaidOutNorCut) {
  for (const Case& one : cases()) {
    const Tiling tiling(one.tiling);
    const std::string json = tiling.to_json();
    fail_each_allocation(std::string(one.name) + ": tiling", [&] { Tiling made(one.tiling); });
    fail_each_allocation(std::string(one.name) + ": to_json", [&] { EXPECT_EQ(tiling.to_json(), json); });
    fail_each_allocation(std::string(one.name) + ": merge_memory",
                         [&] { EXPECT_GT(merge_memory(tiling, one.merge, true).most, 0); });
    std::vector<float> array(static_cast<std::size_t>(element_count(one.tiling.shape)), 3), tile(6 * 5 * 2);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(element_count(tiling.output())));
    fail_each_allocation(std::string(one.name) + ": cut", [&] {
      const Dims shape = tiling.tile_shape(1);
      tiling.cut(1, view(std::as_const(array).data(), one.tiling.shape), view(tile.data(), shape));
      tiling.coverage(view(counts.data(), tiling.output()));
      EXPECT_EQ(tiling[1].index, 1);
    });
    if (HasFailure()) return;
  }
  fail_each_allocation("sample", [] { EXPECT_EQ(sample({}, 100).size(), 100U); });
}

/// Lets any allocation of a merge fail, from the first step to the last, and expects the right result or an error.
TEST(TilesWithoutMemory, AreMergedInFullOrNotAtAll) {
  for (const Case& one : cases())
    for (const bool to_sink : {false, true})
      for (const bool backwards : {false, true}) {
        Work work(one);
        std::vector<float> expected;
        const auto merge = [&] {
          Work::Sink sink(work.output, static_cast<std::int64_t>(work.output.size()) / work.shape[0]);
          Merger merger = work.merger(to_sink ? &sink : nullptr);
          for (std::size_t i = 0; i < work.order.size(); ++i) work.add(merger, backwards ? work.order.size() - 1 - i : i);
          merger.finish();
          EXPECT_TRUE(expected.empty() || work.output == expected) << one.name;
        };
        merge();
        expected = work.output;
        fail_each_allocation(
            std::string(one.name) + (to_sink ? " to a sink" : "") + (backwards ? ", backwards" : ""), merge,
            {.before = [&] { std::fill(work.output.begin(), work.output.end(), -7.0F); }, .most_failures = 100});
        if (HasFailure()) return;
      }
}

/// Tests that a failed add() leaves the merger unchanged or closes it, and that a closed merger gives no result.
TEST(TilesWithoutMemory, LeaveTheMergerUsableOrClosed) {
  std::int64_t refused = 0;
  for (const Case& one : cases())
    for (const bool to_sink : {false, true})
      for (const bool lasting : {false, true}) {
        Work work(one);
        Work::Sink first(work.output, static_cast<std::int64_t>(work.output.size()) / work.shape[0]);
        Merger whole = work.merger(to_sink ? &first : nullptr);
        for (std::size_t i = 0; i < work.order.size(); ++i) work.add(whole, i);
        whole.finish();
        const auto expected = work.output;
        for (std::size_t step = 0; step < work.order.size(); ++step)
          for (std::int64_t n = 0;; ++n) {
            std::fill(work.output.begin(), work.output.end(), -7.0F);
            Work::Sink sink(work.output, first.width);
            std::optional<Merger> merger = work.merger(to_sink ? &sink : nullptr);
            bool is_closed = false, has_failed = false;
            std::weak_ptr<const void> owned;
            for (std::size_t i = 0; i < work.order.size() && !is_closed; ++i) {
              auto owner = std::make_shared<const int>(1);
              owned = owner;
              if (i != step) {
                work.add(*merger, i, owner);
                continue;
              }
              bool was_refused = false;
              {
                const FailingMemory memory(n, lasting);
                try {
                  work.add(*merger, i, owner);
                } catch (const Error& error) {
                  was_refused = error.code() == ErrorCode::out_of_memory;  // thrown where the library knows the size
                } catch (const std::bad_alloc&) {
                  was_refused = true;
                }
                has_failed = memory.has_failed();
              }
              EXPECT_TRUE(has_failed || !was_refused) << one.name;
              if (!was_refused) continue;
              ++refused;
              try {
                work.add(*merger, i, owner);
              } catch (const Error& error) {
                EXPECT_NE(std::string(error.what()).find("must not come after the merger has failed"), std::string::npos)
                    << error.what();
                is_closed = true;
              }
            }
            if (is_closed) {
              EXPECT_THROW(merger->finish(), Error) << one.name;
            } else {
              merger->finish();
              EXPECT_EQ(work.output, expected) << one.name << ": tile " << step << ", allocation " << n;
              EXPECT_EQ(merger->waiting_bytes(), 0) << one.name;
            }
            merger.reset();
            EXPECT_TRUE(owned.expired()) << one.name;
            if (HasFailure()) return;
            if (!has_failed) break;
          }
      }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace patchfold::faults
