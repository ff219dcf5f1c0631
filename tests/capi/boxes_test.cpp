// SPDX-License-Identifier: Apache-2.0
// Tests boxes, which are parts of an output, in C: tiles that touch a box, merges of a box, and wrong calls.
#include <algorithm>
#include <array>

#include "tiles.hpp"

namespace patchfold::test {
namespace {

/// An array of 2 x 9 x 11, two channels first, in tiles of 4 x 5 that overlap by 2.
struct Boxes {
  const TilingSpec spec_of_tiling{.shape = {2, 9, 11}, .tile = {4, 5}, .overlap = 2};
  const Tiling same{spec_of_tiling};
  TilingPointer tiling = make_tiling(spec_of_tiling);
  const std::array<std::int64_t, 1> channels = {2};
  pf_merge_spec spec = pf_merge_spec_of(PF_DTYPE_FLOAT32, channels.data(), 1);
  std::vector<std::vector<float>> results{};
  std::vector<float> output = std::vector<float>(2 * 9 * 11);

  Boxes() {
    Merger merger(same, {.channels = {2}}, view(output.data(), {2, 9, 11}));
    for (std::int64_t i = 0; i < same.size(); ++i) {
      std::vector<float>& result = results.emplace_back(2 * 4 * 5);
      for (std::size_t j = 0; j < result.size(); ++j)
        result[j] = static_cast<float>((j * 7 + static_cast<std::size_t>(i) * 13) % 31);
      merger.add(i, view(std::as_const(result).data(), {2, 4, 5}));
    }
    merger.finish();
  }
  Boxes(const Boxes&) = delete;

  using BoxMergerPointer = std::unique_ptr<pf_box_merger, Destroy>;
  BoxMergerPointer make() {
    pf_box_merger* merger = nullptr;
    EXPECT_OK(pf_box_merger_create(tiling.get(), &spec, &merger));
    return BoxMergerPointer(merger);
  }
};

/// The pieces of all tiles that touch a box, with the tensors that point into them.
struct Pieces {
  std::vector<std::array<std::int64_t, 3>> shapes{};
  std::array<std::int64_t, 3> strides = {80, 20, 4};
  std::vector<pf_piece> list{};

  Pieces(Boxes& boxes, const std::array<pf_span, 2>& box) {
    std::array<pf_span, 2> tiles{};
    EXPECT_OK(pf_tiling_touching(boxes.tiling.get(), box.data(), tiles.data()));
    const std::int64_t columns = boxes.same.grid()[1];
    shapes.reserve(static_cast<std::size_t>(boxes.same.size()));
    for (std::int64_t row = tiles[0].begin; row < tiles[0].end; ++row)
      for (std::int64_t column = tiles[1].begin; column < tiles[1].end; ++column) {
        const std::int64_t index = row * columns + column;
        std::array<pf_span, 2> part{};
        EXPECT_OK(pf_tiling_piece(boxes.tiling.get(), index, box.data(), part.data()));
        shapes.push_back({2, part[0].end - part[0].begin, part[1].end - part[1].begin});
        float* first = boxes.results[static_cast<std::size_t>(index)].data() + part[0].begin * 5 + part[1].begin;
        list.push_back({index, {first, shapes.back().data(), strides.data(), 3, PF_DTYPE_FLOAT32, 0}});
      }
  }
};

TEST(CBoxes, HaveTheBitsOfTheMerge) {
  Boxes boxes;
  const auto merger = boxes.make();
  int merged = 0;
  for (std::int64_t top = 0; top < 9; ++top)
    for (std::int64_t bottom = top; bottom <= 9; bottom += 3)
      for (std::int64_t left = 0; left < 11; left += 2) {
        const std::array<pf_span, 2> box = {{{top, bottom}, {left, std::min<std::int64_t>(left + 4, 11)}}};
        Pieces pieces(boxes, box);
        std::reverse(pieces.list.begin(), pieces.list.end());
        const std::int64_t rows = bottom - top, columns = box[1].end - left;
        std::vector<float> made(static_cast<std::size_t>(2 * rows * columns), -1);
        const std::int64_t shape[] = {2, rows, columns};
        const pf_tensor to = {made.data(), shape, nullptr, 3, PF_DTYPE_FLOAT32, 0};
        ASSERT_OK(pf_box_merger_merge(merger.get(), box.data(), pieces.list.data(),
                                      static_cast<std::int64_t>(pieces.list.size()), &to, pf_serial_executor()));
        for (std::int64_t c = 0; c < 2; ++c)
          for (std::int64_t y = 0; y < rows; ++y)
            for (std::int64_t x = 0; x < columns; ++x, ++merged)
              ASSERT_EQ(made[static_cast<std::size_t>((c * rows + y) * columns + x)],
                        boxes.output[static_cast<std::size_t>((c * 9 + top + y) * 11 + left + x)]);
      }
  EXPECT_GT(merged, 1000);
}

TEST(CBoxes, WrongCallsSayWhy) {
  Boxes boxes;
  const auto merger = boxes.make();
  const std::array<pf_span, 2> box = {{{1, 5}, {2, 8}}};
  std::array<pf_span, 2> out{};
  const auto touching = [&](const pf_span* given) {
    return outcome(pf_tiling_touching(boxes.tiling.get(), given, out.data()));
  };
  EXPECT_EQ(touching(nullptr), "missing: tiling: box: must not be NULL");
  const std::array<pf_span, 2> outside = {{{0, 1}, {5, 12}}};
  EXPECT_EQ(touching(outside.data()),
            "value: tiling: box: must lie in the output; given 5 to 12 along axis 2, expected 0 to 11");
  const std::array<pf_span, 2> turned = {{{3, 1}, {5, 6}}};
  EXPECT_EQ(touching(turned.data()),
            "value: tiling: box: must lie in the output; given 3 to 1 along axis 1, expected 0 to 9");
  EXPECT_EQ(outcome(pf_tiling_touching(nullptr, box.data(), out.data())),
            "missing: pf_tiling_touching: tiling: must not be NULL");
  EXPECT_EQ(outcome(pf_tiling_piece(boxes.tiling.get(), 99, box.data(), out.data())),
            "value: tiling: index: must be the index of a tile; given 99, expected 0 to 11");
  EXPECT_EQ(outcome(pf_tiling_piece(boxes.tiling.get(), 0, box.data(), nullptr)), "missing: tiling: part: must not be NULL");

  Pieces pieces(boxes, box);
  std::vector<float> made(2 * 4 * 6, -1);
  const std::int64_t shape[] = {2, 4, 6};
  const pf_tensor to = {made.data(), shape, nullptr, 3, PF_DTYPE_FLOAT32, 0};
  const auto merge = [&](const pf_piece* list, std::int64_t count, const pf_tensor* output) {
    return outcome(pf_box_merger_merge(merger.get(), box.data(), list, count, output, nullptr));
  };
  const auto count = static_cast<std::int64_t>(pieces.list.size());
  EXPECT_EQ(merge(nullptr, 1, &to), "missing: merge: pieces: must not be NULL");
  EXPECT_EQ(merge(pieces.list.data(), -1, &to), "value: merge: n_pieces: must be at least 0; given -1");
  EXPECT_EQ(merge(pieces.list.data(), count, nullptr), "missing: merge: output: must not be NULL");
  EXPECT_EQ(merge(pieces.list.data() + 1, count - 1, &to),
            "missing: merge: pieces: must have one of each tile that gives elements of the box; given 1 missing: 0 at "
            "position [0, 0]");
  pieces.list[1].index = 0;
  EXPECT_NE(merge(pieces.list.data(), count, &to), "ok");
  EXPECT_EQ(made, std::vector<float>(2 * 4 * 6, -1));
  EXPECT_EQ(outcome(pf_box_merger_merge(nullptr, box.data(), nullptr, 0, &to, nullptr)),
            "missing: pf_box_merger_merge: merger: must not be NULL");
  pf_box_merger* none = nullptr;
  EXPECT_EQ(outcome(pf_box_merger_create(boxes.tiling.get(), nullptr, &none)), "missing: merge: spec: must not be NULL");
  EXPECT_EQ(outcome(pf_box_merger_create(boxes.tiling.get(), &boxes.spec, nullptr)),
            "missing: pf_box_merger_create: merger: must not be NULL");
  pf_box_merger_destroy(nullptr);
}

TEST(CBoxes, ChecksFindWeightsThatLeaveElementsWithoutAValue) {
  Boxes boxes;
  std::vector<double> weights(4 + 5, 1);
  weights[0] = 0;
  boxes.spec.window = PF_WINDOW_AXES;
  boxes.spec.weights = weights.data();
  boxes.spec.n_weights = 9;
  EXPECT_OK(pf_merge_check(boxes.tiling.get(), &boxes.spec));
  EXPECT_EQ(outcome(pf_merge_check_weights(boxes.tiling.get(), &boxes.spec)),
            "value: merge: tiling: must cover every element of the output unless a fill is given; given no weight above 0 "
            "for element [0, 0] of the tiled axes");
}

TEST(CBoxes, SinksGetWholeMultiplesOfRowsIfTheSpecSaysSo) {
  Boxes boxes;
  struct Bands {
    std::vector<std::int64_t> ends{};
    static std::int32_t write(void* context, std::int64_t, std::int64_t end, const pf_tensor*) {
      static_cast<Bands*>(context)->ends.push_back(end);
      return 0;
    }
  };
  const auto ends_of = [&](std::uint32_t size, std::int64_t rows) {
    Bands bands;
    boxes.spec.size = size;
    boxes.spec.sink_rows = rows;
    const pf_row_sink sink = {sizeof(pf_row_sink), 0, &bands, Bands::write};
    pf_merger* made = nullptr;
    EXPECT_OK(pf_merger_create_to_sink(boxes.tiling.get(), &boxes.spec, &sink, nullptr, &made));
    const MergerPointer merger(made);
    for (std::int64_t i = 0; i < boxes.same.size(); ++i) {
      const std::int64_t shape[] = {2, 4, 5};
      const pf_tensor tile = {boxes.results[static_cast<std::size_t>(i)].data(), shape, nullptr, 3, PF_DTYPE_FLOAT32, 0};
      EXPECT_OK(pf_merger_add(made, i, &tile, nullptr));
    }
    EXPECT_OK(pf_merger_finish(made));
    return bands.ends;
  };
  const auto whole = static_cast<std::uint32_t>(sizeof(pf_merge_spec));
  const std::vector<std::int64_t> as_finished = ends_of(whole, 0);
  EXPECT_EQ(as_finished, ends_of(whole, 1));
  EXPECT_EQ(as_finished, ends_of(104, 5));  // a program compiled before the field existed
  EXPECT_EQ(ends_of(whole, 4), (std::vector<std::int64_t>{4, 8, 9}));
  boxes.spec.sink_rows = -1;
  EXPECT_EQ(outcome(pf_merge_check(boxes.tiling.get(), &boxes.spec)),
            "value: merge: sink_rows: must be at least 1; given -1");
}

}  // namespace
}  // namespace patchfold::test
