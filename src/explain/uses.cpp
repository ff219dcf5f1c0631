// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "explain/elements.hpp"
#include "explain/patches.hpp"

namespace patchfold::explaining {
namespace {

using Counts = std::vector<std::int64_t>;

/// Returns the axes along which neighbouring counts differ somewhere.
std::vector<int> changing_axes(const Counts& counts, const Dims& shape) {
  std::vector<int> axes;
  std::int64_t step = static_cast<std::int64_t>(counts.size());
  for (int axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t all = step;
    step /= shape[axis];
    for (std::int64_t i = 0; i < std::ssize(counts); ++i) {
      if (i % all + step >= all) continue;  // i is the last index on this axis
      if (counts[static_cast<std::size_t>(i)] == counts[static_cast<std::size_t>(i + step)]) continue;
      axes.push_back(axis);
      break;
    }
  }
  return axes;
}

/// Writes the counts over the axes `rows` (-1: none) and `columns`; `index` holds the indices on the other axes.
void write_grid(Text& text, std::string_view name, const Counts& counts, const Dims& shape, Dims index, int rows,
                int columns) {
  text.line("  " + slice_text(name, index, rows, columns));
  const std::size_t width = std::to_string(*std::ranges::max_element(counts)).size() + 1;
  const auto across =
      shown_between(0, shape[columns], std::min<std::int64_t>(24, 88 / static_cast<std::int64_t>(width) - 1));
  for (const std::int64_t row : rows < 0 ? std::vector<std::int64_t>{0} : shown_between(0, shape[rows], 12)) {
    std::string line = "   ";
    if (rows >= 0 && row != left_out) index[rows] = row;
    for (const std::int64_t column : across) {
      if (column != left_out) index[columns] = column;
      if (row == left_out)
        line += right_aligned(column == left_out ? "" : ":", width);
      else
        line += column == left_out
                    ? " .."
                    : right_aligned(std::to_string(counts[static_cast<std::size_t>(number_at(index, shape))]), width);
    }
    text.line(line);
  }
}

void write_grids(Text& text, std::string_view name, const Counts& counts, const Dims& shape) {
  const std::vector<int> axes = changing_axes(counts, shape);
  if (axes.empty()) return;
  const int columns = axes.back();
  const int rows = axes.size() > 1 ? axes[axes.size() - 2] : -1;
  Dims index = Dims::filled(shape.size(), 0);
  write_grid(text, name, counts, shape, index, rows, columns);
  if (axes.size() < 3) return;
  // Writes a second grid, which holds the element with the largest count.
  const Dims fullest = index_at(std::ranges::max_element(counts) - counts.begin(), shape);
  const Dims before = index;
  for (std::size_t i = 0; i + 2 < axes.size(); ++i) index[axes[i]] = fullest[axes[i]];
  if (index == before) return;
  write_grid(text, name, counts, shape, index, rows, columns);
}

std::string part_of(std::int64_t part, const Dims& shape, std::string_view name) {
  return std::to_string(part) + " of " + counted(element_count(shape), "element") + " of " + std::string(name);
}

}  // namespace

void write_coverage(Text& text, const Subject& subject, const Findings& findings) {
  const bool sums = subject.geometry().sums;
  const std::string none = subject.geometry().means ? to_string(subject.geometry().value) : "+0";
  const std::string data(subject.op.data_input);
  const std::string name = sums ? "output" : data;
  const Dims& shape = sums ? subject.output() : subject.input();
  const Counts& counts = findings.counts;
  if (!subject.has_input())
    text.section("Coverage: how many patches touch each element of output, which is the output itself");
  else if (sums)
    text.section("Coverage: how many elements of " + data + " meet in each element of output");
  else
    text.section("Coverage: how often each element of " + data + " is copied to output");
  if (counts.empty()) return text.line("  " + name + " has no elements");

  const auto [least, most] = std::ranges::minmax(counts);
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::int64_t holes = std::ranges::count(counts, 0);
  if (least == most)
    text.line("  " +
              counted(least, sums && subject.has_input() ? "element"
                             : sums                      ? "patch"
                                                         : "time") +
              ", the same everywhere");
  else
    text.line("  least " + std::to_string(least) + ", most " + std::to_string(most) + ", mean " +
              number(static_cast<double>(total) / static_cast<double>(counts.size())));
  if (holes > 0)
    text.line("  holes: " + part_of(holes, shape, name) + (holes == 1 ? " is" : " are") +
              (!subject.has_input() ? " touched by none"
               : sums               ? " met by none and become " + none
                                    : " never copied"));
  if (sums && subject.has_input()) {
    if (const std::int64_t dropped = element_count(subject.input()) - total; dropped > 0)
      text.line("  outside: " + part_of(dropped, subject.input(), data) + (dropped == 1 ? " lies" : " lie") +
                " outside the output and go nowhere");
  } else if (!sums) {
    const Geometry& geometry = subject.geometry();
    const std::int64_t outside = std::ranges::count(findings.from, -1) + std::ranges::count(findings.padded, true);
    if (outside > 0)
      text.line("  outside: " + part_of(outside, subject.output(), "output") + (outside == 1 ? " lies" : " lie") +
                " outside " + data + " and " +
                (geometry.padding_mode == PaddingMode::constant
                     ? "become " + to_string(geometry.value)
                     : "read it as padding_mode " + std::string(word_of(geometry.padding_mode)) + " says"));
  }
  write_grids(text, name, counts, shape);
}

}  // namespace patchfold::explaining
