// SPDX-License-Identifier: Apache-2.0
#include "engine/normalise.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "base/checked.hpp"
#include "base/fail.hpp"

namespace patchfold::engine {
namespace {

/// Returns whether all coordinates of the window lie inside the image.
bool all_inside(const Window& w) {
  if (w.positions == 0) return false;
  const std::int64_t last = (w.positions - 1) * w.stride + (w.kernel - 1) * w.dilation - w.pad_begin;
  return w.pad_begin <= 0 && last < w.extent;
}

/// Returns whether the pairs of position and tap correspond one to one to the coordinates of the image.
bool is_partition(const Window& w) {
  return w.kernel == w.stride && (w.dilation == 1 || w.kernel == 1) && w.pad_begin == 0 &&
         w.positions == w.extent / w.stride && w.extent % w.stride == 0;
}

Dim dim_of(const Problem& problem, std::int64_t extent, std::int64_t image_stride, std::int64_t column_stride) {
  return problem.verb == Verb::extract ? Dim{extent, image_stride, column_stride} : Dim{extent, column_stride, image_stride};
}

}  // namespace

Problem open_windows(Problem problem, Opened opened) {
  for (int i = 0; i < problem.windows.size();) {
    const Window w = problem.windows[i];
    // Overlapping windows stay windows, since strategies then copy the elements that patches share to a stage only once.
    const bool simple = opened == Opened::all || w.kernel == 1 || w.positions == 1;
    if (!is_partition(w) && (problem.verb != Verb::extract || !simple || !all_inside(w))) {
      ++i;
      continue;
    }
    // With one position or one tap the step is never used, and the product might overflow.
    const std::int64_t position_step = w.positions == 1 ? 0 : w.stride * w.image_stride;
    const std::int64_t tap_step = w.kernel == 1 ? 0 : w.dilation * w.image_stride;
    problem.dims.push_back(dim_of(problem, w.positions, position_step, w.position_stride));
    problem.dims.push_back(dim_of(problem, w.kernel, tap_step, w.tap_stride));
    (problem.verb == Verb::extract ? problem.src_offset : problem.dst_offset) -= w.pad_begin * w.image_stride;
    problem.windows.erase(i);
  }
  return problem;
}

Problem turn_single(Problem problem) {
  if (problem.verb != Verb::combine_sum && problem.verb != Verb::combine_mean) return problem;
  for (Window& w : problem.windows) {
    if (w.positions != 1 || w.kernel == 1 || w.dilation == 0) continue;
    std::swap(w.kernel, w.positions);
    std::swap(w.tap_stride, w.position_stride);
    w.stride = std::exchange(w.dilation, 1);
  }
  return problem;
}

Problem drop_single(Problem problem) {
  for (int i = problem.dims.size() - 1; i >= 0; --i)
    if (problem.dims[i].extent == 1) problem.dims.erase(i);
  return problem;
}

Problem merge_dims(Problem problem) {
  std::ranges::stable_sort(problem.dims, [](const Dim& a, const Dim& b) {
    return std::tuple(std::abs(a.dst_stride), std::abs(a.src_stride)) >
           std::tuple(std::abs(b.dst_stride), std::abs(b.src_stride));
  });
  for (int i = problem.dims.size() - 2; i >= 0; --i) {
    Dim& outer = problem.dims[i];
    const Dim inner = problem.dims[i + 1];
    if (checked_mul(inner.src_stride, inner.extent) != outer.src_stride) continue;
    if (checked_mul(inner.dst_stride, inner.extent) != outer.dst_stride) continue;
    outer = {outer.extent * inner.extent, inner.src_stride, inner.dst_stride};
    problem.dims.erase(i + 1);
  }
  return problem;
}

std::int64_t take_unit(Problem& problem) {
  std::int64_t unit = problem.element_size;
  for (int i = problem.dims.size() - 1; i >= 0; --i) {
    if (problem.dims[i].src_stride != unit || problem.dims[i].dst_stride != unit) continue;
    unit *= problem.dims[i].extent;
    problem.dims.erase(i);
  }
  return unit;
}

Problem normalise(const Problem& problem, std::string_view op) {
  Problem normal = merge_dims(drop_single(open_windows(turn_single(problem), Opened::partitions)));
  // Without windows each mean has exactly one element, so the mean is a copy.
  if (normal.verb == Verb::combine_mean && normal.windows.empty()) normal.verb = Verb::combine_copy;
  const int axes = normal.dims.size() + normal.windows.size();
  if (axes > max_axes)
    fail(ErrorCode::limit, op, "shape", "dims that do not merge and windows together must be few enough", axes,
         "at most " + std::to_string(max_axes));
  return normal;
}

}  // namespace patchfold::engine
