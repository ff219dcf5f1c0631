// SPDX-License-Identifier: Apache-2.0
// Tests tilings and mergers in C: sizes of structs, pointers, counts and callbacks, which C++ does not have, and wrong calls.
#include "tiles.hpp"

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

namespace patchfold::test {
namespace {

const std::int64_t numbers[40] = {8, 8, 8};

/// A tiling of an array of 2 x 16 x 16 in tiles of 8 x 8 with a stride of 4. The tiling is right until a test changes it.
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
      {"value: tiling: spec: size must be the size of the struct; given 0, expected 128", [](Tiles& t) { t.spec.size = 0; }},
      {"value: tiling: spec: size must be the size of the struct; given 127, expected 128",
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
      {"value: tiling: padding_mode: must be constant, edge, reflect or symmetric; given wrap",
       [](Tiles& t) { t.spec.padding_mode = 4; }},
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
            "value: tiling: spec: fields that this version does not know must be 0; given 928, expected 128");
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

}  // namespace
}  // namespace patchfold::test
