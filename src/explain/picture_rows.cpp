// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "explain/elements.hpp"
#include "explain/patches.hpp"
#include "explain/picture.hpp"
#include "patchfold/explain.hpp"

namespace patchfold::explaining {
namespace {

constexpr double strip_cell = 32, strip_height = 25;
/// The most elements of a matrix in a picture.
constexpr std::int64_t most_matrix_elements = 256;
constexpr std::int64_t most_matrix_rows = 40;

/// Returns the channel of an element of the image, given as a flat index; 0 without an axis of channels.
std::int64_t channel_of(const Subject& subject, const PatchVector& vector, std::int64_t image_element) {
  const Dims& image = subject.geometry().image();
  return vector.image_axis < 0 ? 0 : index_at(image_element, image)[vector.image_axis];
}

}  // namespace

double draw_vector(Svg& svg, double y, const Subject& subject) {
  constexpr std::size_t most = 18;
  const PatchVector vector = patch_vector(subject, most);
  if (vector.orders.empty()) return y;
  const Geometry& geometry = subject.geometry();
  const std::string whose = geometry.is_block ? "block" : "patch";
  const bool is_batch = subject.op.neutral.starts_with("space_to_batch") || subject.op.neutral.starts_with("batch_to_space");
  const std::string channel = is_batch ? "image of the batch" : "channel";
  const std::string columns(geometry.extracts() ? "output" : subject.op.data_input);
  y += part_gap;
  svg.text(Svg::margin, y, "head", "Order inside a " + whose);
  const auto shown = static_cast<std::int64_t>(vector.orders.front().first.size());
  y = svg.paragraph(
      Svg::margin, y + 17, "soft small",
      "Each cell is " + channel + ".tap (c.t), one colour for each " + channel + "; t' counts taps down the columns. Rows lie along axis " +
          std::to_string(vector.columns_axis) + " of " + columns + ". " +
          (shown < vector.elements()
               ? "The first " + std::to_string(shown) + " of " + counted(vector.elements(), "row") + " are shown."
               : "All " + counted(vector.elements(), "row") + " are shown."),
      140);
  y += 4;
  constexpr double left = Svg::margin + 236;
  for (const PatchOrder& order : vector.orders) {
    svg.text(Svg::margin, y + 11, "ink", order.system);
    svg.text(Svg::margin, y + 25, "soft mono small", order.rule);
    for (std::size_t i = 0; i < order.first.size(); ++i) {
      const double x = left + static_cast<double>(i) * strip_cell;
      svg.rect(x, y, strip_cell, strip_height, channel_class(order.first[i].channel));
      const std::string text = to_string(order.first[i]);
      svg.text(x + strip_cell / 2, y + 16.5, text.size() > 5 ? "ink mono tiny mid" : "ink mono small mid", text);
    }
    const double end = left + static_cast<double>(order.first.size()) * strip_cell;
    if (shown < vector.elements()) svg.text(end + 6, y + 16, "soft", "..");
    if (order.ours) {
      svg.rect(left - 3, y - 3, end - left + 6, strip_height + 6, "ours", 4);
      svg.text(end + (shown < vector.elements() ? 26 : 10), y + 17, "ink small", "this one");
    }
    y += 42;
  }
  return y;
}

double draw_matrix(Svg& svg, double y, const Subject& subject) {
  const Geometry& geometry = subject.geometry();
  if (!geometry.has_data) return y;
  const Dims& shape = geometry.columns();
  const std::int64_t elements = element_count(shape);
  if (shape.empty() || elements == 0) return y;
  const std::string name(geometry.extracts() ? "output" : subject.op.data_input);
  const std::int64_t across = shape.back(), rows = elements / across;
  const std::size_t digits = std::to_string(std::max<std::int64_t>(1, element_count(geometry.image()) - 1)).size();
  const double cell = std::max(24.0, 7.0 * static_cast<double>(digits) + 8);
  y += part_gap;
  svg.text(Svg::margin, y, "head", geometry.extracts() ? "The columns" : "Where each element goes");
  if (elements > most_matrix_elements || element_count(geometry.image()) > explain_limit || rows > most_matrix_rows ||
      cell * static_cast<double>(across) > Svg::width - 2 * Svg::margin - 80)
    return svg.paragraph(Svg::margin, y + 18, "soft small",
                         name + " has " + counted(elements, "element") + " in rows of " + std::to_string(across) +
                             ": too many for a picture. A smaller shape shows each one.",
                         140);
  const Findings findings = find(subject);
  const std::vector<std::int64_t> from = [&] {
    if (geometry.sums) return findings.to;
    if (geometry.extracts()) return findings.from;
    // If the operator combines, finds for each input element the output element that takes it.
    std::vector<std::int64_t> to(static_cast<std::size_t>(elements), -1);
    for (std::size_t i = 0; i < findings.from.size(); ++i)
      if (findings.from[i] >= 0) to[static_cast<std::size_t>(findings.from[i])] = static_cast<std::int64_t>(i);
    return to;
  }();
  const PatchVector vector = patch_vector(subject, 0);
  const std::string image(geometry.extracts() ? subject.op.data_input : "output");
  y = svg.paragraph(
      Svg::margin, y + 17, "soft small",
      (geometry.extracts() ? "What " + name + " holds if the elements of " + image + " are 0, 1, 2, .. row by row. "
                           : "To which element of output, counted row by row, each one of " + name + " goes. ") +
          std::string(vector.channels > 1 ? "One colour for each channel. " : "") +
          (std::ranges::find(from, -1) == from.end() ? "All lie inside."
           : geometry.extracts()                     ? "Dashed: padding, " + to_string(geometry.value) + "."
                                                     : std::string("Dashed: outside, left out.")),
      140);
  const std::int64_t down = shape.size() > 1 ? shape[shape.size() - 2] : 1;
  const bool taps_down = !vector.orders.empty() && shape.size() > 1 && vector.columns_axis == shape.size() - 2;
  // Draws slices of the last two axes side by side, as many as fit.
  const double label = taps_down ? 56 : 0;
  const double slice_width = label + cell * static_cast<double>(across) + 24;
  const double slice_height = 22 * static_cast<double>(down) + 34;
  const auto in_line =
      std::max<std::int64_t>(1, static_cast<std::int64_t>((Svg::width - 2 * Svg::margin) / std::max(slice_width, 118.0)));
  const double step = std::max(slice_width, 118.0);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t slice = row / down;
    const double left = Svg::margin + static_cast<double>(slice % in_line) * step;
    const double top = y + static_cast<double>(slice / in_line) * slice_height;
    if (row % down == 0)
      svg.text(left, top + 8, "soft mono small",
               slice_text(name, index_at(row * across, shape), shape.size() - 2, shape.size() - 1));
    const double row_y = top + 16 + 22 * static_cast<double>(row % down);
    if (taps_down) svg.text(left + label - 6, row_y + 15, "soft mono tiny end", "row " + std::to_string(row % down));
    for (std::int64_t column = 0; column < across; ++column) {
      const std::int64_t element = from[static_cast<std::size_t>(row * across + column)];
      const double x = left + label + static_cast<double>(column) * cell;
      svg.rect(x, row_y, cell, 22, element < 0 ? "pad" : channel_class(channel_of(subject, vector, element)));
      const std::string outside = geometry.extracts() ? to_string(geometry.value) : "x";
      svg.text(x + cell / 2, row_y + 15, "mono small mid ink",
               element >= 0                  ? std::to_string(element)
               : outside.size() > digits + 1 ? "."
                                             : outside);
    }
  }
  y += static_cast<double>((rows / down + in_line - 1) / in_line) * slice_height;
  return y;
}

}  // namespace patchfold::explaining
