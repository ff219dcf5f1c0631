// SPDX-License-Identifier: Apache-2.0
#include "explain/svg.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace patchfold::explaining {

namespace {

/// The style rules: for both colour schemes, then for light, then for dark. The selector of every rule begins with .pfx, because
/// the style of a picture that is embedded in a page applies to the whole page.
constexpr std::string_view style = R"(
.pfx{font-family:system-ui,"Segoe UI",Roboto,"Helvetica Neue","DejaVu Sans",Arial,sans-serif;font-size:13px}
.pfx .mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.pfx .title{font-size:21px;font-weight:700}
.pfx .head{font-size:15px;font-weight:650}
.pfx .small{font-size:11px}
.pfx .tiny{font-size:9px}
.pfx .mid{text-anchor:middle}
.pfx .end{text-anchor:end}
.pfx .cell{stroke-width:.7}
.pfx .pad{fill:none;stroke-width:.9;stroke-dasharray:2 2}
.pfx .gone{stroke-width:.7;stroke-dasharray:1 2}
.pfx .a{fill-opacity:.25;stroke-width:2}
.pfx .b{fill:none;stroke-width:2;stroke-dasharray:5 2.5}
.pfx .rule{fill:none;stroke-width:1}
.pfx .frame{fill:none;stroke-width:2.2}
.pfx .curve-a,.pfx .curve-b{fill:none;stroke-width:2}
.pfx .curve-b{stroke-dasharray:6 3}
.pfx .ours{fill:none;stroke-width:2}
.pfx .back{fill:#ffffff}
.pfx .ink,.pfx .title,.pfx .head{fill:#1b1f24}
.pfx .soft{fill:#4d5660}
.pfx .cell{fill:#f4f6f8;stroke:#98a1ab}
.pfx .pad,.pfx .gone{stroke:#7d8791}
.pfx .gone{fill:#e6e9ec}
.pfx .a{fill:#0072b2;stroke:#0072b2}
.pfx .b{stroke:#c04f00}
.pfx .at-a{fill:#004f7c}
.pfx .at-b{fill:#993f00}
.pfx .mark{fill:#1b1f24}
.pfx .rule{stroke:#98a1ab}
.pfx .frame{stroke:#1b1f24}
.pfx .curve-a{stroke:#0072b2}
.pfx .curve-b{stroke:#c04f00}
.pfx .ours{stroke:#00795a}
.pfx .k0{fill:#d3e6f5;stroke:#98a1ab;stroke-width:.7}
.pfx .k1{fill:#fce2c6;stroke:#98a1ab;stroke-width:.7}
.pfx .k2{fill:#cfeee1;stroke:#98a1ab;stroke-width:.7}
.pfx .k3{fill:#eed9ec;stroke:#98a1ab;stroke-width:.7}
.pfx .h0{fill:#eef5fc}.pfx .h1{fill:#cde2f4}.pfx .h2{fill:#9fcae6}.pfx .h3{fill:#6aaed8}.pfx .h4{fill:#2171b5}.pfx .h5{fill:#083f7a}
.pfx .h0,.pfx .h1,.pfx .h2,.pfx .h3,.pfx .h4,.pfx .h5{stroke:#98a1ab;stroke-width:.7}
.pfx .q0,.pfx .q1,.pfx .q2,.pfx .q3{fill:#1b1f24}.pfx .q4,.pfx .q5{fill:#ffffff}
@media (prefers-color-scheme:dark){
.pfx .back{fill:#0d1117}
.pfx .ink,.pfx .title,.pfx .head{fill:#e8eef4}
.pfx .soft{fill:#a5afba}
.pfx .cell{fill:#1a212b;stroke:#57616d}
.pfx .pad,.pfx .gone{stroke:#7d8791}
.pfx .gone{fill:#252c36}
.pfx .a{fill:#56b4e9;stroke:#56b4e9}
.pfx .b{stroke:#f0a23c}
.pfx .at-a{fill:#9bd4f5}
.pfx .at-b{fill:#f7c27c}
.pfx .mark{fill:#e8eef4}
.pfx .rule{stroke:#57616d}
.pfx .frame{stroke:#e8eef4}
.pfx .curve-a{stroke:#56b4e9}
.pfx .curve-b{stroke:#f0a23c}
.pfx .ours{stroke:#3fd0a4}
.pfx .k0{fill:#16395a;stroke:#57616d}
.pfx .k1{fill:#5a3712;stroke:#57616d}
.pfx .k2{fill:#11493a;stroke:#57616d}
.pfx .k3{fill:#4b2d53;stroke:#57616d}
.pfx .h0{fill:#14202e}.pfx .h1{fill:#183450}.pfx .h2{fill:#1d4a72}.pfx .h3{fill:#276697}.pfx .h4{fill:#6fb0e0}.pfx .h5{fill:#c4e3fb}
.pfx .h0,.pfx .h1,.pfx .h2,.pfx .h3,.pfx .h4,.pfx .h5{stroke:#57616d}
.pfx .q0,.pfx .q1,.pfx .q2,.pfx .q3{fill:#e8eef4}.pfx .q4,.pfx .q5{fill:#0b1118}
}
)";

/// Returns a prefix for the ids of a picture, so that the pictures of a page have different ids.
std::string id_of(std::string_view title, std::string_view description) {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::string_view part : {title, description})
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
  return "pfx-" + std::string(digits.data(), end);
}

/// Returns the length in bytes of the multi-byte character at the beginning of the text; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  const std::size_t length = first >= 0xc2 && first < 0xe0   ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  // Refuses overlong forms, surrogates, and code points beyond U+10FFFF.
  const unsigned second = byte(1);
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90);
  return wrong ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      const std::size_t length = utf8_length(text.substr(i));
      result += length == 0 ? "?" : text.substr(i, length);
      i += std::max<std::size_t>(length, 1) - 1;
      continue;
    }
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
    }
  }
  return result;
}

std::string coordinate(double value) {
  std::array<char, 64> text{};
  const double bounded = std::isfinite(value) ? std::clamp(value, -1e9, 1e9) : 0;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), bounded, std::chars_format::fixed, 2).ptr;
  std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  while (digits.ends_with('0')) digits.remove_suffix(1);
  if (digits.ends_with('.')) digits.remove_suffix(1);
  return std::string(digits == "-0" ? "0" : digits);
}

std::vector<std::string> broken(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (text.size() > columns) {
    std::size_t cut = text.rfind(' ', columns);
    if (cut == std::string_view::npos || cut == 0) cut = columns;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(std::min(text.find_first_not_of(' ', cut), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

Svg::Svg(std::string_view title, std::string_view description)
    : title_(escaped(title)), description_(escaped(description)) {}

void Svg::text(double x, double y, std::string_view classes, std::string_view text) {
  body_ += "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" class=\"" + std::string(classes) + "\">" +
           escaped(text) + "</text>\n";
}

void Svg::indented(double x, double y, std::string_view classes, std::string_view line) {
  const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
  text(x + 6.6 * static_cast<double>(blanks), y, std::string(classes) + " small mono", line.substr(blanks));
}

void Svg::rect(double x, double y, double width, double height, std::string_view classes, double radius) {
  body_ += "<rect x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" width=\"" + coordinate(std::max(0.0, width)) +
           "\" height=\"" + coordinate(std::max(0.0, height)) + "\" class=\"" + std::string(classes) + "\"" +
           (radius > 0 ? " rx=\"" + coordinate(radius) + "\"" : "") + "/>";
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  body_ += "<line x1=\"" + coordinate(x1) + "\" y1=\"" + coordinate(y1) + "\" x2=\"" + coordinate(x2) + "\" y2=\"" +
           coordinate(y2) + "\" class=\"" + std::string(classes) + "\"/>";
}

void Svg::curve(const std::vector<double>& points, std::string_view classes) {
  std::string list;
  for (std::size_t i = 0; i + 1 < points.size(); i += 2)
    list += (i ? " " : "") + coordinate(points[i]) + "," + coordinate(points[i + 1]);
  body_ += "<polyline points=\"" + list + "\" class=\"" + std::string(classes) + "\"/>";
}

void Svg::corner(double x, double y, double size, std::string_view classes) {
  body_ += "<path d=\"M" + coordinate(x) + " " + coordinate(y) + "h" + coordinate(size) + "l" + coordinate(-size) + " " +
           coordinate(size) + "z\" class=\"" + std::string(classes) + "\"/>";
}

double Svg::paragraph(double x, double y, std::string_view classes, std::string_view text, std::size_t columns) {
  for (const std::string& line : broken(text, columns)) {
    this->text(x, y, classes, line);
    y += 17;
  }
  return y;
}

std::string Svg::take(double height) const {
  const std::string id = id_of(title_, description_ + body_);
  const std::string w = coordinate(width), h = coordinate(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pfx\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " +
         w + " " + h + "\" role=\"img\" aria-labelledby=\"" + id + "-t " + id + "-d\">\n<title id=\"" + id + "-t\">" +
         title_ + "</title>\n<desc id=\"" + id + "-d\">" + description_ + "</desc>\n<style>" + std::string(style) +
         "</style>\n<rect width=\"" + w + "\" height=\"" + h + "\" class=\"back\"/>\n" + body_ + "</svg>\n";
}

}  // namespace patchfold::explaining
