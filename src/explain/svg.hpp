// SPDX-License-Identifier: Apache-2.0
// Pictures as SVG: text stays text, and colours follow the light or dark scheme of the reader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace patchfold::explaining {

/// A picture that grows downwards. Coordinates are pixels from the top left corner. Every string is escaped. Colours, strokes and
/// fonts are classes of the style sheet, one set for light and one for dark. Colours are those of Okabe and Ito, which colour-blind
/// people can distinguish, and a number or a line always repeats the meaning of a colour.
///
/// Classes of text: `ink`, `soft` (less important), `title`, `head`, `mono`, `small`, `tiny`, `mid` and `end` (anchors), `at-a` and
/// `at-b` (on shapes of the classes `a` and `b`), `q0` to `q5` (on heat 0 to 5). Classes of shapes: `back`, `cell`, `pad` (dashed),
/// `gone` (cut away), `a` and `b` (the two highlighted patches or tiles: one filled, one dashed), `mark`, `k0` to `k3` (channels),
/// `h0` to `h5` (heat), `rule` (lines), `frame`, `curve-a`, `curve-b`, `ours`.
class Svg {
 public:
  static constexpr double width = 960;
  static constexpr double margin = 24;

  /// Begins a picture. Screen readers read `title` and `description`.
  Svg(std::string_view title, std::string_view description);

  void text(double x, double y, std::string_view classes, std::string_view text);
  void rect(double x, double y, double width, double height, std::string_view classes, double radius = 0);
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  /// Draws a line of an explanation in a small monospaced font; its leading blanks become space at its left.
  void indented(double x, double y, std::string_view classes, std::string_view line);
  /// Draws a line through points {x1, y1, x2, y2, ..}.
  void curve(const std::vector<double>& points, std::string_view classes);
  /// Draws a triangle in the top left corner of a cell.
  void corner(double x, double y, double size, std::string_view classes);
  /// Draws lines of text below one another, broken at blanks if longer than `columns`; returns the y below the last line.
  double paragraph(double x, double y, std::string_view classes, std::string_view text, std::size_t columns);
  /// Returns the whole picture, `height` pixels high.
  std::string take(double height) const;

 private:
  std::string title_, description_;
  std::string body_{};
};

/// Returns the text with &, <, > and quotes escaped. Bytes that XML forbids are replaced: control characters by blanks, and bytes
/// that are not UTF-8 by question marks.
std::string escaped(std::string_view text);
/// Returns "12.5": at most two digits after the point, in every locale.
std::string coordinate(double value);
/// Returns lines of at most `columns` characters, broken at blanks if possible.
std::vector<std::string> broken(std::string_view text, std::size_t columns);

}  // namespace patchfold::explaining
