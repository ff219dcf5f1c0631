// SPDX-License-Identifier: Apache-2.0
#include "ops/patch_layout.hpp"

#include "tensor/checked.hpp"

namespace patchfold::ops {

ImageAxes image_axes(int rank, int spatial_rank, Layout layout) {
  const int batch = rank - spatial_rank - 1;
  if (layout == Layout::channels_first) return {batch, batch, batch + 1};
  return {batch, rank - 1, batch};
}

ColumnAxes column_axes(int rank, int spatial_rank, Layout layout, Columns columns) {
  const int position_axes = columns == Columns::flat ? 1 : spatial_rank;
  const int batch = rank - position_axes - 1;
  if (layout == Layout::channels_first) return {batch, batch, batch + 1};
  return {batch, rank - 1, batch};
}

Dims tuple_strides(const Dims& extents, std::int64_t stride) {
  Dims strides = extents;
  for (int i = extents.size() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride = wrapping_mul(stride, extents[i]);
  }
  return strides;
}

ColumnStrides column_strides(const ColumnAxes& axes, const Dims& strides, const Geometry& geometry, std::int64_t channels,
                             Order order, Columns columns) {
  Dims kernel;
  for (const AxisGeometry& axis : geometry.axes) kernel.push_back(axis.kernel);
  const std::int64_t row = strides[axes.rows];
  ColumnStrides result;
  const bool channel_slow = order == Order::channel;
  result.channel = channel_slow ? wrapping_mul(row, geometry.taps) : row;
  result.taps = tuple_strides(kernel, channel_slow ? row : wrapping_mul(row, channels));
  result.positions = columns == Columns::flat ? tuple_strides(geometry.positions_per_axis(), strides[axes.positions])
                                              : strides.slice(axes.positions, axes.positions + geometry.rank());
  return result;
}

}  // namespace patchfold::ops
