// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "explain/elements.hpp"

namespace patchfold::explaining {
namespace {

/// The most indices of an axis that are examined, apart from the last one, and the most lines that show them.
constexpr std::int64_t most_steps = 63;
constexpr std::size_t most_lines = 12;
/// The most terms of a sum that are written out.
constexpr std::size_t most_terms = 10;

/// One line of a walk along an axis: an element, and its partner, the element of the other tensor that belongs to it.
struct Step {
  std::int64_t at = 0;      ///< the index on the axis
  std::int64_t other = -1;  ///< the flat index of the partner; -1: none, the element lies outside the image
  bool padded = false;      ///< the element lies outside the image, and a padding mode reads `other` there
  std::string left{};
  std::string right{};
};

/// Returns whether a step goes on in the same direction as the step before it, so that it need not be shown.
bool goes_on(const std::vector<Step>& steps, std::size_t i, const Dims& shape) {
  if (i < 2 || steps[i].at != steps[i - 1].at + 1 || steps[i].padded != steps[i - 1].padded) return false;
  const auto inside = [&](std::size_t j) { return steps[j].other >= 0; };
  if (!inside(i) || !inside(i - 1) || !inside(i - 2)) return !inside(i) && !inside(i - 1);
  const Dims a = index_at(steps[i - 2].other, shape), b = index_at(steps[i - 1].other, shape),
             c = index_at(steps[i].other, shape);
  for (int axis = 0; axis < shape.size(); ++axis)
    if (b[axis] - a[axis] != c[axis] - b[axis]) return false;
  return true;
}

/// Writes the steps at which the partner changes direction, and ".. and so on" in place of the steps between them.
void write_steps(Text& text, const std::vector<Step>& steps, const Dims& shape) {
  std::size_t width = 0;
  for (const Step& step : steps) width = std::max(width, step.left.size());
  const auto write = [&](const Step& step) {
    text.line("    " + step.left + std::string(width - step.left.size(), ' ') + step.right, 8);
  };
  std::size_t lines = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::size_t end = i;  // steps i to end, both included, go on in one direction
    while (end + 1 < steps.size() && goes_on(steps, end, shape) && goes_on(steps, end + 1, shape)) ++end;
    if (lines >= most_lines && i + 2 < steps.size()) {
      text.line("    ..");
      return write(steps.back());
    }
    if (end > i + 1) {
      text.line("    .. and so on");
      ++lines;
      i = end;
    } else if (i > 0 && steps[i].at != steps[i - 1].at + 1) {
      text.line("    ..");
    }
    write(steps[i]);
    ++lines;
  }
}

/// Returns the indices of the elements along one axis of a tensor; on all other axes they are `index`.
std::vector<Dims> indices_along(const Dims& shape, int axis, Dims index) {
  std::vector<Dims> indices;
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    if (i == most_steps) i = shape[axis] - 1;
    index[axis] = i;
    indices.push_back(index);
  }
  return indices;
}

/// Calls f(axis, indices), under a headline, for every axis of more than one element. The lines of all axes cross at `middle`.
template <class F>
void for_each_axis(Text& text, std::string_view name, const Dims& shape, std::int64_t middle, F&& f) {
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 2) continue;
    text.line("  along axis " + std::to_string(axis) + " of " + std::string(name) + ", " + counted(shape[axis], "element") +
              ":");
    f(axis, indices_along(shape, axis, index_at(middle, shape)));
  }
}

bool is_padded(const Findings& findings, std::int64_t flat) {
  return !findings.padded.empty() && findings.padded[static_cast<std::size_t>(flat)];
}

std::string source_text(const Subject& subject, const Findings& findings, std::int64_t flat) {
  const std::int64_t from = findings.from[static_cast<std::size_t>(flat)];
  if (from < 0) return " <- outside: " + to_string(subject.geometry().value);
  std::string text = " <- " + element(subject.op.data_input, index_at(from, subject.input()));
  if (is_padded(findings, flat)) text += "  (outside: " + std::string(word_of(subject.geometry().padding_mode)) + ")";
  return text;
}

using Marks = std::vector<std::pair<std::string, std::int64_t>>;

void add_mark(Marks& marks, std::string label, std::int64_t flat) {
  if (std::ranges::find(marks, flat, [](const auto& mark) { return mark.second; }) == marks.end())
    marks.emplace_back(std::move(label), flat);
}

/// Returns the flat index of a tensor's middle element.
std::int64_t middle_element(const Dims& shape) {
  Dims middle;
  for (const std::int64_t extent : shape) middle.push_back(extent / 2);
  return number_at(middle, shape);
}

void write_moves(Text& text, const Subject& subject, const Findings& findings) {
  text.section("Order: where each element of output comes from");
  // Shows an element that reads the middle of the input, and not through padding.
  std::int64_t middle = middle_element(subject.output());
  if (element_count(subject.input()) > 0) {
    const std::int64_t of_input = middle_element(subject.input());
    for (std::int64_t i = 0; i < std::ssize(findings.from); ++i)
      if (findings.from[static_cast<std::size_t>(i)] == of_input && !is_padded(findings, i)) {
        middle = i;
        break;
      }
  }
  Marks marks = {{"first", 0}};
  add_mark(marks, "middle", middle);
  add_mark(marks, "last", std::ssize(findings.from) - 1);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [label, flat] : marks)
    rows.push_back({label, element("output", index_at(flat, subject.output())) + source_text(subject, findings, flat)});
  text.table(rows);
  for_each_axis(text, "output", subject.output(), middle, [&](int axis, const std::vector<Dims>& indices) {
    std::vector<Step> steps;
    for (const Dims& index : indices) {
      const std::int64_t flat = number_at(index, subject.output());
      steps.push_back({index[axis], findings.from[static_cast<std::size_t>(flat)], is_padded(findings, flat),
                       element("output", index), source_text(subject, findings, flat)});
    }
    write_steps(text, steps, subject.input());
  });
}

/// For some elements of the output, the columns' elements that are added up there, in ascending order of the tap.
class Terms {
 public:
  Terms(const Geometry& geometry, const Marks& marks) : columns_(geometry.columns()) {
    for (const auto& mark : marks) found_[mark.second];
    walk(geometry, [&](const Pair& pair) {
      const auto terms = found_.find(pair.image);
      if (terms != found_.end() && terms->second.size() < most_terms) terms->second.push_back(pair.column);
    });
  }

  /// Returns the terms of an output element as text; `none` if it has no terms.
  std::string text(std::int64_t element_of_output, std::int64_t count, std::string_view data, std::string none) const {
    std::string text;
    for (const std::int64_t column : found_.at(element_of_output))
      text += (text.empty() ? "" : " + ") + element(data, index_at(column, columns_));
    if (count > static_cast<std::int64_t>(most_terms)) text += " + .. (" + std::to_string(count) + " in all)";
    return text.empty() ? none : text;
  }

 private:
  Dims columns_;
  std::map<std::int64_t, std::vector<std::int64_t>> found_{};
};

void write_sums(Text& text, const Subject& subject, const Findings& findings) {
  const std::string data(subject.op.data_input);
  const auto& counts = findings.counts;
  const Geometry& geometry = subject.geometry();
  text.section("Order: which elements of " + data + (geometry.means ? " are averaged" : " are added") +
               ", in ascending order of the tap");
  const std::string held = geometry.accumulate ? "what it holds + " : "";
  const std::string none = geometry.means ? to_string(geometry.value) + ", the fill" : "+0";
  const std::int64_t middle = middle_element(subject.output());
  Marks marks = {{"first", 0}};
  add_mark(marks, "middle", middle);
  add_mark(marks, "last", std::ssize(counts) - 1);
  add_mark(marks, "most", std::ranges::max_element(counts) - counts.begin());
  if (const auto hole = std::ranges::find(counts, 0); hole != counts.end()) add_mark(marks, "hole", hole - counts.begin());
  const Terms terms(subject.geometry(), marks);
  std::vector<std::vector<std::string>> rows;
  for (const auto& [label, flat] : marks) {
    const std::int64_t count = counts[static_cast<std::size_t>(flat)];
    std::string sum = terms.text(flat, count, data, none);
    if (geometry.means && count > 1) sum = "(" + sum + ") / " + std::to_string(count);
    rows.push_back({label, element("output", index_at(flat, subject.output())) + " = " + held + sum});
  }
  text.table(rows);
  if (element_count(subject.input()) == 0) return;

  text.section("Order: where each element of " + data + " goes");
  const auto to_middle = std::ranges::find(findings.to, middle);
  const std::int64_t start =
      to_middle == findings.to.end() ? middle_element(subject.input()) : to_middle - findings.to.begin();
  for_each_axis(text, data, subject.input(), start, [&](int axis, const std::vector<Dims>& indices) {
    std::vector<Step> steps;
    for (const Dims& index : indices) {
      const std::int64_t to = findings.to[static_cast<std::size_t>(number_at(index, subject.input()))];
      steps.push_back({index[axis], to, false, element(data, index),
                       to < 0 ? " -> outside: left out" : " -> " + element("output", index_at(to, subject.output()))});
    }
    write_steps(text, steps, subject.output());
  });
}

}  // namespace

void write_order(Text& text, const Subject& subject, const Findings& findings) {
  if (!subject.has_input()) return;
  if (subject.geometry().sums)
    write_sums(text, subject, findings);
  else
    write_moves(text, subject, findings);
}

}  // namespace patchfold::explaining
