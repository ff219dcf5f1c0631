// SPDX-License-Identifier: Apache-2.0
// Cuts a problem into rows of work: one axis runs along the row, and the tuples of the other axes number the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/checked.hpp"
#include "engine/problem.hpp"
#include "engine/walk.hpp"

namespace patchfold::engine {

/// An axis of a walk. A step along an axis is a step along a dim, or along a window's positions, taps or image coordinates.
struct Axis {
  enum class Kind : std::uint8_t { dim, position, tap, coordinate } kind = Kind::dim;
  int window = -1;
  std::int64_t extent = 1;
  std::int64_t src_stride = 0;
  std::int64_t dst_stride = 0;
};

/// A list with room for every dim, for two axes of every window, and for the chunks of the row.
using AxisList = FixedList<Axis, 2 * max_axes + 1>;

/// Returns the axes of the image.
inline AxisList image_axes(const Problem& problem) {
  AxisList axes;
  for (const Dim& dim : problem.dims) axes.push_back({Axis::Kind::dim, -1, dim.extent, dim.src_stride, dim.dst_stride});
  for (int i = 0; i < problem.windows.size(); ++i)
    axes.push_back({Axis::Kind::coordinate, i, problem.windows[i].extent, 0, problem.windows[i].image_stride});
  return axes;
}

/// The most bytes of one row of a copy; longer rows are cut, so that threads can share them (arbitrary: 64 KiB).
inline constexpr std::int64_t chunk_bytes = 64 * 1024;

/// The fewest bytes of a row for which calling a kernel pays (arbitrary: one cache line).
inline constexpr std::int64_t row_bytes = 64;

/// Orders axes by destination stride, largest first. Returns the index of the axis for the row: the innermost axis of at
/// least `row_bytes` bytes, or else the longest axis.
inline int order_axes(AxisList& axes, std::int64_t unit) noexcept {
  std::ranges::stable_sort(axes,
                           [](const Axis& a, const Axis& b) { return std::abs(a.dst_stride) > std::abs(b.dst_stride); });
  for (int i = axes.size() - 1; i >= 0; --i)
    if (axes[i].extent >= ceil_div(row_bytes, unit)) return i;
  int longest = 0;
  for (int i = 1; i < axes.size(); ++i)
    if (axes[i].extent >= axes[longest].extent) longest = i;
  return longest;
}

/// The row axis, and the axes that number the rows. A long row axis is cut into chunks, so that threads can share it. The numbering
/// axes are the axes outside the row axis, the chunks of the row, and the axes inside the row axis. In this order, rows are
/// numbered in the order of the destination.
struct RowPlan {
  Axis row{};
  AxisList counted{};
  int chunk_axis = 0;  ///< place of the chunks in `counted`
  std::int64_t chunk = 1;
  std::int64_t rows = 0;

  std::int64_t row_begin(const Odometer<AxisList>& odometer) const noexcept { return odometer[chunk_axis] * chunk; }
  std::int64_t row_count(std::int64_t begin) const noexcept { return std::min(chunk, row.extent - begin); }
};

/// Returns the plan of rows along these axes. A chunk has innermost_chunk units if the row axis is the innermost, otherwise
/// strided_chunk units.
inline RowPlan plan_rows(AxisList axes, std::int64_t unit, std::int64_t innermost_chunk,
                         std::int64_t strided_chunk) noexcept {
  RowPlan plan;
  const int row = axes.empty() ? -1 : order_axes(axes, unit);
  if (row >= 0) plan.row = axes[row];
  const bool innermost = row == axes.size() - 1;
  plan.chunk = std::max<std::int64_t>(1, innermost ? innermost_chunk : strided_chunk);
  const Axis chunks{Axis::Kind::dim, -1, ceil_div(plan.row.extent, plan.chunk), 0, 0};
  for (int i = 0; i < axes.size(); ++i) {
    if (i == row) plan.chunk_axis = plan.counted.size();
    plan.counted.push_back(i == row ? chunks : axes[i]);
  }
  if (row < 0) plan.counted.push_back(chunks);
  plan.rows = count_tuples(plan.counted);
  return plan;
}

}  // namespace patchfold::engine
