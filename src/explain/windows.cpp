// SPDX-License-Identifier: Apache-2.0
#include "explain/windows.hpp"

#include <algorithm>
#include <initializer_list>
#include <tuple>

#include "dialects/text.hpp"
#include "engine/window.hpp"
#include "tensor/checked.hpp"

namespace patchfold::explaining {
namespace {

using Names = std::initializer_list<std::string_view>;

/// The first of these arguments that is in force.
std::optional<Argument> first_of(const Subject& subject, Names names) {
  for (const std::string_view name : names)
    if (const auto value = value_in_force(subject, name)) return Argument{std::string(name), *value};
  return std::nullopt;
}

std::optional<Dims> list_of(const ArgumentValue& value) {
  if (const auto* list = std::get_if<Dims>(&value)) return *list;
  if (const auto* tensor = std::get_if<IndexTensor>(&value)) return tensor->values;
  return std::nullopt;
}

/// A number or a list; 1 if the argument is left out.
Axes axes_of(const std::optional<Argument>& argument) {
  if (!argument) return 1;
  if (const auto* number = std::get_if<std::int64_t>(&argument->value)) return *number;
  return Axes(list_of(argument->value).value_or(Dims{}));
}

PadsList pairs_from(const Dims& numbers, int begin_step, int end_offset) {
  PadsList pads;
  for (int i = 0; i < numbers.size() / 2; ++i)
    pads.push_back({numbers[i * begin_step], numbers[i * begin_step + end_offset]});
  return pads;
}

/// Pads in all their forms: two lists, a rule, a number, pairs, begins and ends in one list, one number for both ends.
Padding padding_of(const Subject& subject) {
  const auto begins = first_of(subject, {"pads_begin", "crops_begin"});
  const auto ends = first_of(subject, {"pads_end", "crops_end"});
  if (begins && ends) {
    const Dims first = list_of(begins->value).value_or(Dims{}), last = list_of(ends->value).value_or(Dims{});
    PadsList pads;
    for (int i = 0; i < std::min(first.size(), last.size()); ++i) pads.push_back({first[i], last[i]});
    return pads;
  }
  const auto given = first_of(subject, {"padding", "auto_pad", "pads", "paddings", "crops"});
  if (!given) return {};
  if (const auto* number = std::get_if<std::int64_t>(&given->value)) return *number;
  if (const auto* pairs = std::get_if<PadsList>(&given->value)) return *pairs;
  if (const auto* word = std::get_if<std::string>(&given->value)) {
    std::string lower = *word;
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return dialects::padding_rule(lower).value_or(Padding::valid);
  }
  const Dims list = list_of(given->value).value_or(Dims{});
  const auto spec = std::ranges::find(subject.op.arguments, given->name, &ArgumentSpec::name);
  if (spec->kind == ArgumentKind::pairs) return pairs_from(list, 2, 1);
  if (given->name == "pads") return pairs_from(list, 1, list.size() / 2);
  PadsList pads;
  for (const std::int64_t both : list) pads.push_back({both, both});
  return pads;
}

/// The arguments that windows are made of.
struct Parameters {
  Axes kernel{};
  Axes stride{};
  Axes dilation{};
  Padding padding{};
  int rank = -1;  ///< length of the lists; -1: there are none
  bool blocks = false;
};

std::optional<Parameters> parameters_of(const Subject& subject) {
  Parameters found;
  const auto has = [&](std::string_view name) {
    return std::ranges::find(subject.op.arguments, name, &ArgumentSpec::name) != subject.op.arguments.end();
  };
  found.blocks = !has("stride") && !has("strides");
  const auto kernel =
      found.blocks
          ? first_of(subject, {"block", "block_shape", "block_size", "blocksize", "upscale_factor", "downscale_factor"})
          : first_of(subject, {"kernel_size", "sizes", "ksizes", "block_shape"});
  if (!kernel) return std::nullopt;
  found.kernel = axes_of(kernel);
  found.stride = found.blocks ? found.kernel : axes_of(first_of(subject, {"stride", "strides"}));
  found.dilation = axes_of(first_of(subject, {"dilation", "dilations", "rates"}));
  found.padding = padding_of(subject);
  for (const Axes& axes : {found.kernel, found.stride, found.dilation, axes_of(first_of(subject, {"output_size"}))})
    if (!axes.is_scalar()) found.rank = std::max(found.rank, axes.values().size());
  if (found.padding.rule() == Padding::Rule::given && !found.padding.is_scalar())
    found.rank = std::max(found.rank, found.padding.pads().size());
  return found;
}

bool fits(const Axes& axes, int rank) {
  return axes.is_scalar() || axes.values().size() == rank;
}

bool channels_come_last(const Subject& subject) {
  const auto layout = first_of(subject, {"layout", "data_format"});
  const auto* word = layout ? std::get_if<std::string>(&layout->value) : nullptr;
  if (word == nullptr) return subject.op.name.starts_with("tensorflow.");
  return *word == "channels_last" || *word == "NHWC";
}

/// Number of elements of a tensor along the axes outside [first, last).
Checked others(const Dims& shape, int first, int last) {
  Checked count = 1;
  for (int axis = 0; axis < shape.size(); ++axis)
    if (axis < first || axis >= last) count = count * shape[axis];
  return count;
}

bool same(const ops::AxisGeometry& a, const ops::AxisGeometry& b) {
  const auto all = [](const ops::AxisGeometry& axis) {
    return std::tuple(axis.extent, axis.kernel, axis.stride, axis.dilation, axis.pad_begin, axis.pad_end);
  };
  return all(a) == all(b);
}

/// The windows on the axes of one of the two tensors, if the other one then has the shape that it has. A geometry that
/// cannot be is none.
std::optional<Windows> try_windows(const Subject& subject, const Parameters& given, bool image_is_input, int first,
                                   int rank) try {
  const Dims& image = image_is_input ? subject.input : subject.output;
  const Dims& columns = image_is_input ? subject.output : subject.input;
  const Padding& padding = given.padding;
  const bool list = padding.rule() == Padding::Rule::given && !padding.is_scalar();
  if (rank < 1 || first < 0 || first + rank > image.size() || !fits(given.kernel, rank) || !fits(given.stride, rank) ||
      !fits(given.dilation, rank) || (list && padding.pads().size() != rank))
    return std::nullopt;
  Windows windows{ops::make_geometry({.op = subject.op.name}, image.slice(first, first + rank), given.kernel, given.stride,
                                     given.dilation, padding),
                  first, image_is_input, given.blocks};
  const ops::Geometry& geometry = windows.geometry;
  if (given.blocks) {
    if (columns.size() != image.size()) return std::nullopt;
    for (int i = 0; i < rank; ++i)
      if (geometry.axes[i].kernel > 1 && columns[first + i] != geometry.axes[i].positions) return std::nullopt;
  }
  const Checked expected = others(image, first, first + rank) * Checked(geometry.taps) * Checked(geometry.positions);
  if (subject.has_input() && expected.value() != element_count(columns)) return std::nullopt;
  return windows;
} catch (const Error&) {
  return std::nullopt;
}

void write_axis(Text& text, std::string head, const ops::AxisGeometry& axis, bool blocks, const std::string& pads) {
  const auto n = [](std::int64_t value) { return std::to_string(value); };
  const std::string patch = blocks ? "block" : "patch";
  const std::string patches = blocks ? "blocks" : "patches";
  head += "extent " + n(axis.extent) + (blocks ? ", block " : ", kernel ") + n(axis.kernel);
  if (!blocks) head += ", stride " + n(axis.stride) + ", dilation " + n(axis.dilation);
  text.line(head + pads + n(axis.pad_begin) + " and " + n(axis.pad_end));

  const std::int64_t effective = (axis.kernel - 1) * axis.dilation + 1;
  const std::int64_t slack = axis.extent + axis.pad_begin + axis.pad_end - effective;
  if (axis.dilation != 1)
    text.line("    effective kernel = (" + n(axis.kernel) + " - 1) * " + n(axis.dilation) + " + 1 = " + n(effective));
  const std::string sum = n(axis.extent) + " + " + n(axis.pad_begin) + " + " + n(axis.pad_end) + " - " + n(effective);
  if (slack < 0) return text.line("    slack = " + sum + " = " + n(slack) + " is below 0: no position");

  text.line("    positions = floor((" + sum + ") / " + n(axis.stride) + ") + 1 = floor(" + n(slack) + " / " +
            n(axis.stride) + ") + 1 = " + n(axis.positions));
  const std::int64_t last_end = (axis.positions - 1) * axis.stride - axis.pad_begin + effective - 1;
  text.line("    " + patches + " start at " + listed(axis.positions, -axis.pad_begin, axis.stride) +
            (axis.positions > 1 ? "; the last one ends at " : "; it ends at ") + n(last_end));
  if (const std::int64_t rest = slack % axis.stride; rest > 0)
    text.line("    " + counted(rest, "coordinate") + " at the end of the padded image " + (rest == 1 ? "is" : "are") +
              " in no " + patch + ": " + n(slack) + " is no multiple of " + n(axis.stride));
  if (const std::int64_t gap = axis.stride - effective; gap > 0)
    text.line("    " + counted(gap, "coordinate") + " between " + patches + " " + (gap == 1 ? "is" : "are") +
              " in none: the stride exceeds the effective kernel");
}

}  // namespace

std::optional<Windows> windows_of(const Subject& subject) {
  const auto given = parameters_of(subject);
  if (!given) return std::nullopt;
  for (const bool image_is_input : {true, false}) {
    if (!given->blocks && image_is_input == (subject.op.sums || !subject.has_input())) continue;
    const int axes = (image_is_input ? subject.input : subject.output).size();
    const bool torch = subject.op.name.starts_with("torch.");
    const int rank = given->rank >= 0 ? given->rank : torch ? 2 : axes - 2;
    std::vector<int> first_axes = {axes - rank};
    if (rank == axes)
      first_axes = {0};
    else if (channels_come_last(subject))
      first_axes = {axes - 1 - rank, 1};
    for (const int first : first_axes)
      if (auto windows = try_windows(subject, *given, image_is_input, first, rank)) return windows;
  }
  return std::nullopt;
}

bool bear_out(const Windows& windows, const Dims& image, const std::vector<std::int64_t>& counts) {
  const ops::Geometry& geometry = windows.geometry;
  std::vector<std::vector<std::int64_t>> per_axis;
  for (const ops::AxisGeometry& axis : geometry.axes) {
    const engine::TapSolver solver(ops::window_of(axis));
    auto& taps = per_axis.emplace_back();
    for (std::int64_t c = 0; c < axis.extent; ++c) taps.push_back(solver.at(c).count);
  }
  Dims index = Dims::filled(image.size(), 0);
  return std::ranges::all_of(counts, [&](std::int64_t count) {
    std::int64_t expected = 1;
    for (int i = 0; i < geometry.rank(); ++i)
      expected *= per_axis[static_cast<std::size_t>(i)][static_cast<std::size_t>(index[windows.first_axis + i])];
    advance(index, image);
    return count == expected;
  });
}

bool is_doubtful(const Subject& subject, const Windows& windows) {
  const Padding::Rule rule = padding_of(subject).rule();
  if (rule == Padding::Rule::given || rule == Padding::Rule::valid) return false;
  return std::ranges::any_of(windows.geometry.axes, [](const ops::AxisGeometry& axis) {
    return axis.stride > (axis.kernel - 1) * axis.dilation + 1;
  });
}

void write_windows(Text& text, const Subject& subject, const Windows& windows, bool sure) {
  if (!sure) return text.section("Windows: not shown; the operator has a rule of its own where patches do not touch");
  const Dims& shape = windows.image_is_input ? subject.input : subject.output;
  const std::string image(windows.image_is_input ? subject.op.data_input : "output");
  const std::string pads = first_of(subject, {"crops", "crops_begin"}) ? ", crops " : ", pads ";
  const std::string patch = windows.blocks ? "block" : "patch";
  text.section("Windows: tap q of the " + patch + " at position b touches coordinate b * stride + q * dilation - pad_begin");
  const ops::Geometry& geometry = windows.geometry;
  const ops::AxisGeometry* previous = nullptr;
  Dims kernels, positions;
  for (int i = 0; i < geometry.rank(); ++i) {
    const ops::AxisGeometry& axis = geometry.axes[i];
    // Lists with an entry for every axis hold ones for the batch and the channels.
    if (geometry.rank() == shape.size() && axis.kernel == 1 && axis.stride == 1 && axis.positions == axis.extent) continue;
    kernels.push_back(axis.kernel);
    positions.push_back(axis.positions);
    const std::string head = "  axis " + std::to_string(windows.first_axis + i) + " of " + image + ": ";
    if (previous != nullptr && same(*previous, axis))
      text.line(head + "the same");
    else
      write_axis(text, head, axis, windows.blocks, pads);
    previous = &axis;
  }
  if (kernels.empty()) return text.line("  every " + patch + " is one element");
  text.line("  " + product(kernels, "tap") + " in a " + patch + ", " + product(positions, "position"));
}

}  // namespace patchfold::explaining
