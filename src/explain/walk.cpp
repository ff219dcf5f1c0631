// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "engine/padding.hpp"
#include "explain/elements.hpp"
#include "ops/lowering.hpp"

namespace patchfold::explaining {
namespace {

/// Visits all combinations of taps, positions and shared indices of a geometry in nested loops.
class Walk {
 public:
  Walk(const Geometry& geometry, const std::function<void(const Pair&)>& f)
      : geometry_(geometry),
        f_(f),
        image_(contiguous_strides(geometry.image(), 1)),
        columns_(contiguous_strides(geometry.columns(), 1)),
        taps_(Dims::filled(geometry.axes.size(), 0)) {}

  void run() { visit_tap(0, 0); }

 private:
  std::int64_t step_of(Place place, const Dims& strides) const {
    return place.step == 0 ? 0 : wrapping_mul(strides[place.axis], place.step);
  }

  /// Loops over the taps of axis i; the loops inside are the taps of later axes, then all positions, then all shared indices.
  void visit_tap(int i, std::int64_t column) {
    if (i == geometry_.axes.size()) return visit_position(0, {0, column, false}, false);
    const SpatialAxis& axis = geometry_.axes[i];
    for (taps_[i] = 0; taps_[i] < axis.kernel; ++taps_[i]) visit_tap(i + 1, column + taps_[i] * step_of(axis.tap, columns_));
  }

  void visit_position(int i, const Pair& pair, bool is_outside) {
    if (i == geometry_.axes.size()) return visit_shared(0, pair, is_outside);
    const SpatialAxis& axis = geometry_.axes[i];
    const engine::Window window = ops::window_of(axis, geometry_.padding_mode);
    for (std::int64_t position = 0; position < axis.positions; ++position) {
      const std::int64_t coordinate = position * axis.stride + taps_[i] * axis.dilation - axis.pad_begin;
      const engine::Run run = engine::run_at(window, coordinate);
      Pair next = pair;
      next.column += position * step_of(axis.position, columns_);
      next.padded |= coordinate < 0 || coordinate >= axis.extent;
      if (!run.outside) next.image += engine::source_at(run, coordinate) * image_[axis.image_axis];
      visit_position(i + 1, next, is_outside || run.outside);
    }
  }

  void visit_shared(int i, const Pair& pair, bool is_outside) {
    if (i == geometry_.shared.size()) {
      if (is_outside)
        f_({-1, pair.column, false});
      else
        f_(pair);
      return;
    }
    const SharedIndex& index = geometry_.shared[i];
    Pair next = pair;
    for (std::int64_t n = 0; n < index.extent; ++n) {
      visit_shared(i + 1, next, is_outside);
      next.image += step_of(index.image, image_);
      next.column += step_of(index.columns, columns_);
    }
  }

  const Geometry& geometry_;
  const std::function<void(const Pair&)>& f_;
  Dims image_;  ///< row-major strides, in elements; so are columns_
  Dims columns_;
  Dims taps_;
};

}  // namespace

void walk(const Geometry& geometry, const std::function<void(const Pair&)>& f) {
  for (const SharedIndex& index : geometry.shared)
    if (index.extent == 0) return;
  if (geometry.positions == 0) return;
  Walk(geometry, f).run();
}

Findings find(const Subject& subject) {
  const Geometry& geometry = subject.geometry();
  const auto count_of = [](const Dims& shape) { return static_cast<std::size_t>(element_count(shape)); };
  const std::size_t inputs = subject.has_input() ? count_of(geometry.data) : 0;
  const std::size_t outputs = count_of(geometry.output);
  Findings findings;
  findings.counts.resize(geometry.sums ? outputs : inputs);
  if (geometry.sums)
    findings.to.assign(inputs, -1);
  else
    findings.from.assign(outputs, -1);
  if (geometry.extracts()) findings.padded.resize(outputs);
  walk(geometry, [&](const Pair& pair) {
    if (pair.image < 0) return;
    ++findings.counts[static_cast<std::size_t>(geometry.sums || geometry.extracts() ? pair.image : pair.column)];
    if (geometry.extracts()) {
      findings.from[static_cast<std::size_t>(pair.column)] = pair.image;
      findings.padded[static_cast<std::size_t>(pair.column)] = pair.padded;
    } else if (!geometry.sums) {
      findings.from[static_cast<std::size_t>(pair.image)] = pair.column;
    } else if (geometry.has_data) {
      findings.to[static_cast<std::size_t>(pair.column)] = pair.image;
    }
  });
  return findings;
}

}  // namespace patchfold::explaining
