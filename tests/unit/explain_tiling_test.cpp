// SPDX-License-Identifier: Apache-2.0
// Tests explanations of tilings: lines that were computed by hand, and numbers from a merge.
#include <gmock/gmock.h>

#include <algorithm>

#include "explain/tiles.hpp"
#include "merge_support.hpp"
#include "patchfold/explain.hpp"

namespace patchfold {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ExplainTiling, TilesByHand) {
  const std::string text = explain(Tiling(TilingSpec{.shape = {3, 1000, 700}, .tile = {256, 256}, .overlap = 32}));
  EXPECT_THAT(text, HasSubstr("Tiling: 15 tiles of 256 x 256 elements, in a grid of 5 x 3\n"
                              "  array: [3, 1000, 700], output: [3, 1000, 700]\n"));
  // Since 744 / 224 = 3.3, four tiles fit and end at 3 * 224 + 256 = 928. Tile 5 begins at 1000 - 256 = 744, 152 before 896.
  EXPECT_THAT(text, HasSubstr("  axis 1: extent 1000, tile 256, stride 224, overlap 32\n"
                              "    floor((1000 - 256) / 224) + 1 = 4 tiles fit\n"
                              "    72 elements remain: one more tile, tail shift\n"
                              "    tiles begin at 0, 224, 448, 672, 744; the last one ends at 1000\n"
                              "    the last tile is moved back by 152 and shares 184 elements with the one before\n"));
  EXPECT_THAT(text, HasSubstr("coverage: an element of the output comes from 1 to 4 tiles"));
  EXPECT_THAT(text, HasSubstr("work: the tiles hold 1.404 times as many elements as the array\n"));
  EXPECT_THAT(text, HasSubstr("merge: mean, weighted by the window hann\n"));
  EXPECT_THAT(text, HasSubstr("Weights: what tiles 0 and 1 give to the elements that they share along axis 2\n"
                              "  element  224"));
}

TEST(ExplainTiling, EveryTailIsTold) {
  const auto of = [](Tail tail, std::int64_t extent = 10) {
    return explain(Tiling(TilingSpec{.shape = {extent}, .tile = {4}, .stride = 4, .tail = tail}));
  };
  EXPECT_THAT(of(Tail::shift), HasSubstr("tiles begin at 0, 4, 6; the last one ends at 10\n"));
  EXPECT_THAT(of(Tail::pad), HasSubstr("the last tile has 2 elements of padding: 0\n"));
  EXPECT_THAT(of(Tail::partial), HasSubstr("tiles begin at 0, 4, 8; the last one ends at 10\n"));
  EXPECT_THAT(of(Tail::drop), AllOf(HasSubstr("2 elements at the end are in no tile: tail drop\n"),
                                    HasSubstr("from 0 to 1 tiles"), HasSubstr("a merge refuses this: merge: ")));
  EXPECT_THAT(of(Tail::shift_or_pad, 3), HasSubstr("the axis is shorter than a tile: 1 tile, tail shift_or_pad\n"));
  EXPECT_THAT(of(Tail::shift, 12), HasSubstr("floor((12 - 4) / 4) + 1 = 3 tiles fit\n    tiles begin at 0, 4, 8;"));
}

/// Compares the parts of each tile with a merge in which this tile holds ones and all others hold zeros.
TEST(ExplainTiling, PartsAreThoseOfAMerge) {
  const Tiling tiling(TilingSpec{.shape = {23}, .tile = {8}, .stride = 5, .tail = Tail::shift});
  using Kind = WeightWindow::Kind;
  for (const Reduce reduce : {Reduce::mean, Reduce::sum, Reduce::first, Reduce::last, Reduce::center})
    for (const Kind kind : {Kind::standard, Kind::ones, Kind::linear, Kind::hann, Kind::cosine, Kind::gaussian}) {
      MergeSpec spec{.reduce = reduce, .dtype = DType::float64, .element_size = 8};
      spec.window.kind = kind;
      const std::vector<double> weights = explaining::axis_weights(tiling, spec, 0);
      std::vector<std::int64_t> all;
      for (std::int64_t k = 0; k < tiling.size(); ++k) all.push_back(k);
      for (const std::int64_t one : all) {
        std::vector<double> output(23, -1);
        Merger merger(tiling, spec, view(output.data(), {23}));
        for (const std::int64_t k : all) {
          const auto tile = std::make_shared<std::vector<double>>(8, k == one ? 1.0 : 0.0);
          merger.add(k, ConstTensorView(view(tile->data(), {8})), tile);
          if (k + 1 == tiling.size()) merger.finish();
        }
        for (std::int64_t x = 0; x < 23; ++x)
          EXPECT_NEAR(explaining::shares_at(tiling, spec, 0, weights, all, x).parts[static_cast<std::size_t>(one)],
                      output[static_cast<std::size_t>(x)], 1e-12)
              << word_of(reduce) << " " << word_of(kind) << " tile " << one << " element " << x;
      }
    }
}

TEST(ExplainTiling, CountsAreThoseOfTheTiling) {
  for (const Tail tail : {Tail::shift, Tail::pad, Tail::partial, Tail::drop}) {
    const Tiling tiling(TilingSpec{.shape = {29}, .tile = {7}, .stride = 3, .tail = tail});
    std::vector<std::int64_t> counts(static_cast<std::size_t>(tiling.output()[0]));
    tiling.coverage(view(counts.data(), tiling.output()));
    const auto found = explaining::tile_counts(tiling, 0);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->least, *std::ranges::min_element(counts));
    EXPECT_EQ(found->most, *std::ranges::max_element(counts));
    double sum = 0;
    for (const std::int64_t count : counts) sum += static_cast<double>(count);
    EXPECT_DOUBLE_EQ(found->mean, sum / static_cast<double>(counts.size()));
  }
}

TEST(ExplainTiling, LinesAreShortAndPlain) {
  const TilingSpec specs[] = {{.shape = {1000, 700}, .tile = {256, 256}, .overlap = 32},
                              {.shape = {64, 512, 512}, .tile = {32, 128, 128}, .overlap = {8, 32, 32}, .tail = Tail::pad},
                              {.shape = {std::int64_t{1} << 50}, .tile = {64}, .stride = 1},
                              {.shape = {0, 5}, .tile = {2, 2}, .stride = 2, .tail = Tail::drop},
                              {.shape = {9, 9}, .tile = {4, 4}, .stride = 4, .tail = Tail::partial, .scale = {{2, 1}}}};
  for (const TilingSpec& spec : specs) {
    const Tiling tiling(spec);
    const std::string text = explain(tiling);
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      const std::string line = text.substr(begin, text.find('\n', begin) - begin);
      EXPECT_LE(line.size(), 100U) << line;
      EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; })) << line;
    }
    const std::string svg = explain_svg(tiling);
    EXPECT_LT(svg.size(), 300000U);
    for (const char* part : {"<script", "nan", "inf\""}) EXPECT_THAT(svg, Not(HasSubstr(part)));
  }
}

TEST(ExplainTiling, LargeTilingsAreCutShortAndSaySo) {
  const Tiling tiling(TilingSpec{.shape = {std::int64_t{1} << 38, 1 << 20}, .tile = {64, 64}, .stride = 1});
  EXPECT_THAT(explain(tiling), AllOf(HasSubstr("coverage: left out, since an axis has more than 65536 tiles"),
                                     HasSubstr("memory of a merge: left out")));
  EXPECT_THAT(explain_svg(tiling), HasSubstr("Only the first 8 tiles of an axis are drawn"));
}

TEST(ExplainTiling, PicturesShowTilesWindowsAndOverlaps) {
  const Tiling tiling(TilingSpec{.shape = {100, 70}, .tile = {40, 40}, .overlap = 10});
  const std::string svg = explain_svg(tiling, {.window = {.kind = WeightWindow::Kind::linear}});
  EXPECT_THAT(svg, AllOf(HasSubstr("Tiling: 6 tiles of 40 x 40 in a grid of 3 x 2"), HasSubstr("class=\"curve-a\""),
                         HasSubstr(">Windows along axis 0<"), HasSubstr(">Windows along axis 1<"),
                         HasSubstr("parts add up to 1"), HasSubstr(">t5</text>"), Not(HasSubstr("the first"))));
  const Tiling longer(TilingSpec{.shape = {1000}, .tile = {256}, .overlap = 64});
  EXPECT_THAT(explain_svg(longer), HasSubstr("elements; the first 4 of 5 tiles<"));
  EXPECT_THAT(explain_svg(tiling, {.reduce = Reduce::center}), HasSubstr("the tile whose value is taken (rule center)"));
}

}  // namespace
}  // namespace patchfold
