// SPDX-License-Identifier: Apache-2.0
// Lines of text, the form of an explanation.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/index.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::explaining {

inline constexpr std::size_t most_columns = 100;

/// A text whose lines have at most most_columns characters. A longer line is broken at blanks, outside brackets if possible,
/// and its later parts are indented by `hang` columns.
class Text {
 public:
  void line(std::string_view text, std::size_t hang = 4);
  /// Writes a headline with a blank line before it.
  void section(std::string_view title);
  /// Writes rows of cells, indented by two columns, each column as wide as its widest cell; a long last cell takes several lines.
  void table(const std::vector<std::vector<std::string>>& rows);
  std::string take() { return std::move(text_); }

 private:
  std::string text_{};
};

/// Returns the lines of a text, without line ends.
std::vector<std::string> lines_of(std::string_view text);
/// Returns "name[0, 1, 2]".
std::string element(std::string_view name, const Dims& index);
/// Returns "name[0, :, :]": the index of an element, with ":" at the axes `rows` and `columns`.
std::string slice_text(std::string_view name, const Dims& index, int rows, int columns);
/// Returns the text with blanks before it, `width` characters in all.
std::string right_aligned(std::string_view cell, std::size_t width);
/// Returns a number with at most four digits: "2.25".
std::string number(double value);
/// Returns "1728 bytes", "1835008 bytes (1.75 MiB)".
std::string bytes(std::int64_t count);
/// Returns "1 element", "5 elements".
std::string counted(std::int64_t count, std::string_view noun);
/// Returns the `count` numbers first, first + step, ..: all of them, or the first and the last ones with dots between them.
std::string listed(std::int64_t count, std::int64_t first, std::int64_t step);
/// Returns "3 * 5 = 15 taps", "9 taps", "1 tap".
std::string product(const Dims& factors, std::string_view noun);

}  // namespace patchfold::explaining
