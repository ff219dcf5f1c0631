// SPDX-License-Identifier: Apache-2.0
// Tests explanations: lines that were computed by hand, every form of the arguments, and the limits.
// Tests explanations of tilings: lines that were computed by hand, and numbers from a merge.
#include "patchfold/explain.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "explain/tiles.hpp"
#include "explain_problem.hpp"
#include "merge_support.hpp"

namespace patchfold {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Explain, UnfoldByHand) {
  // Each axis has floor((8 + 2 - 3) / 2) + 1 = 4 patches, and the first of them begins at -1. Two of them touch row 1, and
  // two touch column 1.
  const std::string text = explain_problem("unfold f32 1x3x8x8 k3x3 s2x2 p1x1");
  EXPECT_THAT(text, HasSubstr("unfold: Copies every patch of an image into columns (im2col).\n"
                              "  problem: unfold f32 1x3x8x8 kernel_size=3,3 stride=2,2 padding=1,1\n"));
  EXPECT_THAT(text, HasSubstr("  kernel_size   3,3             given    extents of a patch, at least 1\n"));
  EXPECT_THAT(text, HasSubstr("  dilation      1               default  step between taps, at least 0\n"));
  EXPECT_THAT(text, HasSubstr("Shapes, float32 of 4 bytes\n"
                              "  image   [1, 3, 8, 8]  192 elements  768 bytes\n"
                              "  output  [1, 27, 16]   432 elements  1728 bytes\n"
                              "  the output has 2.25 times as many elements\n"));
  EXPECT_THAT(
      text, HasSubstr("Windows: tap q of the patch at position b touches coordinate b * stride + q * dilation - pad_begin\n"
                      "  axis 2 of image: extent 8, kernel 3, stride 2, dilation 1, pads 1 and 1\n"
                      "    positions = floor((8 + 1 + 1 - 3) / 2) + 1 = floor(7 / 2) + 1 = 4\n"
                      "    patches start at -1, 1, 3, 5; the last one ends at 7\n"
                      "    1 coordinate at the end of the padded image is in no patch: the stride of 2 does not divide 7\n"
                      "  axis 3 of image: the same\n"
                      "  3 * 3 = 9 taps in a patch, 4 * 4 = 16 positions\n"));
  // Of the 4 * 3 = 12 taps on an axis one lies outside, so of the 144 taps on both axes 11 * 11 lie inside. In three
  // channels,
  // 3 * (144 - 121) = 69 are outside.
  EXPECT_THAT(text, HasSubstr("  least 1, most 4, mean 1.891\n"
                              "  outside: 69 of 432 elements of output lie outside image and become 0\n"
                              "  image[0, 0, :, :]\n"
                              "    1 2 1 2 1 2 1 1\n"
                              "    2 4 2 4 2 4 2 2\n"));
  // Row 0 is channel 0, tap (0, 0). Position 10 = 2 * 4 + 2 is patch (2, 2), which begins at (2 * 2 - 1, 2 * 2 - 1)
  // = (3, 3).
  EXPECT_THAT(text, HasSubstr("    output[0, 0, 10]  <- image[0, 0, 3, 3]\n"));
  // Row 26 is channel 2, tap (2, 2), which lies at (5, 5). The explanation leaves out rows before row 26.
  EXPECT_THAT(text, HasSubstr("    ..\n    output[0, 26, 10] <- image[0, 2, 5, 5]\n"));
  EXPECT_THAT(text, HasSubstr("  first   output[0, 0, 0] <- outside: 0\n"));
  EXPECT_THAT(text, HasSubstr("  last    output[0, 26, 15] <- image[0, 2, 7, 7]\n"));
}

TEST(Explain, ComparesNumbersOfElementsThatDiffer) {
  EXPECT_THAT(explain_problem("space_to_depth f32 1x3x4x4 block=2"), Not(HasSubstr("times as many elements")));
  EXPECT_THAT(explain_problem("coverage f32 - output_size=4,4 kernel_size=2,2"), Not(HasSubstr("times as many elements")));
}

TEST(Explain, FoldWithHolesByHand) {
  const std::string text = explain_problem("onnx.Col2Im f32 1x4x9 image_shape=8,8 block_shape=2,2 strides=3,3");
  EXPECT_THAT(text, HasSubstr("  axis 2 of output: extent 8, kernel 2, stride 3, dilation 1, pads 0 and 0\n"
                              "    positions = floor((8 + 0 + 0 - 2) / 3) + 1 = floor(6 / 3) + 1 = 3\n"
                              "    patches start at 0, 3, 6; the last one ends at 7\n"
                              "    1 coordinate between patches is in none: the stride exceeds the effective kernel\n"));
  // Patches touch 6 of 8 coordinates on each axis, so there are 64 - 36 = 28 holes.
  EXPECT_THAT(text, HasSubstr("  least 0, most 1, mean 0.5625\n"
                              "  holes: 28 of 64 elements of output are met by none and become +0\n"
                              "  output[0, 0, :, :]\n"
                              "    1 1 0 1 1 0 1 1\n"
                              "    1 1 0 1 1 0 1 1\n"
                              "    0 0 0 0 0 0 0 0\n"));
  // Output (4, 4) is tap (1, 1) of patch (1, 1), which begins at (3, 3).
  EXPECT_THAT(text, HasSubstr("  middle  output[0, 0, 4, 4] = input[0, 3, 4]\n"));
  EXPECT_THAT(text, HasSubstr("  hole    output[0, 0, 0, 2] = +0\n"));
  EXPECT_THAT(text, HasSubstr("    input[0, 1, 4] -> output[0, 0, 3, 4]\n"));
}

TEST(Explain, SumsRunInTheOrderOfTheTapsInEveryLayout) {
  EXPECT_THAT(explain_problem("fold f32 1x4x9 output_size=4,4 kernel_size=2,2 accumulate=true"),
              HasSubstr("output[0, 0, 1, 1] = what it holds + columns[0, 0, 4] + columns[0, 1, 3] +\n"
                        "          columns[0, 2, 1] + columns[0, 3, 0]\n"));
  EXPECT_THAT(explain_problem("fold f32 1x9x4 output_size=4,4 kernel_size=2,2 layout=channels_last"),
              HasSubstr("output[0, 1, 1, 0] = columns[0, 4, 0] + columns[0, 3, 1] + columns[0, 1, 2] +\n"
                        "          columns[0, 0, 3]\n"));
}

TEST(Explain, ShowsWhatAMeanIsDividedBy) {
  const std::string text =
      explain_problem("fold f32 1x4x4 output_size=4,4 kernel_size=2,2 stride=2,1 padding=0:0,-1:0 reduce=mean fill=7");
  EXPECT_THAT(text, HasSubstr("which elements of columns are averaged, in ascending order of the tap\n"));
  EXPECT_THAT(text, HasSubstr("output[0, 0, 0, 2] = (columns[0, 0, 1] + columns[0, 1, 0]) / 2\n"));
  EXPECT_THAT(text, HasSubstr("output[0, 0, 0, 0] = 7, the fill\n"));
  EXPECT_THAT(text, HasSubstr("are met by none and become 7\n"));
}

TEST(Explain, SumsOfManyElementsAreCutShort) {
  EXPECT_THAT(explain_problem("fold f32 1x20x1 output_size=1, kernel_size=20, dilation=0"),
              HasSubstr("columns[0, 9, 0] + .. (20 in all)\n"));
}

TEST(Explain, SaysWhatAPaddingModeReads) {
  const std::string text = explain_problem("unfold f32 1x4 k2, p2, padding_mode=reflect");
  // In the mode reflect, coordinates -2 .. 5 read 2 1 0 1 2 3 2 1.
  EXPECT_THAT(text, HasSubstr("    output[0, 0] <- image[0, 2]  (outside: reflect)\n"
                              "    output[0, 1] <- image[0, 1]  (outside: reflect)\n"
                              "    output[0, 2] <- image[0, 0]\n"));
  EXPECT_THAT(text, HasSubstr("lie outside image and read it as padding_mode reflect says\n"));
  // In the mode edge, the last coordinate of the padding and the first of the image read the same element. The explanation
  // shows both.
  EXPECT_THAT(explain_problem("unfold f32 1x4 k1, p5, padding_mode=edge"),
              HasSubstr("    .. and so on\n"
                        "    output[0, 4]  <- image[0, 0]  (outside: edge)\n"
                        "    output[0, 5]  <- image[0, 0]\n"));
  EXPECT_THAT(explain_problem("unfold f32 1x4 k2, p2, value=1.5"), HasSubstr("output[0, 0] <- outside: 1.5\n"));
}

TEST(Explain, LargeGridsAreCroppedInTheMiddle) {
  const std::string text = explain_problem("unfold u8 1x1x40x40 k3x3");
  EXPECT_THAT(text, HasSubstr("    1 2 3 3 3 3 3 3 3 3 3 3 .. 3 3 3 3 3 3 3 3 3 3 2 1\n"
                              "    2 4 6 6 6 6 6 6 6 6 6 6 .. 6 6 6 6 6 6 6 6 6 6 4 2\n"));
  EXPECT_THAT(text, HasSubstr("    : : : : : : : : : : : :   : : : : : : : : : : : :\n"));
}

TEST(Explain, ListsWithAnEntryForEveryAxis) {
  EXPECT_THAT(
      explain_problem("openvino.BatchToSpace f32 12x3x3x2 block_shape=1,1,2,3 crops_begin=0,0,1,0 crops_end=0,0,0,2"),
      HasSubstr("pad_begin\n"
                "  axis 2 of output: extent 5, block 2, crops 1 and 0\n"
                "    positions = floor((5 + 1 + 0 - 2) / 2) + 1 = floor(4 / 2) + 1 = 3\n"
                "    blocks start at -1, 1, 3; the last one ends at 4\n"
                "  axis 3 of output: extent 4, block 3, crops 0 and 2\n"
                "    positions = floor((4 + 0 + 2 - 3) / 3) + 1 = floor(3 / 3) + 1 = 2\n"
                "    blocks start at 0, 3; the last one ends at 5\n"
                "  2 * 3 = 6 taps in a block, 3 * 2 = 6 positions\n"));
}

/// Tests every form of pads by the printed lines of the axes, since different pads may give the same coverage.
TEST(Explain, ReadsPadsInEveryForm) {
  const auto kernel = [](const char* axis, const char* rest) {
    return "  axis " + std::string(axis) + ": extent " + rest + "\n";
  };
  for (const auto& [problem, lines] : std::initializer_list<std::pair<const char*, std::vector<std::string>>>{
           {"unfold f32 1x1x5x6 k2x3 p1x2",
            {kernel("2 of image", "5, kernel 2, stride 1, dilation 1, pads 1 and 1"),
             kernel("3 of image", "6, kernel 3, stride 1, dilation 1, pads 2 and 2")}},
           {"unfold f32 1x1x5x6 k2x3 padding=1:0,0:-1",
            {kernel("2 of image", "5, kernel 2, stride 1, dilation 1, pads 1 and 0"),
             kernel("3 of image", "6, kernel 3, stride 1, dilation 1, pads 0 and -1")}},
           {"unfold f32 1x5x6x1 k2x2 padding=same_upper layout=channels_last",
            {kernel("1 of image", "5, kernel 2, stride 1, dilation 1, pads 0 and 1"),
             kernel("2 of image", "6, kernel 2, stride 1, dilation 1, pads 0 and 1")}},
           {"onnx.Col2Im f32 2x8x12 image_shape=5,5 block_shape=2,2 pads=1,0,2,1 strides=2,2",
            {kernel("2 of output", "5, kernel 2, stride 2, dilation 1, pads 1 and 2"),
             kernel("3 of output", "5, kernel 2, stride 2, dilation 1, pads 0 and 1")}},
           {"openvino.Col2Im f32 8x20 output_size=5,6 kernel_size=2,2 strides=1,2 pads_begin=0,1 pads_end=1,2",
            {kernel("1 of output", "5, kernel 2, stride 1, dilation 1, pads 0 and 1"),
             kernel("2 of output", "6, kernel 2, stride 2, dilation 1, pads 1 and 2")}},
           {"openvino.ExtractImagePatches f32 1x2x7x8 sizes=2,3 strides=3,2 rates=2,1 auto_pad=same_lower",
            {kernel("2 of data", "7, kernel 2, stride 3, dilation 2, pads 1 and 1"),
             kernel("3 of data", "8, kernel 3, stride 2, dilation 1, pads 1 and 0")}},
           {"tensorflow.ExtractImagePatches f32 1x7x8x2 ksizes=1,2,3,1 strides=1,3,2,1 rates=1,2,1,1 padding=SAME",
            {kernel("1 of images", "7, kernel 2, stride 3, dilation 2, pads 1 and 1"),
             kernel("2 of images", "8, kernel 3, stride 2, dilation 1, pads 0 and 1")}},
           {"tensorflow.SpaceToBatch f32 2x3x4x2 block_size=2 paddings=1:0,2:2",
            {kernel("1 of input", "3, block 2, pads 1 and 0"), kernel("2 of input", "4, block 2, pads 2 and 2")}},
           {"tensorflow.SpaceToBatch f32 2x3x4x2 block_size=2 paddings=1,0,2,2",
            {kernel("1 of input", "3, block 2, pads 1 and 0"), kernel("2 of input", "4, block 2, pads 2 and 2")}},
           {"tensorflow.BatchToSpaceND f32 6x2x3x2 block_shape=3, crops=1:2",
            {kernel("1 of output", "3, block 3, crops 1 and 2")}},
           {"torch.unfold f32 5x3x4 kernel_size=2,3 padding=1,0 dilation=1,1",
            {kernel("1 of input", "3, kernel 2, stride 1, dilation 1, pads 1 and 1"),
             kernel("2 of input", "4, kernel 3, stride 1, dilation 1, pads 0 and 0")}},
       })
    for (const std::string& line : lines) EXPECT_THAT(explain_problem(problem), HasSubstr(line)) << problem;
}

TEST(Explain, OneAxisAndThree) {
  EXPECT_THAT(explain_problem("unfold f32 2x10 k3, d2"),
              HasSubstr("    effective kernel = (3 - 1) * 2 + 1 = 5\n"
                        "    positions = floor((10 + 0 + 0 - 5) / 1) + 1 = floor(5 / 1) + 1 = 6\n"));
  EXPECT_THAT(explain_problem("unfold f32 2x10 k3, d2"), HasSubstr("  image[0, :]\n    1 1 2 2 3 3 2 2 1 1\n"));
  EXPECT_THAT(explain_problem("unfold f32 1x3x3x3 k2x2x2"),
              HasSubstr("  image[0, 0, :, :]\n    1 2 1\n    2 4 2\n    1 2 1\n"
                        "  image[0, 1, :, :]\n    2 4 2\n    4 8 4\n    2 4 2\n"));
}

TEST(Explain, TensorsWithoutElements) {
  EXPECT_THAT(explain_problem("unfold f32 1x3x2x2 k3x3 allow_empty=true"),
              HasSubstr("    slack = 2 + 0 + 0 - 3 = -1 is below 0: no position\n"));
  EXPECT_THAT(explain_problem("unfold f32 1x3x2x2 k3x3 allow_empty=true"),
              HasSubstr("holes: 12 of 12 elements of image are never copied\n"));
  EXPECT_THAT(explain_problem("unfold f32 0x3x8x8 k3x3"), HasSubstr("  image has no elements\n"));
  EXPECT_THAT(explain_problem("unfold f32 1x1x0x4 k1x1 p1"), HasSubstr("output[0, 0, 0] <- outside: 0\n"));
  EXPECT_THAT(explain_problem("fold f32 1x4x0 output_size=1,3 kernel_size=2,2"), HasSubstr("output[0, 0, 0, 0] = +0\n"));
  EXPECT_THAT(explain_problem("unfold f32 0x1x0x1099511627776 k1x1 allow_empty=true"),
              HasSubstr("  image has no elements\n"));
}

TEST(Explain, ShowsThePlanIfItIsAskedFor) {
  const ProblemText problem = parse_problem("unfold f32 1x3x8x8 k3x3");
  const std::string text = explain(problem), with_plan = explain(problem, {.plan = true});
  EXPECT_THAT(text, Not(HasSubstr("Plan: ")));
  EXPECT_THAT(text, Not(HasSubstr("definition: ")));
  EXPECT_THAT(with_plan, HasSubstr("\nPlan: how this library runs it\n"));
  EXPECT_THAT(with_plan, HasSubstr("\n  definition: include/patchfold/operators.hpp\n"));
  // The definition of a dialect's operator is the function of its system.
  EXPECT_THAT(explain_problem("torch.pixel_shuffle f32 1x4x2x2 upscale_factor=2"),
              HasSubstr("\n  definition: torch.nn.functional.pixel_shuffle\n"));
}

TEST(Explain, TinyShapesShowTheColumnsAsTheyAre) {
  EXPECT_THAT(explain_problem("unfold f32 1x1x3x3 k2x2"), HasSubstr("Matrix: the output for the image 0, 1, 2, ..\n"
                                                                    "  output[0, :, :]\n"
                                                                    "    0 1 3 4\n"
                                                                    "    1 2 4 5\n"
                                                                    "    3 4 6 7\n"
                                                                    "    4 5 7 8\n"));
  EXPECT_THAT(explain_problem("unfold f32 1x1x2 kernel_size=3, padding=1 value=7"),
              HasSubstr("Matrix: the output for the image 0, 1, 2, ..; . is outside: 7\n"
                        "  output[0, :, :]\n"
                        "    . 0\n"
                        "    0 1\n"
                        "    1 .\n"));
  EXPECT_THAT(explain_problem("fold f32 1x2x4 output_size=4, kernel_size=2, padding=0:1"),
              HasSubstr("Matrix: to which element of output, counted from 0, each one of columns goes; . is left out\n"
                        "  columns[0, :, :]\n"
                        "    0 1 2 3\n"
                        "    1 2 3 .\n"));
  EXPECT_THAT(explain_problem("depth_to_space f32 1x4x1x2 block=2,2"), HasSubstr("  output[0, 0, :, :]\n"
                                                                                 "    0 2 1 3\n"
                                                                                 "    4 6 5 7\n"));
  EXPECT_THAT(explain_problem("unfold f32 1x3x8x8 k3x3"), Not(HasSubstr("Matrix: ")));
}

TEST(Explain, LargeProblemsShowWhatNeedsNoRun) {
  for (const char* problem :
       {"unfold f32 64x64x4096x4096 k3x3 p1", "fold u8 1x9x1099511627776 output_size=1048578,1048578 kernel_size=3,3",
        "unfold f32 1x1x4096x4096 k1x1 s4096", "coverage i32 - output_size=2000,2000 kernel_size=1000,1000",
        "coverage i32 - output_size=9, kernel_size=1000000000000, padding=1000000000000,"}) {
    SCOPED_TRACE(problem);
    const std::string text = explain_problem(problem);
    EXPECT_THAT(text, HasSubstr("\nCoverage and order: shown for at most 4194304 elements"));
    EXPECT_THAT(text, HasSubstr("positions = floor("));
    EXPECT_THAT(text, Not(HasSubstr("\nPlan: ")));
    EXPECT_THAT(text, Not(HasSubstr("<-")));
  }
  EXPECT_THAT(explain_problem("unfold f32 64x64x4096x4096 k3x3 p1"), HasSubstr("274877906944 bytes (256 GiB)\n"));
}

TEST(Explain, OpaqueElementsAndTheErrorsOfTheOperator) {
  EXPECT_THAT(explain_problem("unfold opaque5 1x3x4x4 k3x3"), HasSubstr("Shapes, opaque elements of 5 bytes\n"));
  for (const char* problem : {"unfold f32 1x3x8x8", "fold f32 1x4x8 output_size=4,4 kernel_size=2,2",
                              "unfold u8 1x3x4x4 k3x3 value=300", "fold opaque5 1x4x9 output_size=4,4 kernel_size=2,2"})
    EXPECT_THROW(explain_problem(problem), Error) << problem;
}

TEST(ExplainTiling, TilesByHand) {
  const std::string text = explain(Tiling(TilingSpec{.shape = {3, 1000, 700}, .tile = {256, 256}, .overlap = 32}));
  EXPECT_THAT(text, HasSubstr("Tiling: 15 tiles of 256 x 256 elements, in a grid of 5 x 3\n"
                              "  array: [3, 1000, 700], output: [3, 1000, 700]\n"));
  // Since 744 / 224 = 3.3, four tiles fit and end at 3 * 224 + 256 = 928. Tile 5 is moved back to 1000 - 256 = 744, which is
  // 152 before 4 * 224 = 896.
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

/// Compares the share of each tile in each element with a merge in which this tile consists of ones and all other tiles
/// consist of zeros.
TEST(ExplainTiling, PartsAreThoseOfAMerge) {
  const Tiling tiling(TilingSpec{.shape = {23}, .tile = {8}, .stride = 5, .tail = Tail::shift});
  using Kind = WeightWindow::Kind;
  for (const Reduce reduce : {Reduce::mean, Reduce::sum, Reduce::first, Reduce::last, Reduce::center})
    for (const Kind kind : {Kind::standard, Kind::ones, Kind::linear, Kind::hann, Kind::cosine, Kind::gaussian, Kind::tukey,
                            Kind::hamming}) {
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
