// SPDX-License-Identifier: Apache-2.0
// Tests what only tilings in C have (sizes of structs, pointers, counts and callbacks), and wrong calls. Tests boxes, which
// are parts of an output, in C: tiles that touch a box, merges of a box, and wrong calls.
#include "tiles.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

namespace patchfold::test {
namespace {

const std::int64_t numbers[40] = {8, 8, 8};

/// A tiling of an array of 2 x 16 x 16 in tiles of 8 x 8 with a stride of 4. The spec is right until a test changes it.
struct Tiles {
  const std::int64_t shape[3] = {2, 16, 16}, tile[2] = {8, 8}, stride[1] = {4};
  pf_tiling_spec spec = pf_tiling_spec_of(shape, 3, tile, 2);
  pf_scalar value = {PF_VALUE_INTEGER, 0, 0, 0, 0};

  Tiles() {
    spec.stride = stride;
    spec.n_stride = 1;
    spec.value = &value;
  }
  Tiles(const Tiles&) = delete;
  TilingPointer make() const {
    pf_tiling* tiling = nullptr;
    EXPECT_OK(pf_tiling_create(&spec, &tiling));
    return TilingPointer(tiling);
  }
};

TEST(CTiling, RefusesWrongSpecs) {
  const struct {
    const char* expected;
    std::function<void(Tiles&)> change;
  } rows[] = {
      {"ok", [](Tiles&) {}},
      {"value: tiling: spec: size must be the size of the struct; given 0, expected 176", [](Tiles& t) { t.spec.size = 0; }},
      {"value: tiling: spec: size must be the size of the struct; given 127, expected 176",
       [](Tiles& t) { t.spec.size = 127; }},
      {"length: tiling: shape: the number of entries must be at least 0; given -1", [](Tiles& t) { t.spec.rank = -1; }},
      {"length: tiling: shape: the number of entries must be at least 0; given -2147483648",
       [](Tiles& t) { t.spec.rank = INT32_MIN; }},
      {"limit: tiling: shape: the list has too many entries; given 33, expected 32", [](Tiles& t) { t.spec.rank = 33; }},
      {"missing: tiling: shape: must not be NULL", [](Tiles& t) { t.spec.shape = nullptr; }},
      {"missing: tiling: tile: must not be NULL", [](Tiles& t) { t.spec.tile = nullptr; }},
      {"missing: tiling: tile: must be given; given nothing, expected an extent for each tiled axis",
       [](Tiles& t) { t.spec.n_tiled = 0; }},
      {"limit: tiling: tile: the list has too many entries; given 2147483647, expected 32",
       [](Tiles& t) { t.spec.n_tiled = INT32_MAX; }},
      {"missing: tiling: stride: must not be NULL", [](Tiles& t) { t.spec.stride = nullptr; }},
      {"length: tiling: stride: must have one entry for each extent of the tile; given [8, 8, 8], expected 2 entries",
       [](Tiles& t) {
         t.spec.stride = numbers;
         t.spec.n_stride = 3;
       }},
      {"missing: tiling: overlap: must not be NULL", [](Tiles& t) { t.spec.n_overlap = 1; }},
      {"missing: tiling: overlap: must not be NULL", [](Tiles& t) { t.spec.n_overlap_fraction = 2; }},
      {"limit: tiling: overlap: the list has too many entries; given 33, expected 32",
       [](Tiles& t) { t.spec.n_overlap_fraction = 33; }},
      {"missing: tiling: axes: must not be NULL", [](Tiles& t) { t.spec.n_axes = 2; }},
      {"missing: tiling: scale: must not be NULL", [](Tiles& t) { t.spec.n_scale = 1; }},
      {"missing: tiling: offset: must not be NULL", [](Tiles& t) { t.spec.n_offset = 2; }},
      {"missing: tiling: result: must not be NULL", [](Tiles& t) { t.spec.n_result = 2; }},
      {"length: tiling: result: the number of entries must be at least 0; given -7", [](Tiles& t) { t.spec.n_result = -7; }},
      {"value: tiling: tail: must be the number of shift, shift_or_pad, pad, partial, drop or error; given 6",
       [](Tiles& t) { t.spec.tail = 6; }},
      {"value: tiling: tail: must be the number of shift, shift_or_pad, pad, partial, drop or error; given 256",
       [](Tiles& t) { t.spec.tail = 256; }},
      {"value: tiling: tail: must be the number of shift, shift_or_pad, pad, partial, drop or error; given -1",
       [](Tiles& t) { t.spec.tail = -1; }},
      {"missing: tiling: margin: must not be NULL", [](Tiles& t) { t.spec.n_margin = 1; }},
      {"missing: tiling: margin: must not be NULL", [](Tiles& t) { t.spec.n_margin_end = 2; }},
      {"missing: tiling: output: must not be NULL", [](Tiles& t) { t.spec.n_output = 2; }},
      {"value: tiling: padding_mode: must be the number of constant, edge, reflect, symmetric or wrap; given 99",
       [](Tiles& t) { t.spec.padding_mode = 99; }},
      {"type: tiling: value: there is no such kind of number; given 4", [](Tiles& t) { t.value.kind = PF_VALUE_INTEGERS; }},
      {"type: tiling: value: there is no such kind of number; given -1", [](Tiles& t) { t.value.kind = -1; }},
      {"value: tiling: value: reserved must be 0; given 1", [](Tiles& t) { t.value.reserved = 1; }},
  };
  for (const auto& row : rows) {
    Tiles tiles;
    row.change(tiles);
    auto* tiling = reinterpret_cast<pf_tiling*>(&tiles);
    EXPECT_EQ(outcome(pf_tiling_create(&tiles.spec, &tiling)), row.expected);
    const bool is_made = tiling != nullptr;
    EXPECT_EQ(is_made, std::string(row.expected) == "ok");
    pf_tiling_destroy(tiling);
  }
  Tiles tiles;
  pf_tiling* tiling = nullptr;
  EXPECT_EQ(outcome(pf_tiling_create(nullptr, &tiling)), "missing: tiling: spec: must not be NULL");
  EXPECT_EQ(outcome(pf_tiling_create(&tiles.spec, nullptr)), "missing: pf_tiling_create: tiling: must not be NULL");
  pf_tiling_destroy(nullptr);
}

/// A struct of a later version, with a field that this version does not know.
template <class T>
struct Later {
  T known;
  std::int64_t unknown[100];
};

TEST(CTiling, TakesAndFillsStructsOfLaterVersions) {
  Tiles tiles;
  Later<pf_tiling_spec> spec{tiles.spec, {}};
  spec.known.size = sizeof spec;
  pf_tiling* made = nullptr;
  ASSERT_OK(pf_tiling_create(&spec.known, &made));
  const TilingPointer tiling(made);
  spec.unknown[99] = 1;
  EXPECT_EQ(outcome(pf_tiling_create(&spec.known, &made)),
            "value: tiling: spec: fields that this version does not know must be 0; given 976, expected 176");
  EXPECT_EQ(made, nullptr);

  Later<pf_tiling_layout> layout;
  std::memset(&layout, 0x5A, sizeof layout);
  layout.known.size = sizeof layout;
  ASSERT_OK(pf_tiling_info(tiling.get(), &layout.known));
  EXPECT_EQ(layout.known.size, sizeof layout);
  EXPECT_EQ(layout.known.count, 9);
  EXPECT_EQ(layout.known.reserved, 0);
  EXPECT_EQ(layout.unknown[0], 0);
  EXPECT_EQ(layout.unknown[99], 0);
  for (const std::uint32_t size : {0u, 4u, 95u}) {
    layout.known.size = size;
    layout.known.count = -1;
    EXPECT_EQ(outcome(pf_tiling_info(tiling.get(), &layout.known)),
              "value: tiling: layout: size must be the size of the struct; given " + std::to_string(size) + ", expected 96");
    EXPECT_EQ(layout.known.count, -1);
  }
}

TEST(CTiling, RefusesMissingPointersAndBadNumbers) {
  const Tiles tiles;
  const TilingPointer owner = tiles.make();
  const pf_tiling* tiling = owner.get();
  std::int64_t list[PF_MAX_RANK];
  std::int32_t room = PF_MAX_RANK;
  pf_tile_span span;
  pf_ratio scale;
  pf_tiling_layout layout{};
  layout.size = sizeof layout;
  char* text = nullptr;
  Tensor<float> array({2, 16, 16}), tile({2, 8, 8});
  const pf_tensor from = array.view(), to = tile.view();
  const auto expect = [](pf_status status, const std::string& expected) { EXPECT_EQ(outcome(status), expected); };
  expect(pf_tiling_info(nullptr, &layout), "missing: pf_tiling_info: tiling: must not be NULL");
  expect(pf_tiling_info(tiling, nullptr), "missing: tiling: layout: must not be NULL");
  expect(pf_tiling_tile(nullptr, 0, list, &span), "missing: pf_tiling_tile: tiling: must not be NULL");
  expect(pf_tiling_tile(tiling, 9, nullptr, nullptr),
         "value: tiling: index: must be the index of a tile; given 9, expected 0 to 8");
  expect(pf_tiling_tile(tiling, 8, nullptr, nullptr), "ok");
  expect(pf_tiling_span(nullptr, 0, 0, &span), "missing: pf_tiling_span: tiling: must not be NULL");
  expect(pf_tiling_span(tiling, 0, 0, nullptr), "missing: tiling: span: must not be NULL");
  for (const std::int32_t i : {-1, 2, INT32_MAX})
    expect(pf_tiling_span(tiling, i, 0, &span),
           "value: tiling: i: must be the number of a tiled axis; given " + std::to_string(i) + ", expected 0 to 1");
  for (const std::int64_t k : {std::int64_t{-1}, std::int64_t{3}, INT64_MAX})
    expect(pf_tiling_span(tiling, 0, k, &span), "value: tiling: k: must be the number of a tile along the axis; given " +
                                                    std::to_string(k) + ", expected 0 to 2");
  expect(pf_tiling_tile_shape(nullptr, 0, list, &room), "missing: pf_tiling_tile_shape: tiling: must not be NULL");
  expect(pf_tiling_tile_shape(tiling, 0, list, nullptr), "missing: tiling: rank: must not be NULL");
  room = 2;
  list[0] = -1;
  expect(pf_tiling_tile_shape(tiling, 0, list, &room),
         "length: tiling: shape: must have room for every axis; given 2, expected 3");
  EXPECT_EQ(room, 3);
  EXPECT_EQ(list[0], -1);
  expect(pf_tiling_result_shape(nullptr, 0, list, 1, list, &room),
         "missing: pf_tiling_result_shape: tiling: must not be NULL");
  expect(pf_tiling_result_shape(tiling, 0, list, 1, list, nullptr), "missing: tiling: rank: must not be NULL");
  expect(pf_tiling_result_shape(tiling, 0, nullptr, 1, list, &room), "missing: tiling: channels: must not be NULL");
  expect(pf_tiling_result_shape(tiling, 0, list, -1, list, &room),
         "length: tiling: channels: the number of entries must be at least 0; given -1");
  expect(pf_tiling_output_shape(nullptr, list, 1, list, &room), "missing: pf_tiling_output_shape: tiling: must not be NULL");
  expect(pf_tiling_output_shape(tiling, list, 1, list, nullptr), "missing: tiling: rank: must not be NULL");
  expect(pf_tiling_output_shape(tiling, numbers, 31, list, &room),
         "rank: tiling: channels: must leave room for the tiled axes; given 31, expected at most 30");
  room = PF_MAX_RANK;
  expect(pf_tiling_output_shape(tiling, numbers, 30, list, &room), "ok");
  EXPECT_EQ(room, 32);
  expect(pf_tiling_axes_in(nullptr, 3, list), "missing: pf_tiling_axes_in: tiling: must not be NULL");
  expect(pf_tiling_axes_in(tiling, 3, nullptr), "missing: tiling: axes: must not be NULL");
  expect(pf_tiling_axes_in(tiling, 1, list),
         "rank: tiling: result: must have an axis for each extent of the tile; given rank 1, expected rank 2 or more");
  expect(pf_tiling_result_channels(nullptr, 0, numbers, 3, list, &room),
         "missing: pf_tiling_result_channels: tiling: must not be NULL");
  expect(pf_tiling_result_channels(tiling, 0, numbers, 3, list, nullptr), "missing: tiling: n_channels: must not be NULL");
  expect(pf_tiling_result_channels(tiling, 0, nullptr, 3, list, &room), "missing: tiling: result: must not be NULL");
  expect(pf_tiling_result_channels(tiling, 0, numbers, 40, list, &room),
         "limit: tiling: result: the list has too many entries; given 40, expected 32");
  expect(pf_tiling_scale_of(nullptr, 0, numbers, 3, &scale), "missing: pf_tiling_scale_of: tiling: must not be NULL");
  expect(pf_tiling_scale_of(tiling, 0, numbers, 3, nullptr), "missing: tiling: scale: must not be NULL");
  expect(pf_tiling_scale_of(tiling, 9, numbers, 3, &scale),
         "value: tiling: index: must be the index of a tile; given 9, expected 0 to 8");
  expect(pf_tiling_cut(nullptr, 0, &from, &to, nullptr), "missing: pf_tiling_cut: tiling: must not be NULL");
  expect(pf_tiling_cut(tiling, 0, nullptr, &to, nullptr), "missing: tiling: array: must not be NULL");
  expect(pf_tiling_cut(tiling, 0, &from, nullptr, nullptr), "missing: tiling: tile: must not be NULL");
  expect(pf_tiling_cut(tiling, 0, &to, &to, nullptr),
         "shape: tiling: array: must have the shape of the tiling; given [2, 8, 8], expected [2, 16, 16]");
  pf_executor executor = *pf_serial_executor();
  executor.threads = 0;
  expect(pf_tiling_cut(tiling, 0, &from, &to, &executor), "value: tiling: executor: threads must be at least 1; given 0");
  expect(pf_tiling_coverage(nullptr, &to), "missing: pf_tiling_coverage: tiling: must not be NULL");
  expect(pf_tiling_coverage(tiling, nullptr), "missing: tiling: counts: must not be NULL");
  Tensor<std::int64_t> few({2, 8});
  Tensor<float> floats({16, 16});
  const std::string counts = "shape: tiling: counts: must be int64 of the shape of the output's tiled axes; given ";
  const pf_tensor of_few = few.view(), of_floats = floats.view();
  expect(pf_tiling_coverage(tiling, &of_few), counts + "int64 of [2, 8], expected [16, 16]");
  expect(pf_tiling_coverage(tiling, &of_floats), counts + "float32 of [16, 16], expected [16, 16]");
  expect(pf_tiling_json(nullptr, 0, &text), "missing: pf_tiling_json: tiling: must not be NULL");
  expect(pf_tiling_json(tiling, 0, nullptr), "missing: pf_tiling_json: text: must not be NULL");
  EXPECT_EQ(text, nullptr);
}

TEST(CTiling, OfManyTilesIsArithmetic) {
  const std::int64_t shape[] = {std::int64_t{1} << 50}, tile[] = {16}, stride[] = {1};
  pf_tiling_spec spec = pf_tiling_spec_of(shape, 1, tile, 1);
  spec.stride = stride;
  spec.n_stride = 1;
  pf_tiling* made = nullptr;
  ASSERT_OK(pf_tiling_create(&spec, &made));
  const TilingPointer tiling(made);
  pf_tile_span span;
  ASSERT_OK(pf_tiling_tile(made, (std::int64_t{1} << 50) - 16, nullptr, &span));
  EXPECT_EQ(span.read_end, shape[0]);
  char* text = nullptr;
  ASSERT_OK(pf_tiling_json(made, 0, &text));
  EXPECT_NE(std::strstr(TextPointer(text).get(), "1125899906842609"), nullptr);
  const pf_merge_spec merge = pf_merge_spec_of(PF_DTYPE_FLOAT32, nullptr, 0);
  pf_merge_bytes bytes{};
  bytes.size = sizeof bytes;
  for (const int to_sink : {0, 1})
    EXPECT_EQ(outcome(pf_merge_memory(made, &merge, to_sink, &bytes)),
              "limit: merge: tiling: must have at most 2^22 tiles along an axis for a merge; given 1125899906842609");
}

TEST(CTiling, CutsOnManyThreadsAtOnce) {
  const Tiles tiles;
  const TilingPointer tiling = tiles.make();
  Tensor<float> array({2, 16, 16});
  array.count_up();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const std::int64_t index = round % 9;
        Tensor<float> tile({2, 8, 8});
        const pf_tensor from = array.view(), to = tile.view();
        pf_tile_span spans[2];
        wrong += pf_tiling_cut(tiling.get(), index, &from, &to, nullptr) != PF_OK;
        wrong += pf_tiling_tile(tiling.get(), index, nullptr, spans) != PF_OK;
        const auto first = static_cast<std::size_t>(spans[0].read_begin * 16 + spans[1].read_begin);
        wrong += tile.values[0] != array.values[first] || tile.values[127] != array.values[256 + first + 7 * 16 + 7];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

/// An array of 2 channels x 9 x 11, in tiles of 4 x 5 that overlap by 2, with the results of the tiles and their merge.
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

/// The pieces of a box: for each tile that touches the box, a tensor with the part of the tile's result inside the box.
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
  EXPECT_EQ(as_finished, ends_of(104, 5));  // 104: the struct's size without the field sink_rows
  EXPECT_EQ(ends_of(whole, 4), (std::vector<std::int64_t>{4, 8, 9}));
  boxes.spec.sink_rows = -1;
  EXPECT_EQ(outcome(pf_merge_check(boxes.tiling.get(), &boxes.spec)),
            "value: merge: sink_rows: must be at least 1; given -1");
}

}  // namespace
}  // namespace patchfold::test
