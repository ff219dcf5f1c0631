// SPDX-License-Identifier: Apache-2.0
// Tests all errors of tilings and merges, by their messages.
#include <gtest/gtest.h>

#include <limits>

#include "patchfold/tiling.hpp"

namespace patchfold {
namespace {

class NoRows : public RowSink {
 public:
  void write(Span, const ConstTensorView&) override {}
};

struct Refusal {
  std::string_view name;
  TilingSpec tiling;
  MergeSpec merge;
  std::string_view message;
};

class Refused : public ::testing::TestWithParam<Refusal> {};

MergeSpec with_axes(std::vector<std::vector<double>> axes) {
  MergeSpec spec;
  spec.window = {WeightWindow::Kind::axes, 0.125, std::move(axes), {}};
  return spec;
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const Refusal refusals[] = {
    {"no_tile", {.shape = {8}}, {}, "tiling: tile: must be given; given nothing, expected an extent for each tiled axis"},
    {"tile_0", {.shape = {8}, .tile = {0}}, {}, "tiling: tile: must be at least 1 on every axis; given [0]"},
    {"both",
     {.shape = {8}, .tile = {4}, .overlap = 1, .stride = 3},
     {},
     "tiling: stride: must not be given together with overlap; given both, expected one of them"},
    {"stride_0", {.shape = {8}, .tile = {4}, .stride = 0}, {}, "tiling: stride: must be at least 1 on every axis; given 0"},
    {"overlap_of_tile",
     {.shape = {8}, .tile = {4}, .overlap = 4},
     {},
     "tiling: overlap: must be less than the tile on every axis; given 4, expected less than [4]"},
    {"fraction_1",
     {.shape = {8}, .tile = {4}, .overlap_fraction = {1.0}},
     {},
     "tiling: overlap: must be a fraction in [0, 1); given 1"},
    {"fraction_small",
     {.shape = {8}, .tile = {4}, .overlap_fraction = {-1e-9}},
     {},
     "tiling: overlap: must be a fraction in [0, 1); given -1.0000000000000001e-09"},
    {"fraction_nan",
     {.shape = {8}, .tile = {4}, .overlap_fraction = {nan}},
     {},
     "tiling: overlap: must be a fraction in [0, 1); given nan"},
    {"lengths",
     {.shape = {8, 8}, .tile = {4, 4}, .overlap = {1, 2, 3}},
     {},
     "tiling: overlap: must have one entry for each extent of the tile; given [1, 2, 3], expected 2 entries"},
    {"rank",
     {.shape = {8}, .tile = {4, 4}},
     {},
     "tiling: shape: must have an axis for each extent of the tile; given rank 1, expected rank 2 or more"},
    {"axes",
     {.shape = {8, 8}, .tile = {4, 4}, .axes = {1, 0}},
     {},
     "tiling: axes: must be different axes of a rank of 2, in ascending order; given [1, 0], expected 0 to 1"},
    {"larger",
     {.shape = {8}, .tile = {9}},
     {},
     "tiling: tile: must not be larger than the array if the last tile is shifted; given [9], expected at most 8 along axis "
     "0, or tail=shift_or_pad, tail=pad or tail=partial"},
    {"tail_error",
     {.shape = {9}, .tile = {4}, .tail = Tail::error},
     {},
     "tiling: shape: must be covered by whole tiles if the tail is an error; given 9 along axis 0, expected 4 and 4 for "
     "each further tile"},
    {"huge_stride",
     {.shape = {8}, .tile = {4}, .stride = std::int64_t{1} << 62},
     {},
     "tiling: stride: must stay below 2^60; given [4611686018427387904]"},
    {"huge_tile",
     {.shape = {8}, .tile = {std::numeric_limits<std::int64_t>::max()}, .tail = Tail::pad},
     {},
     "tiling: tile: must stay below 2^60; given [9223372036854775807]"},
    {"negative", {.shape = {-8}, .tile = {4}}, {}, "tiling: shape: extents must be at least 0; given [-8]"},
    {"half",
     {.shape = {9}, .tile = {4}, .scale = {{1, 2}}},
     {},
     "tiling: scale: starts of the last tiles must be whole numbers of output elements; given 5 * 1 / 2, expected a "
     "multiple of 2"},
    {"scale_0", {.shape = {8}, .tile = {4}, .scale = {{0, 1}}}, {}, "tiling: scale: must be greater than 0; given 0/1"},
    {"gap",
     {.shape = {9}, .tile = {2}, .overlap = -1},
     {},
     "merge: tiling: must cover every element of the output unless a fill is given; given no tile for element [2] of the "
     "tiled axes"},
    {"dropped",
     {.shape = {9}, .tile = {4}, .tail = Tail::drop},
     {},
     "merge: tiling: must cover every element of the output unless a fill is given; given no tile for element [8] of the "
     "tiled axes"},
    {"masked",
     {.shape = {4, 4}, .tile = {2, 2}},
     {.mask = {1, 1, 0, 1}},
     "merge: tiling: must cover every element of the output unless a fill is given; given no tile for element [2, 0] of the "
     "tiled axes"},
    {"mask_length",
     {.shape = {8}, .tile = {4}},
     {.mask = {1}},
     "merge: mask: must have an entry for each tile; given 1, expected 2"},
    {"weight_hole",
     {.shape = {8}, .tile = {4}, .overlap = 1},
     with_axes({{1, 1, 0, 1}}),
     "merge: tiling: must cover every element of the output unless a fill is given; given no weight above 0 for element [2] "
     "of the tiled axes"},
    {"weight_negative",
     {.shape = {8}, .tile = {4}},
     with_axes({{1, -1, 1, 1}}),
     "merge: window: weights must be finite and at least 0; given -1"},
    {"weight_nan",
     {.shape = {8}, .tile = {4}},
     with_axes({{1, nan, 1, 1}}),
     "merge: window: weights must be finite and at least 0; given nan"},
    {"weight_huge",
     {.shape = {8}, .tile = {4}},
     with_axes({{1, 0x1p901, 1, 1}}),
     "merge: window: weights must have products that float64 can hold; given 1.6905424996341288e+271, expected 0, or "
     "1.9010915662951598e-211 to 5.2601359015483735e+210"},
    {"tiles_along_an_axis",
     {.shape = {(1 << 22) + 1}, .tile = {1}, .overlap = 0},
     {},
     "merge: tiling: must have at most 2^22 tiles along an axis for a merge; given 4194305"},
    {"tiles_at_all",
     {.shape = {1 << 12, 1 << 12, (1 << 8) + 1}, .tile = {1, 1, 1}, .overlap = 0},
     {},
     "merge: tiling: must have at most 2^32 tiles for a merge; given 4311744512"},
    {"tiles_side_by_side",
     {.shape = {1, 1 << 14, (1 << 13) + 1}, .tile = {1, 1, 1}, .overlap = 0},
     {},
     "merge: tiling: must have fewer tiles across the first tiled axis for a merge; given [1, 16384, 8193]"},
    {"tiles_over_each_other",
     {.shape = {1 << 16}, .tile = {1 << 15}, .stride = 1},
     {},
     "merge: tiling: must have fewer overlapping tiles for a merge; given 32768, expected shorter results, or a stride "
     "above 1"},
    {"weight_count",
     {.shape = {8}, .tile = {4}},
     with_axes({{1, 1, 1}}),
     "merge: window: must have a weight for each element of a whole tile's result; given 3, expected 4"},
    {"weight_axes",
     {.shape = {8}, .tile = {4}},
     with_axes({{1, 1, 1, 1}, {1, 1, 1, 1}}),
     "merge: window: must have a list of weights for each tiled axis; given 2, expected 1"},
    {"sigma",
     {.shape = {8}, .tile = {4}},
     {.window = {WeightWindow::Kind::gaussian, 0, {}, {}}},
     "merge: sigma_scale: must be greater than 0; given 0"},
    {"int64",
     {.shape = {8}, .tile = {4}},
     {.reduce = Reduce::mean, .dtype = DType::int64, .element_size = 8},
     "merge: window: must be ones for 64-bit integers, which float64 does not hold; given int64, expected the window ones, "
     "or another reduction"},
    {"opaque",
     {.shape = {8}, .tile = {4}},
     {.dtype = DType::opaque, .element_size = 12},
     "merge: dtype: must be numbers for the reduction mean; given opaque, expected numbers, or one of the reductions first, "
     "last and center"},
    {"complex_max",
     {.shape = {8}, .tile = {4}},
     {.reduce = Reduce::max, .dtype = DType::complex64, .element_size = 8},
     "merge: dtype: must be a type of real numbers for the reduction max; given complex64"},
    {"output_dtype",
     {.shape = {8}, .tile = {4}},
     {.output_dtype = DType::int8},
     "merge: output dtype: must be the tiles' type, or a float for means and sums of real numbers; given int8 for the "
     "reduction mean, expected float32"},
};

TEST_P(Refused, SaysWhy) {
  NoRows rows;
  try {
    Merger(Tiling(GetParam().tiling), GetParam().merge, rows);
    FAIL() << "nothing is thrown";
  } catch (const Error& error) {
    EXPECT_EQ(std::string_view(error.what()), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(Merge, Refused, ::testing::ValuesIn(refusals),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace patchfold
