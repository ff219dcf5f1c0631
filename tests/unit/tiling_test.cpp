// SPDX-License-Identifier: Apache-2.0
// Tests the positions of tiles.
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "merge_support.hpp"

namespace patchfold {
namespace {

TEST(TilingLayout, WordsStandForChoices) {
  using Kind = WeightWindow::Kind;
  EXPECT_EQ(listed_words<Tail>(), "shift, shift_or_pad, pad, partial, drop or error");
  EXPECT_EQ(listed_words<Reduce>(), "mean, sum, max, min, first, last, center, nanmean, nanmax, nanmin, median, vote or argmax");
  EXPECT_EQ(listed_words<Kind>(has_formula), "ones, linear, hann, cosine, gaussian, tukey or hamming");
  EXPECT_EQ(value_of<Kind>("array"), Kind::array);
  EXPECT_EQ(value_of<Tail>("Shift"), std::nullopt);
  EXPECT_EQ(word_of(static_cast<Reduce>(13)), "?");
}

TEST(TilingLayout, ShortAxesArePaddedAndOthersShifted) {
  const Tiling tiling(TilingSpec{.shape = {5, 20}, .tile = {8, 8}, .stride = 6, .tail = Tail::shift_or_pad});
  EXPECT_EQ(tiling.grid(), (Dims{1, 3}));
  EXPECT_EQ(tiling.span(0, 0).read, (Span{0, 5}));
  EXPECT_EQ(tiling.span(0, 0).extent, 8);
  EXPECT_EQ(tiling.span(0, 0).write, (Span{0, 5}));
  EXPECT_EQ(tiling.span(1, 2).read, (Span{12, 20}));
  const Tiling shifted(TilingSpec{.shape = {8, 21}, .tile = {8, 8}, .stride = 6, .tail = Tail::shift_or_pad});
  const Tiling same(TilingSpec{.shape = {8, 21}, .tile = {8, 8}, .stride = 6, .tail = Tail::shift});
  ASSERT_EQ(shifted.grid(), same.grid());
  for (std::int64_t k = 0; k < shifted.grid()[1]; ++k) EXPECT_EQ(shifted.span(1, k), same.span(1, k));
}

TEST(TilingLayout, TilesBeginAtMultiplesOfAlign) {
  const Tiling tiling(TilingSpec{.shape = {30, 29}, .tile = {12, 12}, .overlap = 4, .align = {4, 2}});
  ASSERT_EQ(tiling.grid(), (Dims{4, 4}));
  EXPECT_EQ(tiling.span(0, 2).read, (Span{16, 28}));
  EXPECT_EQ(tiling.span(0, 3).read, (Span{20, 30}));  // without `align` it begins at 18, which is no multiple of 4
  EXPECT_EQ(tiling.span(0, 3).extent, 12);
  EXPECT_EQ(tiling.span(0, 3).write, (Span{20, 30}));
  EXPECT_EQ(tiling.span(1, 3).read, (Span{18, 29}));
  const Tiling plain(TilingSpec{.shape = {30, 29}, .tile = {12, 12}, .overlap = 4});
  EXPECT_EQ(plain.span(0, 3).read, (Span{18, 30}));
  EXPECT_EQ(Tiling(TilingSpec{.shape = {30, 29}, .tile = {12, 12}, .overlap = 4, .align = 1}).to_json(), plain.to_json());
  EXPECT_NE(tiling.to_json().find("\"result\": [12, 12], \"align\": [4, 2], \"output\""), std::string::npos);
  const Tiling uneven(TilingSpec{.shape = {41}, .tile = {14}, .stride = 8, .align = 8});  // the tile is no multiple of align
  EXPECT_EQ(uneven.span(0, 4).read, (Span{32, 41}));
}

TEST(TilingLayout, StridesThatAreNoMultiplesOfAlignAreRefused) {
  const auto refusal = [](TilingSpec spec) { return error_of([&] { Tiling{spec}; }); };
  EXPECT_EQ(refusal({.shape = {3, 700, 900}, .tile = {128, 128}, .overlap = {32, 30}, .align = 4}),
            "tiling: overlap: must be the tile less a multiple of align; given 30 along axis 2, expected 28 or 32, or "
            "a tile of 126 or 130");
  EXPECT_EQ(refusal({.shape = {99}, .tile = {10}, .align = 4}),
            "tiling: overlap: must be the tile less a multiple of align; given 0 along axis 0, expected 2, or a tile of 8 or 12");
  EXPECT_EQ(refusal({.shape = {99}, .tile = {10}, .overlap = 8, .align = 4}),
            "tiling: overlap: must be the tile less a multiple of align; given 8 along axis 0, expected 6, or a tile of 12");
  EXPECT_EQ(refusal({.shape = {99}, .tile = {3}, .align = 4}),
            "tiling: overlap: must be the tile less a multiple of align; given 0 along axis 0, expected a tile of 4");
  EXPECT_EQ(refusal({.shape = {99}, .tile = {10}, .stride = 7, .align = 4}),
            "tiling: stride: must be a multiple of align; given 7 along axis 0, expected 4 or 8");
  EXPECT_EQ(refusal({.shape = {99}, .tile = {10}, .stride = 3, .align = 4}),
            "tiling: stride: must be a multiple of align; given 3 along axis 0, expected 4");
  EXPECT_EQ(refusal({.shape = {99}, .tile = {10}, .stride = 4, .align = 0}),
            "tiling: align: must be at least 1 on every axis; given 0");
  EXPECT_EQ(refusal({.shape = {99}, .tile = {10}, .stride = 4, .align = {1, 2}}),
            "tiling: align: must have one entry for each extent of the tile; given [1, 2], expected 1 entry");
}

TEST(TilingLayout, AnAxisThatIsShorterThanTheTileMayHoldChannels) {
  EXPECT_EQ(error_of([] {
              Tiling(TilingSpec{.shape = {300, 300, 3}, .tile = {256, 256}});
            }),
            "tiling: tile: axis 2 has 3 elements: channels last?; given [256, 256], expected axes=0,1");
  EXPECT_EQ(
      error_of([] {
        Tiling(TilingSpec{.shape = {300, 3}, .tile = {256, 256}});
      }),
      "tiling: tile: must not be larger than the array if the last tile is shifted; given [256, 256], expected at most 3 "
      "along axis 1, or tail=shift_or_pad, tail=pad or tail=partial");
}

TEST(TilingLayout, ResultsOfAnotherSizeHaveAScale) {
  const Tiling tiling(TilingSpec{.shape = {3, 20, 30}, .tile = {8, 10}, .stride = 5});
  EXPECT_EQ(tiling.scale_of(0, {3, 16, 20}), (Ratio{2, 1}));
  EXPECT_EQ(tiling.scale_of(0, {4, 5}), (Ratio{1, 2}));
  for (const Dims& shape : {Dims{3, 8, 10}, Dims{3, 16, 30}, Dims{20}, Dims{3, 0, 0}})
    EXPECT_EQ(tiling.scale_of(0, shape), std::nullopt) << to_string(shape);
}

TEST(TilingLayout, ChoicesThatAreNoneAreRefused) {
  TilingSpec spec{.shape = {9}, .tile = {4}, .tail = static_cast<Tail>(6)};
  EXPECT_EQ(error_of([&] { Tiling{spec}; }),
            "tiling: tail: must be shift, shift_or_pad, pad, partial, drop or error; given 6");
  spec.tail = Tail::pad;
  spec.padding_mode = static_cast<PaddingMode>(200);
  EXPECT_EQ(error_of([&] { Tiling{spec}; }),
            "tiling: padding_mode: must be constant, edge, reflect, symmetric or wrap; given 200");
}

TEST(TilingLayout, TilesReadTheMarginsOfTheArray) {
  const Tiling tiling(TilingSpec{.shape = {10}, .tile = {6}, .stride = 4, .margin = 2, .margin_end = 4});
  ASSERT_EQ(tiling.grid(), Dims{4});
  EXPECT_EQ(tiling.reach(0), (Span{-2, 14}));
  EXPECT_EQ(tiling.span(0, 0).origin, -2);
  EXPECT_EQ(tiling.span(0, 0).read, (Span{0, 4}));
  EXPECT_EQ(tiling.span(0, 0).padding(), (Span{2, 0}));
  EXPECT_EQ(tiling.span(0, 0).write, (Span{0, 4}));
  EXPECT_EQ(tiling.span(0, 0).keep, (Span{2, 6}));
  EXPECT_EQ(tiling.span(0, 3).origin, 8);  // moved back from 10
  EXPECT_EQ(tiling.span(0, 3).padding(), (Span{0, 4}));
  EXPECT_NE(tiling.to_json().find("\"margin\": [[2, 4]], \"output\": [10]"), std::string::npos);
  const auto refusal = [](TilingSpec spec) { return error_of([&] { Tiling{spec}; }); };
  EXPECT_EQ(refusal({.shape = {10}, .tile = {6}, .stride = 4, .align = 4, .margin = 2}),
            "tiling: margin: must be a multiple of align before the array; given 2 along axis 0, expected a multiple of 4");
  EXPECT_EQ(
      refusal({.shape = {10}, .tile = {6}, .tail = Tail::partial, .margin = 6}),
      "tiling: margin: must leave every partial tile an element of the array; given [6], expected less than 6 along axis 0");
  EXPECT_EQ(refusal({.shape = {10}, .tile = {6}, .margin = {1, 1}}),
            "tiling: margin: must have one entry for each extent of the tile; given [1, 1], expected 1 entry");
  EXPECT_EQ(refusal({.shape = {10}, .tile = {6}, .output = {-1}}),
            "tiling: output: must be at least 0 on every axis; given [-1]");
}

TEST(TilingLayout, PartialTilesEndWithTheArrayAtBothEnds) {
  const Tiling tiling(TilingSpec{.shape = {509}, .tile = {256}, .stride = 254, .tail = Tail::partial, .margin = 1});
  ASSERT_EQ(tiling.grid(), Dims{3});
  EXPECT_EQ(tiling.span(0, 0).read, (Span{0, 255}));
  EXPECT_EQ(tiling.span(0, 1).read, (Span{253, 509}));
  EXPECT_EQ(tiling.span(0, 2).read, (Span{507, 509}));
  for (std::int64_t k = 0; k < 3; ++k) EXPECT_EQ(tiling.span(0, k).write, tiling.span(0, k).read);
  EXPECT_EQ(tiling.largest(), 1);
}

TEST(TilingLayout, CutsEveryPaddingModeAtBothEnds) {
  const std::vector<std::int32_t> array{10, 11, 12};
  const std::map<PaddingMode, std::vector<std::int32_t>> expected{{PaddingMode::constant, {0, 0, 10, 11, 12, 0, 0}},
                                                                  {PaddingMode::edge, {10, 10, 10, 11, 12, 12, 12}},
                                                                  {PaddingMode::reflect, {12, 11, 10, 11, 12, 11, 10}},
                                                                  {PaddingMode::symmetric, {11, 10, 10, 11, 12, 12, 11}},
                                                                  {PaddingMode::wrap, {11, 12, 10, 11, 12, 10, 11}}};
  for (const auto& [mode, elements] : expected) {
    const Tiling tiling(TilingSpec{.shape = {3}, .tile = {7}, .padding_mode = mode, .margin = 2});
    std::vector<std::int32_t> tile(7);
    tiling.cut(0, view(array.data(), {3}), view(tile.data(), {7}));
    EXPECT_EQ(tile, elements) << word_of(mode);
  }
}

TEST(TilingLayout, HintsExplainResultsOfOtherSizes) {
  const auto hint = [](TilingSpec spec, const Dims& shape, std::int64_t index = 0) {
    return error_of([&] { Tiling{spec}.result_channels(index, shape); });
  };
  EXPECT_EQ(
      hint({.shape = {3, 2000, 2000}, .tile = {512, 512}, .overlap = 8}, {3, 504, 504}),
      "tiling: result: must have the shape of the tile's result; given [3, 504, 504], expected [3, 512, 512]: if results "
      "lack a border of tiles, make the tiling with offset=4 and result=504, and merge with fill=0 for the border of the "
      "whole, or with offset=4 and result=504 and margin=4");
  const std::string rule = "tiling: result: must have the shape of the tile's result; given ";
  EXPECT_EQ(hint({.shape = {64}, .tile = {20}, .overlap = 4, .margin = 2}, {16}),
            rule + "[16], expected [20]: if results lack a border of tiles, make the tiling with offset=2 and result=16");
  EXPECT_EQ(hint({.shape = {9, 64}, .tile = {5, 32}, .overlap = {1, 0}}, {17, 256}),
            rule +
                "[17, 256], expected [5, 32]: results of this extent need a tiling with scale=4,8 and result=17,256 and "
                "output=33,512");
  EXPECT_EQ(
      hint({.shape = {64}, .tile = {16}}, {28}),
      rule +
          "[28], expected [16]: results of this extent need a tiling with overlap=2 and scale=2 and offset=2 and result=28, and "
          "merge with fill=0 for the border of the whole");
  EXPECT_EQ(hint({.shape = {64}, .tile = {16}}, {23}, 1), rule + "[23], expected [16]");
}

TEST(TilingLayout, HintsKnowTilesThatHoldAPixelOfEachNeighbour) {  // and none beyond the picture, as in Deep Zoom
  for (const auto& [tile, overlap] : {std::pair{254, 0}, {254, 1}})
    for (const auto& [size, index] : {std::pair{Dims{255, 255}, 0}, {Dims{255, 256}, 1}}) {
      const TilingSpec spec{.shape = {1000, 1000}, .tile = {tile, tile}, .overlap = overlap};
      EXPECT_EQ(error_of([&, index = index, size = size] { Tiling{spec}.result_channels(index, size); }),
                "tiling: result: must have the shape of the tile's result; given " + to_string(size) + ", expected " +
                    to_string(spec.tile) + ": if tiles also hold 1 element of each neighbour, make the tiling with tile=256,256 "
                    "and overlap=2 and margin=1 and tail=partial; Boxes take tiles at any places");
    }
  const TilingSpec given{.shape = {1000, 1000}, .tile = {256, 256}, .overlap = 2, .tail = Tail::partial, .margin = 1};
  EXPECT_EQ(Tiling{given}.result_channels(1, {255, 256}), Dims{});
}

TEST(TilingLayout, HintsAlignTilesOfPools) {
  const TilingSpec without{.shape = {512, 510}, .tile = {128, 128}, .overlap = {32, 30}};
  EXPECT_NE(error_of([&] { Tiling{without}.result_channels(0, {32, 32}); })
                .find("expected [128, 128]: results are 1/4 times as large as tiles, so make the tiling with scale=1/4 and align=4 "
                      "and overlap=32 if that holds for tiles of every size, or if results lack a border"),
            std::string::npos);
  TilingSpec spec = without;
  spec.scale = {{1, 4}};
  const std::string rule = " must be whole numbers of output elements; given ";
  EXPECT_EQ(error_of([&] { Tiling{spec}; }),
            "tiling: scale: strides" + rule + "98 * 1 / 4, expected a multiple of 4, as with align=4 and overlap=32");
  spec.overlap = 32;
  EXPECT_EQ(error_of([&] { Tiling{spec}; }),
            "tiling: scale: starts of the last tiles" + rule + "382 * 1 / 4, expected a multiple of 4, as with align=4");
  spec.align = 4;
  EXPECT_EQ(Tiling{spec}.output_shape({}), (Dims{128, 128}));
  spec.tile = {126, 126};  // no alignment divides a tile
  EXPECT_EQ(error_of([&] { Tiling{spec}; }), "tiling: overlap: must be the tile less a multiple of align; given 32 along axis 0, "
                                             "expected 30 or 34, or a tile of 124 or 128");
  spec.align = {};
  EXPECT_EQ(error_of([&] { Tiling{spec}; }), "tiling: scale: strides" + rule + "94 * 1 / 4, expected a multiple of 4");
}

TEST(TilingLayout, ResultsSayTheirChannels) {
  const Tiling tiling({.shape = {3, 9, 8}, .tile = {4, 4}, .overlap = 1, .tail = Tail::partial});
  EXPECT_EQ(tiling.result_channels(0, {7, 4, 4}), Dims{7});
  EXPECT_EQ(tiling.result_channels(2, {4, 2}), Dims{});
  EXPECT_EQ(error_of([&] {
              tiling.result_channels(2, {7, 4, 4});
            }),
            "tiling: result: must have the shape of the tile's result; given [7, 4, 4], expected [7, 4, 2]");
  EXPECT_EQ(error_of([&] { tiling.result_channels(0, {4}); }),
            "tiling: result: must have an axis for each extent of the tile; given rank 1, expected rank 2 or more");
  EXPECT_EQ(error_of([&] {
              tiling.result_channels(99, {4, 4});
            }),
            "tiling: index: must be the index of a tile; given 99, expected 0 to 8");
}

TEST(TilingLayout, TilesAreARange) {
  static_assert(std::input_iterator<Tiling::Iterator>);
  const Tiling tiling(TilingSpec{.shape = {20, 30}, .tile = {8, 8}, .overlap = 2});
  std::int64_t index = 0;
  for (const Tile tile : tiling) {
    EXPECT_EQ(tile.index, index++);
    EXPECT_EQ(tile.spans[1], tiling.span(1, tile.position[1]));
  }
  EXPECT_EQ(index, tiling.size());
}

}  // namespace
}  // namespace patchfold
