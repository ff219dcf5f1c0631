// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "explain/elements.hpp"

namespace patchfold::explaining {
namespace {

/// The most elements that are shown as a matrix.
constexpr std::int64_t most_elements = 128;
constexpr std::size_t most_width = 96;

/// Writes each element of a tensor as a cell: the last axis from left to right, and the one before it downwards.
void write_cells(Text& text, std::string_view name, const Dims& shape, const std::vector<std::string>& cells,
                 std::size_t width) {
  const int rank = shape.size();
  const std::int64_t columns = shape[rank - 1], rows = rank > 1 ? shape[rank - 2] : 1;
  for (std::int64_t begin = 0; begin < std::ssize(cells); begin += rows * columns) {
    text.line("  " + slice_text(name, index_at(begin, shape), rank - 2, rank - 1));
    for (std::int64_t row = 0; row < rows; ++row) {
      std::string line = "   ";
      for (std::int64_t column = 0; column < columns; ++column)
        line += right_aligned(cells[static_cast<std::size_t>(begin + row * columns + column)], width + 1);
      text.line(line);
    }
  }
}

}  // namespace

void write_matrix(Text& text, const Subject& subject, const Findings& findings) {
  if (!subject.has_input()) return;
  const bool sums = subject.geometry().sums;
  const std::vector<std::int64_t>& others = sums ? findings.to : findings.from;
  const Dims& shape = sums ? subject.input() : subject.output();
  if (others.empty() || std::ssize(others) > most_elements || shape.empty()) return;
  std::vector<std::string> cells;
  std::size_t width = 1;
  for (const std::int64_t other : others) {
    cells.push_back(other < 0 ? "." : std::to_string(other));
    width = std::max(width, cells.back().size());
  }
  if (static_cast<std::size_t>(shape.back()) * (width + 1) > most_width) return;
  const std::string data(subject.op.data_input);
  const bool outside = std::ranges::find(others, -1) != others.end();
  if (sums)
    text.section("Matrix: to which element of output, counted from 0, each one of " + data + " goes" +
                 (outside ? "; . is left out" : ""));
  else
    text.section("Matrix: the output for the " + data + " 0, 1, 2, .." +
                 (outside ? "; . is outside: " + to_string(subject.geometry().value) : ""));
  write_cells(text, sums ? data : "output", shape, cells, width);
}

}  // namespace patchfold::explaining
