// SPDX-License-Identifier: Apache-2.0
// Draws a tiling: tiles over the array, and their contributions to the output.
#include <algorithm>
#include <cmath>

#include "explain/lines.hpp"
#include "explain/patches.hpp"
#include "explain/picture.hpp"
#include "explain/svg.hpp"
#include "explain/tiles.hpp"
#include "patchfold/explain.hpp"

namespace patchfold::explaining {
namespace {

constexpr std::int64_t most_drawn = 8;  // the most tiles along an axis that are drawn

/// The drawn part of a tiled axis: its first tiles, and the elements [0, end) that they cover.
struct Stretch {
  int tiled = 0;
  std::int64_t extent = 0;
  std::vector<TileSpan> tiles{};
  std::int64_t end = 0;  ///< beyond the array's extent if the last tile is padded
  bool is_cut = false;

  std::vector<Span> reads() const {
    std::vector<Span> spans;
    for (const TileSpan& tile : tiles) spans.push_back(tile.read);
    return spans;
  }
};

Stretch stretch_of(const Tiling& tiling, int tiled) {
  Stretch stretch;
  stretch.tiled = tiled;
  stretch.extent = tiling.spec().shape[tiling.axes()[tiled]];
  const std::int64_t grid = tiling.grid()[tiled];
  stretch.is_cut = grid > most_drawn;
  for (std::int64_t k = 0; k < std::min(grid, most_drawn); ++k) stretch.tiles.push_back(tiling.span(tiled, k));
  stretch.end = stretch.extent;
  if (!stretch.tiles.empty()) {
    const TileSpan& last = stretch.tiles.back();
    const std::int64_t reach = last.origin + last.extent;
    // The first tile that is not drawn may overlap the last drawn tile; elements in both are not drawn.
    stretch.end = stretch.is_cut ? tiling.span(tiled, most_drawn).read.begin : std::max(stretch.extent, reach);
  }
  stretch.end = std::max<std::int64_t>(stretch.end, 1);
  return stretch;
}

/// A heat map: for each element of one axis, or of two axes, the number of tiles that cover it.
struct Map {
  double left, top, wide, high;
  const Stretch* down;  ///< null: the map has one axis
  const Stretch* right;

  double x(std::int64_t element) const { return left + along(*right, element) * wide; }
  double y(std::int64_t element) const { return top + (down ? along(*down, element) * high : 0); }
  static double along(const Stretch& stretch, std::int64_t element) {
    return static_cast<double>(std::clamp<std::int64_t>(element, 0, stretch.end)) / static_cast<double>(stretch.end);
  }
};

void draw_counts(Svg& svg, const Map& map) {
  std::vector<TileRun> down = {{{0, 1}, 1}};
  if (map.down) down = tile_runs(map.down->reads(), 0, std::min(map.down->extent, map.down->end));
  const std::vector<TileRun> right = tile_runs(map.right->reads(), 0, std::min(map.right->extent, map.right->end));
  std::int64_t most = 1;
  for (const TileRun& a : down)
    for (const TileRun& b : right) most = std::max(most, a.tiles * b.tiles);
  for (const TileRun& a : down)
    for (const TileRun& b : right) {
      const double x = map.x(b.elements.begin), wide = map.x(b.elements.end) - x;
      const double y = map.down ? map.y(a.elements.begin) : map.top;
      const double high = map.down ? map.y(a.elements.end) - y : map.high;
      const std::int64_t count = a.tiles * b.tiles;
      const int heat =
          count < 2 ? 0 : static_cast<int>(std::lround(static_cast<double>(count - 1) / static_cast<double>(most - 1) * 4));
      svg.rect(x, y, wide, high, count == 0 ? "gone" : "h" + std::to_string(heat));
      if (wide >= 9 && high >= 12 && count != 1)
        svg.text(x + wide / 2, y + high / 2 + 4,
                 "mono small mid " + (count == 0 ? std::string("ink") : "q" + std::to_string(heat)), std::to_string(count));
    }
}

/// Returns the elements that only tile k of a stretch covers.
Span alone(const Stretch& stretch, std::size_t k) {
  Span span = stretch.tiles[k].read;
  if (k > 0) span.begin = std::max(span.begin, stretch.tiles[k - 1].read.end);
  if (k + 1 < stretch.tiles.size())
    span.end = std::min(span.end, stretch.tiles[k + 1].read.begin);
  else
    span.end = std::min(span.end, stretch.end);
  span.end = std::max(span.begin, span.end);
  return span;
}

/// Draws two tiled axes: the tiles as frames over the heat map.
double draw_plane(Svg& svg, double y, const Tiling& tiling, const Stretch& down, const Stretch& right) {
  const double most_wide = Svg::width - 2 * Svg::margin - 60, most_high = 430;
  const double scale = std::min(most_wide / static_cast<double>(right.end), most_high / static_cast<double>(down.end));
  Map map{Svg::margin + 50,
          y + 16,
          std::max(40.0, static_cast<double>(right.end) * scale),
          std::max(40.0, static_cast<double>(down.end) * scale),
          &down,
          &right};
  draw_counts(svg, map);
  const auto frame = [&](const TileSpan& row, const TileSpan& column, std::string_view classes) {
    const double x0 = map.x(column.origin), x1 = map.x(column.origin + column.extent);
    const double y0 = map.y(row.origin), y1 = map.y(row.origin + row.extent);
    const double inset = classes == "rule" ? 0 : classes == "a" ? 1.5 : 3.5;
    svg.rect(x0 + inset, y0 + inset, x1 - x0 - 2 * inset, y1 - y0 - 2 * inset, classes, 2);
  };
  for (const TileSpan& row : down.tiles)
    for (const TileSpan& column : right.tiles) frame(row, column, "rule");
  // Draws a tile's number on elements that only this tile covers.
  const std::int64_t columns = tiling.grid()[right.tiled];
  for (std::size_t i = 0; i < down.tiles.size(); ++i)
    for (std::size_t j = 0; j < right.tiles.size(); ++j) {
      const Span rows = alone(down, i), places = alone(right, j);
      const double x0 = map.x(places.begin), x1 = map.x(places.end), y0 = map.y(rows.begin), y1 = map.y(rows.end);
      const std::string name = "t" + std::to_string(static_cast<std::int64_t>(i) * columns + static_cast<std::int64_t>(j));
      if (x1 - x0 > 7 * static_cast<double>(name.size()) + 4 && y1 - y0 > 16)
        svg.text((x0 + x1) / 2, (y0 + y1) / 2 + 4, "q0 small mid", name);
    }
  if (!down.tiles.empty() && !right.tiles.empty()) {
    frame(down.tiles[0], right.tiles[0], "a");
    if (down.tiles.size() > 1 || right.tiles.size() > 1)
      frame(down.tiles[down.tiles.size() > 1 ? 1 : 0], right.tiles[right.tiles.size() > 1 ? 1 : 0], "b");
  }
  const double edge_x = map.x(std::min(right.extent, right.end)), edge_y = map.y(std::min(down.extent, down.end));
  svg.line(map.left, map.top, edge_x, map.top, "frame");
  svg.line(map.left, map.top, map.left, edge_y, "frame");
  if (!right.is_cut) svg.line(edge_x, map.top, edge_x, edge_y, "frame");
  if (!down.is_cut) svg.line(map.left, edge_y, edge_x, edge_y, "frame");
  svg.text(map.left, map.top - 6, "soft mono tiny", "0");
  svg.text(edge_x, map.top - 6, "soft mono tiny end", std::to_string(std::min(right.extent, right.end)));
  svg.text(map.left - 6, map.top + 9, "soft mono tiny end", "0");
  svg.text(map.left - 6, edge_y, "soft mono tiny end", std::to_string(std::min(down.extent, down.end)));
  return map.top + map.high;
}

/// Draws one tiled axis, each tile on a row of its own.
double draw_line(Svg& svg, double y, const Stretch& right) {
  Map map{Svg::margin + 50, y + 16, Svg::width - 2 * Svg::margin - 60, 26, nullptr, &right};
  draw_counts(svg, map);
  const double edge = map.x(std::min(right.extent, right.end));
  svg.text(map.left, map.top - 6, "soft mono tiny", "0");
  svg.text(edge, map.top - 6, "soft mono tiny end", std::to_string(std::min(right.extent, right.end)));
  svg.rect(map.left, map.top, edge - map.left, map.high, "frame");
  svg.text(map.left - 6, map.top + 17, "soft small end", "array");
  double row = map.top + map.high + 8;
  for (std::size_t k = 0; k < right.tiles.size(); ++k) {
    const TileSpan& tile = right.tiles[k];
    const double x0 = map.x(tile.read.begin), x1 = map.x(tile.read.end), x2 = map.x(tile.origin + tile.extent);
    if (x2 > x1) svg.rect(x1, row, x2 - x1, 20, "pad");
    svg.rect(x0 + 1, row + 1, x1 - x0 - 2, 18, k % 2 == 0 ? "a" : "b", 2);
    svg.text(map.left - 6, row + 14, "soft small end", "tile " + std::to_string(k));
    row += 24;
  }
  return row;
}

/// A chart of what tiles contribute along an axis: the window's weights, or each tile's part of the output's elements.
class Chart {
 public:
  Chart(Svg& svg, const Tiling& tiling, const MergeSpec& merge, const Stretch& stretch, const std::vector<double>& weights)
      : svg_(svg), tiling_(tiling), merge_(merge), weights_(weights), tiled_(stretch.tiled) {
    const auto count = std::min<std::size_t>(stretch.tiles.size(), 4);
    for (std::size_t k = 0; k < count; ++k) numbers_.push_back(static_cast<std::int64_t>(k));
    end_ = count == 0 ? 1 : std::max<std::int64_t>(1, tiling.span(tiled_, static_cast<std::int64_t>(count) - 1).write.end);
    if (stretch.tiles.size() > count || stretch.is_cut)  // tiles that are not drawn contribute to the elements after `end_`
      end_ = std::max<std::int64_t>(1, tiling.span(tiled_, static_cast<std::int64_t>(count)).write.begin);
  }

  /// Returns "; the first 4 of 5 tiles" if the chart does not draw all tiles.
  std::string cut() const {
    const std::int64_t drawn = std::ssize(numbers_), all = tiling_.grid()[tiled_];
    return drawn == all ? "" : "; the first " + std::to_string(drawn) + " of " + counted(all, "tile");
  }

  /// Draws the tiles' curves in a box: with `parts` their parts of the output's elements, else the weights.
  void draw(double x, double y, double wide, double high, bool parts) {
    const std::int64_t samples = std::min<std::int64_t>(end_, 220);
    double most = 1;
    std::vector<Shares> all;
    std::vector<std::int64_t> at;
    for (std::int64_t s = 0; s < samples; ++s) {
      at.push_back(samples == end_ ? s
                                   : static_cast<std::int64_t>(static_cast<double>(s) / static_cast<double>(samples - 1) *
                                                               static_cast<double>(end_ - 1)));
      all.push_back(shares_at(tiling_, merge_, tiled_, weights_, numbers_, at.back()));
      for (const double value : parts ? all.back().parts : all.back().weights) most = std::max(most, value);
    }
    svg_.rect(x, y, wide, high, "cell");
    svg_.text(x - 5, y + 9, "soft mono tiny end", number(most));
    svg_.text(x - 5, y + high, "soft mono tiny end", "0");
    svg_.text(x, y + high + 13, "soft mono tiny", "0");
    svg_.text(x + wide, y + high + 13, "soft mono tiny end", std::to_string(end_));
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      const TileSpan span = tiling_.span(tiled_, numbers_[k]);
      std::vector<double> points;
      for (std::size_t s = 0; s < at.size(); ++s) {
        if (at[s] < span.write.begin || at[s] >= span.write.end) continue;
        const double value = parts ? all[s].parts[k] : all[s].weights[k];
        points.push_back(x + (static_cast<double>(at[s]) + .5) / static_cast<double>(end_) * wide);
        points.push_back(y + high - value / most * (high - 6));
      }
      if (points.empty()) continue;
      svg_.curve(points, k % 2 == 0 ? "curve-a" : "curve-b");
      const double middle =
          (static_cast<double>(span.write.begin) + static_cast<double>(std::min(span.write.end, end_))) / 2;
      if (!parts)
        svg_.text(x + middle / static_cast<double>(end_) * wide, y + high - 8, "mid small ink",
                  "tile " + std::to_string(numbers_[k]));
    }
  }

 private:
  Svg& svg_;
  const Tiling& tiling_;
  const MergeSpec& merge_;
  const std::vector<double>& weights_;
  int tiled_;
  std::vector<std::int64_t> numbers_{};
  std::int64_t end_ = 1;
};

/// Returns what the right chart shows: what the reduction does with the values of several tiles.
std::string part_words(Reduce reduce) {
  const std::string name(word_of(reduce));
  if (makes_means(reduce)) return "its part of the mean: parts add up to 1, so no seam shows";
  if (reduce == Reduce::sum) return "its factor in the sum";
  if (reduce == Reduce::first || reduce == Reduce::last || reduce == Reduce::center)
    return "the tile whose value is taken (rule " + name + ")";
  const std::string taken = reduce == Reduce::median                             ? "middle one"
                            : reduce == Reduce::vote                             ? "most frequent"
                            : reduce == Reduce::max || reduce == Reduce::nanmax  ? "largest"
                                                                                 : "smallest";
  return "all values count alike: the " + taken + " is taken";
}

double draw_weights(Svg& svg, double y, const Tiling& tiling, const MergeSpec& merge, const Stretch& stretch) {
  const std::vector<double> weights = axis_weights(tiling, merge, stretch.tiled);
  if (stretch.tiles.empty()) return y;
  y += part_gap;
  svg.text(Svg::margin, y, "head", "Windows along axis " + std::to_string(tiling.axes()[stretch.tiled]));
  if (weights.empty())
    return svg.paragraph(
        Svg::margin, y + 18, "soft small",
        "Not drawn: the weights are no product of one list for each axis, or a tile is longer than a picture can show.",
        140);
  constexpr double wide = (Svg::width - 3 * Svg::margin - 60) / 2, high = 120;
  Chart chart(svg, tiling, merge, stretch, weights);
  const double left = Svg::margin + 24, right = left + wide + Svg::margin + 30;
  svg.text(left, y + 20, "soft small", "the weights of each tile's elements" + chart.cut());
  svg.text(right, y + 20, "soft small", part_words(reduction_of(merge)));
  chart.draw(left, y + 30, wide, high, false);
  chart.draw(right, y + 30, wide, high, true);
  return y + 30 + high + 18;
}

std::string description_of(const Tiling& tiling, const MergeSpec& merge) {
  std::string text = "The array has shape " + to_string(tiling.spec().shape) + ". ";
  for (int i = 0; i < tiling.grid().size(); ++i)
    for (const std::string& line : axis_lines(tiling, i)) text += line.substr(line.find_first_not_of(' ')) + ". ";
  for (const std::string& line : work_lines(tiling, merge)) text += line + ". ";
  return text;
}

}  // namespace
}  // namespace patchfold::explaining

namespace patchfold {

std::string explain_svg(const Tiling& tiling, const MergeSpec& merge) {
  using namespace explaining;
  const int tiled = tiling.grid().size();
  const std::string grid = extents_text(tiling.grid());
  const std::string title =
      "Tiling: " + counted(tiling.size(), "tile") + " of " + extents_text(tiling.spec().tile) + " in a grid of " + grid;
  Svg svg(title, description_of(tiling, merge));
  double y = 40;
  svg.text(Svg::margin, y, "title", title);
  svg.text(Svg::margin, y + 24, "ink mono",
           "array " + to_string(tiling.spec().shape) + "  ->  output " + to_string(tiling.output_shape(tiling.channels())));
  y += 50;
  for (int i = 0; i < tiled; ++i)
    for (const std::string& line : axis_lines(tiling, i)) {
      svg.indented(Svg::margin, y, line.starts_with(' ') ? "soft" : "ink", line);
      y += 16;
    }
  y += 8;
  for (const std::string& line : work_lines(tiling, merge)) y = svg.paragraph(Svg::margin, y, "soft small", line, 140);

  const Stretch right = stretch_of(tiling, tiled - 1);
  const bool plane = tiled > 1;
  const Stretch down = stretch_of(tiling, plane ? tiled - 2 : 0);
  y += part_gap - 12;
  svg.text(Svg::margin, y, "head", "Tiles over the array");
  std::string what = "A number says how many tiles overlap there; without one there is one tile; grey: no tile";
  if (tiling.size() > 0 && plane) what += "; t5: tile 5; filled: tile 0; dashed: the next one across the corner";
  if (tiled > 2) what += "; of " + std::to_string(tiled) + " tiled axes the last two are drawn";
  y = svg.paragraph(Svg::margin, y + 18, "soft small", what + ".", 140);
  if (right.is_cut || (plane && down.is_cut))
    y = svg.paragraph(
        Svg::margin, y, "soft small",
        "Only the first " + std::to_string(most_drawn) + " tiles of an axis are drawn; there are " + grid + ".", 140);
  y = plane ? draw_plane(svg, y, tiling, down, right) : draw_line(svg, y, right);
  if (plane) y = draw_weights(svg, y, tiling, merge, down);
  y = draw_weights(svg, y, tiling, merge, right);
  return svg.take(y + Svg::margin);
}

}  // namespace patchfold
