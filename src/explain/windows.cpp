// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include "explain/patches.hpp"

namespace patchfold::explaining {

bool are_equal(const SpatialAxis& a, const SpatialAxis& b) {
  const auto all = [](const SpatialAxis& axis) {
    return std::tuple(axis.extent, axis.kernel, axis.stride, axis.dilation, axis.pad_begin, axis.pad_end);
  };
  return all(a) == all(b);
}

bool is_untouched(const SpatialAxis& axis) {
  return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
}

namespace {

void write_axis(Text& text, std::string head, const SpatialAxis& axis, bool blocks, const std::string& pads) {
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
              " in no " + patch + ": the stride of " + n(axis.stride) + " does not divide " + n(slack));
  if (const std::int64_t gap = axis.stride - effective; gap > 0)
    text.line("    " + counted(gap, "coordinate") + " between " + patches + " " + (gap == 1 ? "is" : "are") +
              " in none: the stride exceeds the effective kernel");
}

}  // namespace

void write_windows(Text& text, const Subject& subject) {
  const Geometry& geometry = subject.geometry();
  if (geometry.axes.empty()) return;
  const std::string image(geometry.extracts() ? subject.op.data_input : "output");
  const bool crops = subject.lowering.names.padding.starts_with("crops");
  const std::string pads = crops ? ", crops " : ", pads ";
  const std::string patch = geometry.is_block ? "block" : "patch";
  text.section("Windows: tap q of the " + patch + " at position b touches coordinate b * stride + q * dilation - pad_begin");
  const SpatialAxis* previous = nullptr;
  Dims kernels, positions;
  for (const SpatialAxis& axis : geometry.axes) {
    if (geometry.is_block && is_untouched(axis)) continue;
    kernels.push_back(axis.kernel);
    positions.push_back(axis.positions);
    const std::string head = "  axis " + std::to_string(axis.image_axis) + " of " + image + ": ";
    if (previous != nullptr && are_equal(*previous, axis))
      text.line(head + "the same");
    else
      write_axis(text, head, axis, geometry.is_block, pads);
    previous = &axis;
  }
  if (kernels.empty()) return text.line("  every " + patch + " is one element");
  text.line("  " + product(kernels, "tap") + " in a " + patch + ", " + product(positions, "position"));
}

}  // namespace patchfold::explaining
