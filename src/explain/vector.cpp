// SPDX-License-Identifier: Apache-2.0
#include "explain/vector.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked.hpp"
#include "explain/lines.hpp"

namespace patchfold::explaining {
namespace {

/// One number in the product that is the extent of an axis of the columns, such as the number of taps.
struct Factor {
  std::int64_t extent;
  std::int64_t step;
  std::string name;
};

/// Returns the factors of an axis of the columns, the slowest (with the largest step) first.
std::vector<Factor> factors_of(const Geometry& geometry, std::string_view image, int columns_axis) {
  std::vector<Factor> factors;
  for (const SharedIndex& index : geometry.shared)
    if (index.columns.axis == columns_axis && index.columns.step != 0)
      factors.push_back(
          {index.extent, index.columns.step, "axis " + std::to_string(index.image.axis) + " of " + std::string(image)});
  const std::string tap = geometry.is_block ? "block" : "taps", position = geometry.is_block ? "blocks" : "positions";
  for (const SpatialAxis& axis : geometry.axes) {
    if (axis.tap.axis == columns_axis && axis.tap.step != 0 && axis.kernel > 1)
      factors.push_back({axis.kernel, axis.tap.step, tap});
    if (axis.position.axis == columns_axis && axis.position.step != 0)
      factors.push_back({axis.positions, axis.position.step, position});
  }
  // Of two factors with equal steps one has the extent 1, which counts as the inner factor.
  std::ranges::stable_sort(factors, std::ranges::greater{}, [](const Factor& f) { return std::pair(f.step, f.extent); });
  return factors;
}

/// Returns "3 (axis 1 of image) * 3 * 3 (taps)": neighbouring factors with the same name share one mention of it.
std::string product_of(const std::vector<Factor>& factors, std::size_t skipped = std::string::npos) {
  std::string text;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i == skipped) continue;
    text += (text.empty() ? "" : " * ") + std::to_string(factors[i].extent);
    const std::size_t next = i + 1 == skipped ? i + 2 : i + 1;
    if (next >= factors.size() || factors[next].name != factors[i].name) text += " (" + factors[i].name + ")";
  }
  return text;
}

/// Returns the formula of an axis of the columns: the product of its factors with their names.
std::string columns_formula(const Geometry& geometry, std::string_view image, int axis) {
  const std::vector<Factor> factors = factors_of(geometry, image, axis);
  const std::string extent = std::to_string(geometry.columns()[axis]);
  if (factors.empty()) return extent;
  const std::string text = product_of(factors);
  return factors.size() == 1 ? text : text + " = " + extent;
}

/// Returns the formula of an axis of the image that an operator makes from columns.
std::string image_formula(const Geometry& geometry, std::string_view columns, int axis) {
  const std::string extent = std::to_string(geometry.image()[axis]);
  for (const SpatialAxis& spatial : geometry.axes) {
    if (spatial.image_axis != axis) continue;
    if (!geometry.is_block) return extent + ", as given";
    std::string text = std::to_string(spatial.positions) + " (blocks) * " + std::to_string(spatial.kernel) + " (block)";
    if (spatial.pad_begin != 0 || spatial.pad_end != 0)
      text += " - crops " + std::to_string(spatial.pad_begin) + " and " + std::to_string(spatial.pad_end);
    return text + " = " + extent;
  }
  for (const SharedIndex& index : geometry.shared) {
    if (index.image.axis != axis) continue;
    std::vector<Factor> factors = factors_of(geometry, "output", index.columns.axis);
    const std::string whole = std::to_string(geometry.columns()[index.columns.axis]) + " (axis " +
                              std::to_string(index.columns.axis) + " of " + std::string(columns) + ")";
    const auto own = std::ranges::find(factors, "axis " + std::to_string(axis) + " of output", &Factor::name);
    if (factors.size() < 2 || own == factors.end()) return whole;
    return whole + " / (" + product_of(factors, static_cast<std::size_t>(own - factors.begin())) + ") = " + extent;
  }
  return extent;
}

/// Gives the elements of a patch one by one, in the order of nested loops, the outermost loop first.
class Nested {
 public:
  struct Loop {
    std::int64_t extent;
    std::int64_t step;  ///< in taps; 0: the loop counts channels
    friend bool operator==(const Loop&, const Loop&) = default;
  };
  explicit Nested(std::vector<Loop> loops) : loops_(std::move(loops)), at_(loops_.size()) {}
  PatchElement next() {
    PatchElement element;
    for (std::size_t i = 0; i < loops_.size(); ++i)
      (loops_[i].step == 0 ? element.channel : element.tap) += at_[i] * (loops_[i].step == 0 ? 1 : loops_[i].step);
    for (std::size_t i = loops_.size(); i-- > 0;) {
      if (++at_[i] < loops_[i].extent) break;
      at_[i] = 0;
    }
    return element;
  }

 private:
  std::vector<Loop> loops_;
  std::vector<std::int64_t> at_;
};

/// Returns loops that do the same in a normal form: without loops of one step, so that equal orders have equal loops.
std::vector<Nested::Loop> without_ones(std::vector<Nested::Loop> loops) {
  std::erase_if(loops, [](const Nested::Loop& loop) { return loop.extent == 1; });
  // Joins two neighbouring loops of taps where one step of the outer loop is as long as the whole inner loop.
  for (std::size_t i = 0; i + 1 < loops.size();)
    if (loops[i].step != 0 && loops[i + 1].step != 0 && loops[i].step == loops[i + 1].step * loops[i + 1].extent) {
      loops[i] = {loops[i].extent * loops[i + 1].extent, loops[i + 1].step};
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else {
      ++i;
    }
  return loops;
}

}  // namespace

std::string to_string(const PatchElement& element) {
  return std::to_string(element.channel) + "." + std::to_string(element.tap);
}

std::vector<AxisFormula> output_formulas(const Subject& subject) {
  const Geometry& geometry = subject.geometry();
  std::vector<AxisFormula> lines;
  for (int axis = 0; axis < geometry.output.size(); ++axis)
    lines.push_back({"axis " + std::to_string(axis) + " of output",
                     geometry.extracts() ? columns_formula(geometry, subject.op.data_input, axis)
                     : geometry.has_data ? image_formula(geometry, subject.op.data_input, axis)
                                         : std::to_string(geometry.output[axis]) + ", as given"});
  return lines;
}

PatchVector patch_vector(const Subject& subject, std::size_t most) {
  const Geometry& geometry = subject.geometry();
  PatchVector vector;
  if (!geometry.has_data) return vector;
  std::vector<Nested::Loop> taps;
  struct Own {
    Nested::Loop loop;
    std::int64_t step;
  };
  std::vector<Own> own;
  std::int64_t step = 1;
  bool found = false;
  for (int i = geometry.axes.size() - 1; i >= 0; --i) {
    const SpatialAxis& axis = geometry.axes[i];
    if (axis.kernel == 1) continue;
    if (found && axis.tap.axis != vector.columns_axis) return vector;
    found = true;
    vector.columns_axis = axis.tap.axis;
    taps.insert(taps.begin(), {axis.kernel, step});
    own.push_back({{axis.kernel, step}, axis.tap.step});
    step = wrapping_mul(step, axis.kernel);
  }
  if (!found) return vector;
  vector.taps = geometry.taps;
  for (const SharedIndex& index : geometry.shared) {
    if (index.columns.axis != vector.columns_axis || index.extent == 1 || vector.channels != 1) continue;
    vector.channels = index.extent;
    vector.image_axis = index.image.axis;
    own.push_back({{index.extent, 0}, index.columns.step});
  }
  std::ranges::stable_sort(own, std::ranges::greater{}, &Own::step);
  std::vector<Nested::Loop> ours;
  for (const Own& each : own) ours.push_back(each.loop);
  ours = without_ones(std::move(ours));

  const Nested::Loop channels{vector.channels, 0};
  const auto in_front = [&](std::vector<Nested::Loop> loops) {
    loops.insert(loops.begin(), channels);
    return loops;
  };
  std::vector<Nested::Loop> behind = taps;
  behind.push_back(channels);
  const std::vector<Nested::Loop> reversed(taps.rbegin(), taps.rend());
  const std::string times_taps = "c * " + std::to_string(vector.taps) + " + t";
  const std::string times_channels = "t * " + std::to_string(vector.channels) + " + c";
  struct System {
    std::string_view name;
    std::string rule;
    std::vector<Nested::Loop> loops;
  };
  const std::array<System, 6> systems = {{{"torch unfold", times_taps, in_front(taps)},
                                          {"TensorFlow extract_patches", times_channels, behind},
                                          {"ONNX DepthToSpace DCR", times_channels, behind},
                                          {"ONNX DepthToSpace CRD", times_taps, in_front(taps)},
                                          {"OpenVINO ExtractImagePatches", times_channels, behind},
                                          {"MATLAB im2col", times_taps + "'", in_front(reversed)}}};
  const std::int64_t count =
      std::min(static_cast<std::int64_t>(most), checked_mul(vector.channels, vector.taps).value_or(1));
  const auto add = [&](std::string_view name, std::string rule, const std::vector<Nested::Loop>& loops, bool same) {
    PatchOrder order{name, std::move(rule), {}, same};
    Nested nested(loops);
    for (std::int64_t i = 0; i < count; ++i) order.first.push_back(nested.next());
    vector.orders.push_back(std::move(order));
  };
  bool any = false;
  for (const System& system : systems) {
    const std::vector<Nested::Loop> loops = without_ones(system.loops);
    const bool same = loops == ours;
    any |= same;
    add(system.name, system.rule, loops, same);
  }
  if (!any) add(subject.op.name, "its own", ours, true);
  return vector;
}

}  // namespace patchfold::explaining
