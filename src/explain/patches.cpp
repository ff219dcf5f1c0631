// SPDX-License-Identifier: Apache-2.0
#include "explain/patches.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "engine/padding.hpp"
#include "engine/window.hpp"
#include "ops/lowering.hpp"

namespace patchfold::explaining {
namespace {

/// The width of a line of coordinates in characters; the most patches that are shown along an axis.
constexpr std::int64_t coordinate_columns = 84;
constexpr std::int64_t most_patches = 7;
/// The most coordinates that are visited to count the uses of an element through padding.
constexpr std::int64_t most_counted = std::int64_t{1} << 16;

/// Returns the legend: the meanings of the marks that occur.
std::string legend_of(const Geometry& geometry, const std::vector<const SpatialAxis*>& axes) {
  bool padding = false, cut = false;
  for (const SpatialAxis* axis : axes)
    for (const std::int64_t at : shown_coordinates(*axis, 24)) {
      if (at == left_out) continue;
      padding |= ground_at(geometry, *axis, at) == Ground::padding;
      cut |= ground_at(geometry, *axis, at) == Ground::cut;
    }
  return std::string("# is a tap, o the image") + (padding ? ", _ padding" : "") + (cut ? ", x cut away" : "");
}

void write_axis_patches(Text& text, const Geometry& geometry, const SpatialAxis& axis) {
  const std::size_t digits = std::max(std::to_string(-axis.pad_begin).size(),
                                      std::to_string(axis.extent + std::max<std::int64_t>(axis.pad_end, 0)).size());
  const std::size_t width = std::max<std::size_t>(digits + 1, 3);
  const auto at = shown_coordinates(axis, coordinate_columns / static_cast<std::int64_t>(width) - 1);
  const std::string patch = geometry.is_block ? "block" : "patch";
  const std::size_t head = patch.size() + 2 + std::to_string(std::max<std::int64_t>(axis.positions - 1, 0)).size();
  const auto line = [&](std::string name, auto&& cell) {
    name.resize(std::max<std::size_t>(head, 12), ' ');
    std::string row = "    " + name;
    for (const std::int64_t c : at) row += right_aligned(c == left_out ? ".." : cell(c), width);
    row.erase(row.find_last_not_of(' ') + 1);
    text.line(row);
  };
  line("coordinate", [](std::int64_t c) { return std::to_string(c); });
  line("image", [&](std::int64_t c) -> std::string {
    const Ground ground = ground_at(geometry, axis, c);
    return ground == Ground::image ? "o" : ground == Ground::padding ? "_" : "x";
  });
  for (const std::int64_t position : shown_between(0, axis.positions, most_patches))
    if (position == left_out)
      text.line("    ..");
    else
      line(patch + " " + std::to_string(position),
           [&](std::int64_t c) -> std::string { return tap_at(axis, position, c) >= 0 ? "#" : ""; });
}

}  // namespace

std::vector<std::int64_t> shown_between(std::int64_t begin, std::int64_t end, std::int64_t most) {
  std::vector<std::int64_t> indices;
  const std::int64_t count = end - begin;
  most = std::max<std::int64_t>(most, 3);
  for (std::int64_t i = 0; i < count; ++i) {
    if (count > most && i == (most + 1) / 2) {
      indices.push_back(left_out);
      i = count - most / 2;
    }
    indices.push_back(begin + i);
  }
  return indices;
}

std::vector<std::int64_t> shown_coordinates(const SpatialAxis& axis, std::int64_t most) {
  return shown_between(std::min<std::int64_t>(0, -axis.pad_begin), axis.extent + std::max<std::int64_t>(0, axis.pad_end),
                       most);
}

Ground ground_at(const Geometry& geometry, const SpatialAxis& axis, std::int64_t coordinate) {
  const bool inside = coordinate >= 0 && coordinate < axis.extent;
  if (!geometry.extracts()) return inside ? Ground::image : Ground::cut;
  if (!inside) return Ground::padding;
  return coordinate < -axis.pad_begin || coordinate >= axis.extent + axis.pad_end ? Ground::cut : Ground::image;
}

std::int64_t tap_at(const SpatialAxis& axis, std::int64_t position, std::int64_t coordinate) {
  const std::int64_t distance = coordinate + axis.pad_begin - position * axis.stride;
  if (axis.dilation == 0) return distance == 0 && axis.kernel > 0 ? 0 : -1;
  if (distance < 0 || distance % axis.dilation != 0) return -1;
  const std::int64_t tap = distance / axis.dilation;
  return tap < axis.kernel ? tap : -1;
}

std::int64_t uses_at(const Geometry& geometry, const SpatialAxis& axis, std::int64_t coordinate) {
  const engine::Window window = ops::window_of(axis, geometry.padding_mode);
  const engine::TapSolver solver(window);
  if (geometry.padding_mode == PaddingMode::constant || !geometry.extracts()) return solver.at(coordinate).count;
  // A coordinate in the padding reads an element of the image too, so its uses count for this element.
  const std::int64_t begin = -axis.pad_begin, end = axis.extent + axis.pad_end;
  if (end - begin > most_counted) return -1;
  std::int64_t count = 0;
  for (std::int64_t c = begin; c < end; ++c) {
    const engine::Run run = engine::run_at(window, c);
    if (!run.outside && engine::source_at(run, c) == coordinate) count += solver.at(c).count;
  }
  return count;
}

std::vector<const SpatialAxis*> cut_axes(const Geometry& geometry) {
  std::vector<const SpatialAxis*> axes;
  for (const SpatialAxis& axis : geometry.axes)
    if (!is_untouched(axis)) axes.push_back(&axis);
  return axes;
}

void write_patches(Text& text, const Subject& subject) {
  const Geometry& geometry = subject.geometry();
  const std::vector<const SpatialAxis*> axes = cut_axes(geometry);
  if (axes.empty() || geometry.positions == 0) return;
  const std::string image(geometry.extracts() ? subject.op.data_input : "output");
  text.section((geometry.is_block ? "Blocks over the image: " : "Patches over the padded image: ") +
               legend_of(geometry, axes));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const SpatialAxis& axis = *axes[i];
    const std::string head = "  axis " + std::to_string(axis.image_axis) + " of " + image;
    if (i > 0 && are_equal(*axes[i - 1], axis)) {
      text.line(head + ": the same");
      continue;
    }
    text.line(head);
    write_axis_patches(text, geometry, axis);
  }
  if (axes.size() > 1)
    text.line("  a " + std::string(geometry.is_block ? "block" : "patch") +
              " has one start along each axis; from one to the next the last axis moves first");
}

void write_vector(Text& text, const Subject& subject) {
  constexpr std::size_t most = 12, most_characters = 46;
  const PatchVector vector = patch_vector(subject, most);
  if (vector.orders.empty()) return;
  // Shows only as many elements as fit into one line in every system.
  std::size_t shown = most;
  for (const PatchOrder& order : vector.orders) {
    std::size_t count = 0;
    for (std::size_t used = 0; count < order.first.size() && used + to_string(order.first[count]).size() < most_characters;
         ++count)
      used += to_string(order.first[count]).size() + 1;
    shown = std::min(shown, count);
  }
  const std::string columns(subject.geometry().extracts() ? "output" : subject.op.data_input);
  const std::string image(subject.geometry().extracts() ? subject.op.data_input : "output");
  const std::string whose = std::string(subject.geometry().is_block ? "block" : "patch");
  text.section("Order inside a " + whose + ", along axis " + std::to_string(vector.columns_axis) + " of " + columns + ": " +
               (vector.image_axis < 0 ? "there is one channel, c = 0"
                                      : "c is the index on axis " + std::to_string(vector.image_axis) + " of " + image) +
               ", t the tap, numbered row by row, t' down the columns");
  std::vector<std::vector<std::string>> rows = {{"", "system", "row", "c.t of the first rows"}};
  for (const PatchOrder& order : vector.orders) {
    std::string elements;
    for (std::size_t i = 0; i < shown; ++i) elements += (i > 0 ? " " : "") + to_string(order.first[i]);
    if (vector.elements() > static_cast<std::int64_t>(shown)) elements += " ..";
    rows.push_back({order.ours ? "*" : "", std::string(order.system), order.rule, elements});
  }
  text.table(rows);
  text.line("  * the order of " + std::string(subject.op.name) + "; each " + whose + " has " +
            product(vector.channels == 1 ? Dims{vector.taps} : Dims{vector.channels, vector.taps}, "row"));
}

std::vector<std::string> traffic_lines(const Subject& subject) {
  const auto size = static_cast<std::int64_t>(subject.element_size);
  const std::int64_t in = subject.has_input() ? element_count(subject.input()) * size : 0;
  const std::int64_t out = element_count(subject.output()) * size;
  const double all = static_cast<double>(in) + static_cast<double>(out);
  // The bytes per second of an imaginary machine: a round number, from which readers can scale to their own.
  constexpr double rate = 10e9;
  const double seconds = all / rate;
  const auto [time, unit] = seconds < 1e-3 ? std::pair(seconds * 1e6, "microseconds")
                            : seconds < 1  ? std::pair(seconds * 1e3, "milliseconds")
                                           : std::pair(seconds, "seconds");
  return {"reads " + bytes(in) + " and writes " + bytes(out) + ", each once",
          "the roof, the time in which memory moves them: " + number(time) + " " + unit + " at 10 GB/s",
          "patchfold bench \"PROBLEM\" measures roof and operator on this machine"};
}

}  // namespace patchfold::explaining
