// SPDX-License-Identifier: Apache-2.0
#include "explain/picture.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "explain/elements.hpp"
#include "explain/patches.hpp"
#include "patchfold/explain.hpp"

namespace patchfold::explaining {

std::string channel_class(std::int64_t channel) {
  return "k" + std::to_string(channel % 4);
}

int heat_of(double value, double most) {
  if (!(most > 0)) return 0;
  return std::clamp(static_cast<int>(std::floor(value / most * 5.999)), 0, 5);
}

namespace {

constexpr double half_width = (Svg::width - 3 * Svg::margin) / 2;

/// A grid of coordinates: the axes that run downwards (or none) and to the right, the coordinates on each, and its place in pixels.
struct Board {
  const SpatialAxis* down = nullptr;
  const SpatialAxis* right = nullptr;
  std::vector<std::int64_t> rows{0};
  std::vector<std::int64_t> columns{};
  double cell = 0;
  double left = 0, top = 0;  ///< the top left corner of the first cell

  double width() const { return cell * static_cast<double>(columns.size()); }
  double height() const { return cell * static_cast<double>(rows.size()); }
  bool is_cut() const {
    return std::ranges::find(rows, left_out) != rows.end() || std::ranges::find(columns, left_out) != columns.end();
  }
};

Board board_of(const std::vector<const SpatialAxis*>& axes) {
  Board board;
  board.right = axes.back();
  if (axes.size() > 1) board.down = axes[axes.size() - 2];
  board.columns = shown_coordinates(*board.right, board.down ? 17 : 30);
  if (board.down) board.rows = shown_coordinates(*board.down, 15);
  const double room = (board.down ? half_width : Svg::width - 2 * Svg::margin) - 34;
  board.cell = std::clamp(std::floor(room / static_cast<double>(board.columns.size())), 12.0, 34.0);
  return board;
}

/// Draws the coordinates at the left of a grid and above it.
void draw_rulers(Svg& svg, const Board& board) {
  const auto label = [](std::int64_t c) { return c == left_out ? std::string("..") : std::to_string(c); };
  std::size_t digits = 1;
  for (const std::int64_t c : board.columns) digits = std::max(digits, label(c).size());
  // Numbers that are wider than a cell would overlap, so only every `every`-th number is drawn.
  const std::size_t every = 1 + static_cast<std::size_t>(6.0 * static_cast<double>(digits) / board.cell);
  for (std::size_t i = 0; i < board.columns.size(); ++i)
    if (i % every == 0 || board.columns[i] == left_out)
      svg.text(board.left + (static_cast<double>(i) + .5) * board.cell, board.top - 5, "soft mono tiny mid",
               label(board.columns[i]));
  if (board.down == nullptr) return;
  for (std::size_t i = 0; i < board.rows.size(); ++i)
    svg.text(board.left - 5, board.top + (static_cast<double>(i) + .5) * board.cell + 3, "soft mono tiny end",
             label(board.rows[i]));
}

/// Calls f(row, column, x, y) for every cell that is not in a gap; row and column are coordinates, x and y are pixels.
template <class F>
void for_each_cell(const Board& board, F&& f) {
  for (std::size_t i = 0; i < board.rows.size(); ++i)
    for (std::size_t j = 0; j < board.columns.size(); ++j)
      if (board.rows[i] != left_out && board.columns[j] != left_out)
        f(board.rows[i], board.columns[j], board.left + static_cast<double>(j) * board.cell,
          board.top + static_cast<double>(i) * board.cell);
}

Ground ground_of(const Geometry& geometry, const Board& board, std::int64_t row, std::int64_t column) {
  const Ground right = ground_at(geometry, *board.right, column);
  const Ground down = board.down ? ground_at(geometry, *board.down, row) : Ground::image;
  return right == Ground::cut || down == Ground::cut ? Ground::cut : right == Ground::image ? down : right;
}

const char* class_of(Ground ground) {
  return ground == Ground::image ? "cell" : ground == Ground::padding ? "pad" : "gone";
}

/// A highlighted patch: its position along each axis of a Board.
struct Picked {
  std::int64_t down = 0;
  std::int64_t right = 0;
};

/// Returns the number of the tap with which a patch touches a cell; -1 if none does.
std::int64_t tap_of(const Board& board, const Picked& patch, std::int64_t row, std::int64_t column) {
  const std::int64_t right = tap_at(*board.right, patch.right, column);
  const std::int64_t down = board.down ? tap_at(*board.down, patch.down, row) : 0;
  return right < 0 || down < 0 ? -1 : down * board.right->kernel + right;
}

void draw_patch(Svg& svg, const Board& board, const Picked& patch, bool is_first) {
  const double inset = is_first ? 1.5 : 4.5;
  for_each_cell(board, [&](std::int64_t row, std::int64_t column, double x, double y) {
    const std::int64_t tap = tap_of(board, patch, row, column);
    if (tap < 0) return;
    svg.rect(x + inset, y + inset, board.cell - 2 * inset, board.cell - 2 * inset, is_first ? "a" : "b", 3);
    if (board.cell < 23 || tap > 999) return;
    if (is_first)
      svg.text(x + 8, y + board.cell - 8, "at-a mono tiny", std::to_string(tap));
    else
      svg.text(x + board.cell - 8, y + 15, "at-b mono tiny end", std::to_string(tap));
  });
}

std::string image_name(const Subject& subject) {
  return subject.geometry().extracts() ? std::string(subject.op.data_input) : "output";
}

std::string axes_name(const Board& board) {
  return board.down ? "axes " + std::to_string(board.down->image_axis) + " and " + std::to_string(board.right->image_axis)
                    : "axis " + std::to_string(board.right->image_axis);
}

double draw_patches_board(Svg& svg, double x, double y, const Subject& subject, Board board) {
  const Geometry& geometry = subject.geometry();
  const std::string patch = geometry.is_block ? "block" : "patch";
  svg.text(x, y, "head", geometry.is_block ? "Blocks over the image" : "Patches over the padded image");
  svg.text(x, y + 17, "soft small", axes_name(board) + " of " + image_name(subject));
  board.left = x + 34;
  board.top = y + 44;
  draw_rulers(svg, board);
  bool padding = false, cut = false;
  for_each_cell(board, [&](std::int64_t row, std::int64_t column, double cx, double cy) {
    const Ground ground = ground_of(geometry, board, row, column);
    padding |= ground == Ground::padding;
    cut |= ground == Ground::cut;
    svg.rect(cx, cy, board.cell, board.cell, class_of(ground));
  });
  const bool two_right = board.right->positions > 1;
  const bool two = two_right || (board.down && board.down->positions > 1);
  const std::int64_t second = two_right ? 1 : board.right->positions;
  if (geometry.positions > 0) {
    draw_patch(svg, board, {}, true);
    if (two) draw_patch(svg, board, two_right ? Picked{0, 1} : Picked{1, 0}, false);
    for_each_cell(board, [&](std::int64_t row, std::int64_t column, double cx, double cy) {
      const auto begins = [](const SpatialAxis& axis, std::int64_t c) {
        const std::int64_t distance = c + axis.pad_begin;
        return distance >= 0 && distance % axis.stride == 0 && distance / axis.stride < axis.positions;
      };
      if (begins(*board.right, column) && (!board.down || begins(*board.down, row)))
        svg.corner(cx, cy, std::max(4.0, board.cell / 5), "mark");
    });
  }
  double below = board.top + board.height() + 20;
  const auto note = [&](std::string_view shape, std::string_view words) {
    if (shape == "corner")
      svg.corner(x + 36, below - 9, 8, "mark");
    else
      svg.rect(x + 35, below - 10, 12, 12, shape, shape == "a" || shape == "b" ? 2 : 0);
    svg.text(x + 56, below, "ink small", words);
    below += 17;
  };
  if (geometry.positions == 0) {
    note("pad", "there is no position");
    return below;
  }
  note("a", patch + " 0, with the number of each tap");
  if (two)
    note("b", patch + " " + std::to_string(second) +
                  (geometry.is_block ? ", its neighbour" : ", its neighbour: one stride further"));
  note("corner", "a " + patch + " begins here: " +
                     product(board.down ? Dims{board.down->positions, board.right->positions} : Dims{board.right->positions},
                             "position"));
  if (padding)
    note("pad", geometry.padding_mode == PaddingMode::constant
                    ? "padding: reads " + to_string(geometry.value)
                    : "padding: reads the image as padding_mode " + std::string(word_of(geometry.padding_mode)) + " says");
  if (cut) note("gone", geometry.extracts() ? "cut away by negative pads" : "outside the output: left out");
  if (board.is_cut()) note("cell", ".. stands for coordinates that are left out of the picture");
  return below;
}

double draw_coverage_board(Svg& svg, double x, double y, const Subject& subject, Board board,
                           const std::vector<const SpatialAxis*>& axes) {
  const Geometry& geometry = subject.geometry();
  svg.text(x, y, "head", "Coverage");
  svg.text(x, y + 17, "soft small",
           std::string("how many ") + (geometry.is_block ? "blocks" : "patches") + " touch each element of " +
               image_name(subject));
  board.left = x + 34;
  board.top = y + 44;
  draw_rulers(svg, board);
  // On the axes that the picture does not show, takes the middle element.
  std::int64_t others = 1;
  std::string slice;
  for (const SpatialAxis* axis : axes) {
    if (axis == board.right || axis == board.down) continue;
    const std::int64_t uses = uses_at(geometry, *axis, axis->extent / 2);
    others = others < 0 || uses < 0 ? -1 : saturating_mul(others, uses);
    slice += (slice.empty() ? "" : ", ") + ("coordinate " + std::to_string(axis->extent / 2)) + " of axis " +
             std::to_string(axis->image_axis);
  }
  const auto uses_along = [&](const SpatialAxis* axis, const std::vector<std::int64_t>& at) {
    std::vector<std::int64_t> uses;
    for (const std::int64_t c : at)
      uses.push_back(axis == nullptr ? 1 : c == left_out || c < 0 || c >= axis->extent ? 0 : uses_at(geometry, *axis, c));
    return uses;
  };
  const std::vector<std::int64_t> right = uses_along(board.right, board.columns), down = uses_along(board.down, board.rows);
  const bool unknown =
      others < 0 || std::ranges::find(right, -1) != right.end() || std::ranges::find(down, -1) != down.end();
  const auto value = [&](std::int64_t a, std::int64_t b) { return saturating_mul(saturating_mul(a, b), others); };
  const std::int64_t most = value(std::ranges::max(down), std::ranges::max(right));
  bool holes = false;
  for (std::size_t i = 0; i < board.rows.size(); ++i)
    for (std::size_t j = 0; j < board.columns.size(); ++j) {
      const std::int64_t row = board.rows[i], column = board.columns[j];
      if (row == left_out || column == left_out) continue;
      const double cx = board.left + static_cast<double>(j) * board.cell,
                   cy = board.top + static_cast<double>(i) * board.cell;
      const bool inside =
          column >= 0 && column < board.right->extent && (!board.down || (row >= 0 && row < board.down->extent));
      if (!inside || unknown) {
        svg.rect(cx, cy, board.cell, board.cell, geometry.extracts() ? "pad" : "gone");
        continue;
      }
      const std::int64_t count = value(down[i], right[j]);
      const int heat = most == 1 ? 1 : heat_of(static_cast<double>(count), static_cast<double>(most));
      holes |= count == 0;
      svg.rect(cx, cy, board.cell, board.cell, count == 0 ? "pad" : "h" + std::to_string(heat));
      const std::string text = std::to_string(count);
      if (6.0 * static_cast<double>(text.size()) < board.cell)
        svg.text(cx + board.cell / 2, cy + board.cell / 2 + 4,
                 "mono small mid " + (count == 0 ? "ink" : "q" + std::to_string(heat)), text);
    }
  double below = board.top + board.height() + 20;
  const auto say = [&](const std::string& words) { below = svg.paragraph(x + 34, below, "ink small", words, 68); };
  if (unknown) say("Not counted: padding reads the image again too often.");
  if (geometry.sums && geometry.has_data)
    say(geometry.means ? "So many elements are averaged there."
                       : "So many elements are added up there: fold(unfold(x)) is x times this.");
  if (holes)
    say(!geometry.has_data ? "0, dashed: no patch."
        : geometry.sums
            ? "0, dashed: no element goes there; it becomes " + (geometry.means ? to_string(geometry.value) : "+0") + "."
            : "0, dashed: never copied; it is lost.");
  if (!slice.empty()) say("At " + slice + ".");
  return below;
}

}  // namespace

double draw_head(Svg& svg, double y, const Subject& subject) {
  const Geometry& geometry = subject.geometry();
  const ProblemText problem{std::string(subject.op.name), subject.dtype, subject.element_size, subject.input(),
                            subject.given};
  svg.text(Svg::margin, y + 8, "title", subject.op.name);
  y = svg.paragraph(Svg::margin, y + 30, "soft", subject.op.doc, 130);
  y = svg.paragraph(Svg::margin, y + 4, "soft mono small", to_string(problem), 125) + 10;
  std::string shapes = to_string(subject.output());
  if (subject.has_input())
    shapes = std::string(subject.op.data_input) + " " + to_string(subject.input()) + "  ->  output " + shapes;
  svg.text(Svg::margin, y + 6, "ink mono head", shapes);
  y += 30;
  for (const AxisFormula& line : output_formulas(subject)) {
    svg.text(Svg::margin, y, "soft small mono", line.axis);
    svg.text(Svg::margin + 130, y, "ink small mono", line.formula);
    y += 16;
  }
  for (const std::string& line : traffic_lines(subject)) {
    if (line.starts_with("patchfold bench")) continue;
    svg.text(Svg::margin, y, "soft small", line);
    y += 16;
  }
  if (geometry.axes.empty()) return y;
  Text text;
  write_windows(text, subject);
  for (const std::string& line : lines_of(text.take())) {
    if (line.starts_with("Windows:")) y += 12;
    svg.indented(Svg::margin, y, line.starts_with("  axis") || !line.starts_with(' ') ? "ink" : "soft", line);
    y += line.empty() ? 0 : 16;
  }
  return y;
}

double draw_grids(Svg& svg, double y, const Subject& subject) {
  const std::vector<const SpatialAxis*> axes = cut_axes(subject.geometry());
  if (axes.empty() || element_count(subject.geometry().image()) == 0) return y;
  const Board board = board_of(axes);
  const double left = Svg::margin, below = draw_patches_board(svg, left, y + part_gap, subject, board);
  if (board.down == nullptr) return draw_coverage_board(svg, left, below + part_gap / 2, subject, board, axes);
  return std::max(below, draw_coverage_board(svg, left + half_width + left, y + part_gap, subject, board, axes));
}

}  // namespace patchfold::explaining
