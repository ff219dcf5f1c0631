// SPDX-License-Identifier: Apache-2.0
// Tests that random boxes of random merges, and random bands of rows, have the bits of the whole merge.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <numeric>

#include "boxes.hpp"

namespace patchfold::testing {
namespace {

/// The number of boxes in a run without PATCHFOLD_CASES, and the number of boxes for each merge.
constexpr int boxes_of_a_day = 2000;
constexpr int boxes_of_a_merge = 8;

TEST(Boxes, HaveTheBitsOfTheWholeMerge) {
  const auto wanted = static_cast<int>(boxes_of_a_day * scale_of_run());
  std::map<std::string, int> seen;
  int boxes = 0;
  for (int number = 0; boxes < wanted; ++number) {
    Random random(seed_of_case(seed_of_run(), "boxes", number));
    const std::optional<Whole> whole = draw_whole(random);
    if (!whole) continue;
    const BoxMerger merger(whole->tiling, whole->spec);
    const TilingSpec& tiling = whole->tiling.spec();
    ++seen["rank " + std::to_string(tiling.tile.size())];
    ++seen["reduce " + std::string(word_of(reduction_of(whole->spec)))];
    ++seen["tail " + std::string(word_of(tiling.tail))];
    ++seen["window " + std::string(word_of(whole->spec.window.kind))];
    ++seen["type " + std::string(name_of(whole->spec.dtype))];
    ++seen[whole->spec.mask.empty() ? "no mask" : "mask"];
    ++seen[tiling.scale.empty() ? "no scale" : "scale"];
    ++seen[whole->spec.fill ? "fill" : "no fill"];
    for (int i = 0; i < boxes_of_a_merge; ++i, ++boxes) {
      const Box box = draw_box(random, whole->tiling);
      ASSERT_EQ(wrong_elements(random, *whole, merger, box), 0)
          << "PATCHFOLD_SEED=" << seed_of_run() << ", case " << number << ": " << text_of(*whole, box);
    }
  }
  if (scale_of_run() >= 1) {
    EXPECT_EQ(seen.size(), 4u + 13 + 6 + 10 + 15 + 2 + 2 + 2);  // every kind of merge was drawn
  }
  RecordProperty("boxes", boxes);
  std::printf("%d boxes\n", boxes);
}

/// A sink that joins the bands of a merge, and checks where each band begins and ends.
class Bands : public RowSink {
 public:
  Bands(const Whole& whole, std::int64_t rows) : whole_(whole), rows_(rows), output(whole.output.size()) {}

  void write(Span rows, const ConstTensorView& band) override {
    const auto axis = static_cast<int>(whole_.output_axes[0]);
    EXPECT_EQ(rows.begin, next);
    EXPECT_EQ(rows.begin % rows_, 0);
    if (rows.end != whole_.shape[axis]) {
      EXPECT_EQ(rows.end % rows_, 0);
    }
    next = rows.end;
    const Dims strides = contiguous_strides(whole_.shape, whole_.output_size);
    each_index(band.shape, [&](const Dims& at) {
      std::memcpy(output.data() + rows.begin * strides[axis] + offset_of(at, strides),
                  static_cast<const std::byte*>(band.data) + offset_of(at, band.strides), whole_.output_size);
    });
  }

 private:
  const Whole& whole_;
  std::int64_t rows_;

 public:
  Bytes output;
  std::int64_t next = 0;
};

TEST(Bands, AreWholeMultiplesOfTheRowsThatASinkWants) {
  const auto wanted = static_cast<int>(300 * scale_of_run());
  int joined = 0;
  for (int number = 0, merges = 0; merges < wanted; ++number) {
    Random random(seed_of_case(seed_of_run(), "bands", number));
    std::optional<Whole> whole = draw_whole(random);
    if (!whole) continue;
    ++merges;
    MergeSpec spec = whole->spec;
    spec.copy = random.chance(50);
    spec.sink_rows = random.between(1, whole->tiling.output()[0] + 3);
    joined += spec.sink_rows > 1;
    const MergeMemory memory = merge_memory(whole->tiling, spec, true);
    const bool in_order = random.chance(50);
    if (in_order && random.chance(50)) spec.memory_limit = memory.most;
    std::vector<std::int64_t> order(whole->results.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); !in_order && i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
    Bands bands(*whole, spec.sink_rows);
    Merger merger(whole->tiling, spec, bands);
    for (const std::int64_t tile : order) {
      if (!spec.mask.empty() && spec.mask[static_cast<std::size_t>(tile)] == 0) continue;
      const Dims extents = whole->tiling.result_shape(tile, spec.channels);
      merger.add(tile, {whole->results[static_cast<std::size_t>(tile)].data(), extents,
                        contiguous_strides(extents, spec.element_size), spec.dtype, spec.element_size});
    }
    merger.finish();
    ASSERT_TRUE(bands.output == whole->output)
        << "PATCHFOLD_SEED=" << seed_of_run() << ", case " << number << ", rows " << spec.sink_rows << ": "
        << text_of(*whole, whole->tiling.output().empty() ? Box{} : Box{{0, whole->tiling.output()[0]}});
    EXPECT_EQ(merger.waiting_bytes(), 0);
    if (in_order) {
      EXPECT_EQ(merger.peak_bytes(), memory.most);
    }
  }
  EXPECT_GT(joined, wanted / 2);
}

TEST(Bands, OfNoRowsAreRefused) {
  const Tiling tiling({.shape = {8}, .tile = {4}});
  try {
    check_merge(tiling, {.sink_rows = 0});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "merge: sink_rows: must be at least 1; given 0");
  }
}

}  // namespace
}  // namespace patchfold::testing
