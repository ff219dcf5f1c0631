// SPDX-License-Identifier: Apache-2.0
#include "explain/lines.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/checked.hpp"

namespace patchfold::explaining {

namespace {

/// Returns the place of the last blank in the first `room` columns, outside brackets if possible; `room` if there is no blank.
std::size_t break_of(std::string_view text, std::size_t room) {
  std::size_t inside = room, outside = room;
  int depth = 0;
  for (std::size_t i = text.find_first_not_of(' '); i <= room && i < text.size(); ++i) {
    depth += text[i] == '[' || text[i] == '(';
    depth -= text[i] == ']' || text[i] == ')';
    if (text[i] == ' ') (depth > 0 ? inside : outside) = i;
  }
  return outside != room ? outside : inside;
}

}  // namespace

void Text::line(std::string_view text, std::size_t hang) {
  std::size_t indent = 0;
  while (text.size() > most_columns - indent) {
    const std::size_t cut = break_of(text, most_columns - indent);
    text_.append(indent, ' ').append(text.substr(0, text.find_last_not_of(' ', cut - 1) + 1)).append("\n");
    text.remove_prefix(std::min(text.find_first_not_of(' ', cut), text.size()));
    indent = hang;
  }
  text_.append(text.empty() ? 0 : indent, ' ').append(text).append("\n");
}

void Text::section(std::string_view title) {
  text_ += '\n';
  line(title, 2);
}

void Text::table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string text;
    std::size_t hang = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      hang = text.size() + 2;
      text.append("  ").append(row[i]).append(widths[i] - row[i].size(), ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    line(text, std::min(hang, most_columns / 2));
  }
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string element(std::string_view name, const Dims& index) {
  return std::string(name) + to_string(index);
}

std::string slice_text(std::string_view name, const Dims& index, int rows, int columns) {
  std::string text = std::string(name) + "[";
  for (int axis = 0; axis < index.size(); ++axis)
    text += (axis ? ", " : "") + (axis == rows || axis == columns ? ":" : std::to_string(index[axis]));
  return text + "]";
}

std::string right_aligned(std::string_view cell, std::size_t width) {
  return std::string(width - std::min(width, cell.size()), ' ') + std::string(cell);
}

std::string number(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 4).ptr;
  return {text.data(), end};
}

std::string bytes(std::int64_t count) {
  constexpr std::string_view units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::string text = counted(count, "byte");
  if (count < 10000) return text;
  double value = static_cast<double>(count) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return text + " (" + number(value) + " " + std::string(units[unit]) + ")";
}

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string listed(std::int64_t count, std::int64_t first, std::int64_t step) {
  constexpr std::int64_t most = 6;
  std::string text;
  for (std::int64_t i = 0; i < std::min(count, most); ++i) text += (i ? ", " : "") + std::to_string(first + i * step);
  if (count > most) text += (count > most + 1 ? ", .., " : ", ") + std::to_string(first + (count - 1) * step);
  return text;
}

std::string product(const Dims& factors, std::string_view noun) {
  std::string text;
  Checked result = 1;
  for (const std::int64_t factor : factors) {
    text += (text.empty() ? "" : " * ") + std::to_string(factor);
    result = result * factor;
  }
  if (!result.value()) return text + " " + std::string(noun) + "s";
  return (factors.size() == 1 ? "" : text + " = ") + counted(*result.value(), noun);
}

}  // namespace patchfold::explaining
