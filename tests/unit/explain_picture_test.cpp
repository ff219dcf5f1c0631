// SPDX-License-Identifier: Apache-2.0
// Tests pictures of operators and tilings, the orders of elements in a patch, and the proposals of explain_error().
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

#include "explain/elements.hpp"
#include "explain/patches.hpp"
#include "explain/svg.hpp"
#include "explain/tiles.hpp"
#include "explain_problem.hpp"

namespace patchfold {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

explaining::Subject subject_of(std::string_view text) {
  const ProblemText problem = parse_problem(text);
  const OperatorSpec& op = find_operator(problem.op);
  return {op, problem.arguments, op.bind(problem.arguments).lower(op.data_input.empty() ? Dims{} : problem.shape),
          problem.dtype, problem.element_size};
}

std::vector<std::string> every_example() {
  std::vector<std::string> all = {
      "unfold u8 2x7x6x3 kernel_size=3,2 padding=2:3,1:0 padding_mode=reflect layout=channels_last order=kernel",
      "unfold f32 2x1x9 kernel_size=3, padding=4, padding_mode=wrap",
      "unfold f32 1x2x5x4 kernel_size=2,2 padding=-1:0,0:-2",
      "unfold f32 2x3x5x6 kernel_size=2,3 stride=2,1 dilation=1,2 padding=1:0,2:1 value=-7",
      "unfold bf16 1x2x3x4x5 kernel_size=2,2,2 padding=1:0,0:1,1:1 order=kernel",
      "fold f32 1x6x3 output_size=3, kernel_size=3, dilation=0",
      "fold f32 1x4x9 output_size=8,8 kernel_size=2,2 stride=3,3",
      "space_to_batch f32 5x6x3x2 block=3, padding=1:2 layout=channels_last",
      "depth_to_space f32 2x12x2x3 block=2,3 mode=blocks_first"};
  for (const OperatorSpec& op : operators()) all.push_back(std::string(op.name) + " " + std::string(op.example));
  return all;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Compares the number of patches that touch each pixel, which the heat map computes axis by axis, with a walk over all taps
/// and positions.
TEST(ExplainPicture, CountsWithoutAWalkWhatTheWalkCounts) {
  for (const std::string& problem : every_example()) {
    SCOPED_TRACE(problem);
    const explaining::Subject subject = subject_of(problem);
    const Geometry& geometry = subject.geometry();
    if (!geometry.extracts() && !geometry.sums) continue;  // inverse blocks count elements of the columns
    const std::vector<std::int64_t> counts = explaining::find(subject).counts;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Dims index = index_at(static_cast<std::int64_t>(i), geometry.image());
      std::int64_t product = 1;
      for (const SpatialAxis& axis : geometry.axes) product *= explaining::uses_at(geometry, axis, index[axis.image_axis]);
      EXPECT_EQ(product, counts[i]) << to_string(index);
    }
  }
}

/// Compares the order of a patch's elements that the picture marks as the operator's own with the operator's geometry.
TEST(ExplainPicture, OrdersAreThoseOfTheElements) {
  std::size_t seen = 0;
  for (const std::string& problem : every_example()) {
    SCOPED_TRACE(problem);
    const explaining::Subject subject = subject_of(problem);
    const Geometry& geometry = subject.geometry();
    const explaining::PatchVector vector = explaining::patch_vector(subject, 1000);
    if (vector.orders.empty() || !geometry.has_data) continue;
    const Dims columns_shape = geometry.columns();
    std::vector<std::int64_t> image_of(static_cast<std::size_t>(element_count(columns_shape)), -1);
    explaining::walk(geometry, [&](const explaining::Pair& pair) {
      if (!pair.padded) image_of[static_cast<std::size_t>(pair.column)] = pair.image;
    });
    const auto own = std::ranges::find_if(vector.orders, &explaining::PatchOrder::ours);
    ASSERT_NE(own, vector.orders.end());
    ASSERT_EQ(std::ssize(own->first), vector.elements());
    for (std::size_t flat = 0; flat < image_of.size(); ++flat) {
      if (image_of[flat] < 0) continue;
      const Dims column = index_at(static_cast<std::int64_t>(flat), columns_shape);
      const Dims image = index_at(image_of[flat], geometry.image());
      const explaining::PatchElement element =
          own->first[static_cast<std::size_t>(column[vector.columns_axis] % vector.elements())];
      if (vector.image_axis >= 0) {
        EXPECT_EQ(element.channel, image[vector.image_axis]);
      }
      std::int64_t tap = element.tap;
      for (int i = geometry.axes.size() - 1; i >= 0; --i) {
        const SpatialAxis& axis = geometry.axes[i];
        const std::int64_t distance = image[axis.image_axis] + axis.pad_begin - tap % axis.kernel * axis.dilation;
        EXPECT_EQ(distance % axis.stride, 0) << to_string(column);
        EXPECT_TRUE(distance / axis.stride >= 0 && distance / axis.stride < axis.positions) << to_string(column);
        tap /= axis.kernel;
      }
      ++seen;
    }
  }
  EXPECT_GT(seen, 1000U);
}

std::vector<std::string> systems_of(std::string_view problem) {
  std::vector<std::string> names;
  for (const explaining::PatchOrder& order : explaining::patch_vector(subject_of(problem), 4).orders)
    if (order.ours) names.emplace_back(order.system);
  return names;
}

TEST(ExplainPicture, OrdersAreNamedAsTheSystemsNameThem) {
  using ::testing::ElementsAre;
  EXPECT_THAT(systems_of("unfold f32 1x3x8x8 k3x3"), ElementsAre("torch unfold", "ONNX DepthToSpace CRD"));
  EXPECT_THAT(systems_of("unfold f32 1x3x8x8 k3x3 order=kernel"),
              ElementsAre("TensorFlow extract_patches", "ONNX DepthToSpace DCR", "OpenVINO ExtractImagePatches"));
  EXPECT_THAT(systems_of("onnx.DepthToSpace f32 1x8x2x2 blocksize=2 mode=DCR"),
              ElementsAre("TensorFlow extract_patches", "ONNX DepthToSpace DCR", "OpenVINO ExtractImagePatches"));
  EXPECT_THAT(systems_of("torch.pixel_shuffle f32 1x8x2x2 upscale_factor=2"),
              ElementsAre("torch unfold", "ONNX DepthToSpace CRD"));
  EXPECT_THAT(explain_problem("unfold f32 1x2x4x4 k2x3"),
              HasSubstr("     MATLAB im2col                 c * 6 + t'  0.0 0.3 0.1 0.4 0.2 0.5 1.0 1.3 1.1 1.4"));
}

TEST(ExplainPicture, FormulasOfExtentsAreFilledIn) {
  const auto lines = [](std::string_view problem) {
    std::string text;
    for (const explaining::AxisFormula& line : explaining::output_formulas(subject_of(problem))) text += line.formula + "\n";
    return text;
  };
  EXPECT_EQ(lines("unfold f32 2x3x8x8 k3x3 s2x2 p1x1"),
            "2 (axis 0 of image)\n3 (axis 1 of image) * 3 * 3 (taps) = 27\n4 * 4 (positions) = 16\n");
  EXPECT_EQ(lines("unfold f32 2x3x8x8 k3x3 order=kernel positions=grid"),
            "2 (axis 0 of image)\n3 * 3 (taps) * 3 (axis 1 of image) = 27\n6 (positions)\n6 (positions)\n");
  EXPECT_EQ(lines("unfold f32 1x1x8x8 k3x3 order=kernel"),
            "1 (axis 0 of image)\n3 * 3 (taps) * 1 (axis 1 of image) = 9\n6 * 6 (positions) = 36\n");
  EXPECT_EQ(lines("fold f32 1x12x9 output_size=4,4 kernel_size=2,2"),
            "1 (axis 0 of columns)\n12 (axis 1 of columns) / (2 * 2 (taps)) = 3\n4, as given\n4, as given\n");
  EXPECT_EQ(lines("batch_to_space f32 4x1x3x2 block=2,2 crops=1:0,0:0"),
            "4 (axis 0 of batches) / (2 * 2 (block)) = 1\n1 (axis 1 of batches)\n"
            "3 (blocks) * 2 (block) - crops 1 and 0 = 5\n2 (blocks) * 2 (block) = 4\n");
}

TEST(ExplainPicture, DrawsEveryOperator) {
  for (const std::string& problem : every_example()) {
    SCOPED_TRACE(problem);
    const std::string svg = explain_svg(parse_problem(problem));
    EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pfx\" width=\"960\" height=\""));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_THAT(svg, AllOf(HasSubstr("<title id="), HasSubstr("<desc id="), HasSubstr("prefers-color-scheme:dark")));
    EXPECT_EQ(count_of(svg, "<text "), count_of(svg, "</text>"));
    for (const char* part : {"<script", "url(", "href", "nan", "inf\""}) EXPECT_THAT(svg, Not(HasSubstr(part)));
  }
}

TEST(ExplainPicture, ShowsCountsOrdersAndColumns) {
  const std::string svg = explain_svg(parse_problem("unfold f32 1x2x4x4 k3x3 p1x1"));
  EXPECT_THAT(
      svg, AllOf(HasSubstr(">Patches over the padded image<"), HasSubstr(">Coverage<"), HasSubstr(">Order inside a patch<"),
                 HasSubstr(">MATLAB im2col<"), HasSubstr(">The columns<"), HasSubstr("4 * 4 (positions) = 16")));
  // Of 4 x 4 elements, the 4 corners are in 4 patches, the 8 other border elements in 6, and the 4 middle elements in 9.
  EXPECT_EQ(count_of(svg, "q5\">9</text>"), 4U);
  EXPECT_EQ(count_of(svg, "q3\">6</text>"), 8U);
  EXPECT_EQ(count_of(svg, "q2\">4</text>"), 4U);
}

TEST(ExplainPicture, LargeShapesTakeLittleAndSaySo) {
  for (const char* problem :
       {"unfold f32 64x64x65536x65536 k3x3 p1", "unfold f32 1x1x4096x4096 k1x1 s4096 positions=grid",
        "coverage i32 - output_size=9, kernel_size=1000000000000, padding=1000000000000,",
        "fold u8 1x9x1099511627776 output_size=1048578,1048578 kernel_size=3,3",
        "unfold f32 1x1x1099511627776 kernel_size=1099511627776, padding=1099511627776, padding_mode=reflect "
        "stride=1099511627776,"}) {
    SCOPED_TRACE(problem);
    const auto begin = std::chrono::steady_clock::now();
    const std::string svg = explain_svg(parse_problem(problem));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    EXPECT_LT(svg.size(), 400000U);
    EXPECT_TRUE(svg.find("left out of the picture") != std::string::npos ||
                svg.find("too many for a picture") != std::string::npos);
  }
}

TEST(Svg, EscapesEveryString) {
  EXPECT_EQ(explaining::escaped("a<b>&\"c'\n\x01\x7f"), "a&lt;b&gt;&amp;&quot;c&#39;   ");
  EXPECT_EQ(explaining::escaped("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(explaining::escaped("\xff\xc3 \xed\xa0\x80 \xc0\xaf"), "?? ??? ??");
  explaining::Svg svg("<t>", "\"d\"");
  svg.text(1, 2, "ink", "</text><script>");
  EXPECT_THAT(svg.take(10), AllOf(HasSubstr(">&lt;t&gt;</title>"), HasSubstr(">&quot;d&quot;</desc>"),
                                  HasSubstr(">&lt;/text&gt;&lt;script&gt;</text>")));
}

TEST(Svg, WritesNumbersShortly) {
  EXPECT_EQ(explaining::coordinate(12), "12");
  EXPECT_EQ(explaining::coordinate(12.5), "12.5");
  EXPECT_EQ(explaining::coordinate(-0.001), "0");
  EXPECT_EQ(explaining::coordinate(1.0 / 3), "0.33");
  EXPECT_EQ(explaining::coordinate(1e300), "1000000000");
}

TEST(ExplainError, SaysWhatWouldBeRight) {
  const auto of = [](std::string_view problem) { return explain_error(parse_problem(problem)); };
  const std::string fold = of("fold f32 1x4x8 output_size=4,4 kernel_size=2,2");
  EXPECT_THAT(fold, HasSubstr("What would be right, nearest first\n"
                              "  columns [1, 4, 9] instead of [1, 4, 8]\n"
                              "    fold f32 1x4x9 output_size=4,4 kernel_size=2,2\n"));
  EXPECT_THAT(fold, HasSubstr("positions = floor((4 + 0 + 0 - 2) / 1) + 1 = floor(2 / 1) + 1 = 3\n"));
  EXPECT_THAT(
      of("depth_to_space f32 1x7x2x2 block=2,2"),
      AllOf(HasSubstr("nearest first\n  deep [1, 8, 2, 2] instead of [1, 7, 2, 2]\n"), HasSubstr("\n  deep [1, 4, 2, 2]")));
  // Two extents are wrong in the first problem, one in the second.
  EXPECT_THAT(of("space_to_depth f32 1x3x5x7 block=2,2"), HasSubstr("[1, 3, 4, 6] instead of [1, 3, 5, 7]"));
  EXPECT_THAT(of("unfold f32 1x3x2x8 k3x3"), HasSubstr("[1, 3, 3, 8] instead of [1, 3, 2, 8]"));
  EXPECT_EQ(of("unfold f32 1x3x8x8 k3x3"), "");
  EXPECT_EQ(of("unfold f32 1x3x8x8"), "");  // nothing to change
  EXPECT_THROW(explain_error({.op = "unfodl"}), Error);
}

/// Tests that the operator accepts every problem that explain_error() proposes.
TEST(ExplainError, ProposesOnlyWhatTheOperatorTakes) {
  std::size_t proposed = 0;
  for (const std::string& problem : every_example()) {
    ProblemText wrong = parse_problem(problem);
    for (int axis = 0; axis < wrong.shape.size(); ++axis) {
      ProblemText changed = wrong;
      changed.shape[axis] += 1;
      const std::string text = explain_error(changed);
      for (std::size_t at = text.find("\n    " + wrong.op); at != std::string::npos;
           at = text.find("\n    " + wrong.op, at + 1)) {
        std::string line = text.substr(at + 5, text.find('\n', at + 1) - at - 5);
        for (std::size_t next = at + 6 + line.size(); text.compare(next, 6, "      ") == 0; next = text.find('\n', next) + 1)
          line += text.substr(next + 5, text.find('\n', next) - next - 5);
        EXPECT_NO_THROW(explain(parse_problem(line))) << line;
        ++proposed;
      }
    }
  }
  EXPECT_GT(proposed, 50U);
}

}  // namespace
}  // namespace patchfold
