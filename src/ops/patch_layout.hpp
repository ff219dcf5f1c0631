// SPDX-License-Identifier: Apache-2.0
// Where the axes of images and columns lie. All layouts and orders are only strides.
#pragma once

#include "engine/problem.hpp"
#include "ops/geometry.hpp"
#include "patchfold/operators.hpp"

namespace patchfold::ops {

/// (B.., C, I1..IR) or (B.., I1..IR, C).
struct ImageAxes {
  int batch;  ///< number of batch axes
  int channel;
  int spatial;  ///< first spatial axis
};
ImageAxes image_axes(int rank, int spatial_rank, Layout layout);

/// (B.., C*K, L) or (B.., L, C*K); with a grid, L is l1..lR.
struct ColumnAxes {
  int batch;
  int rows;       ///< the C*K axis
  int positions;  ///< first position axis
};
ColumnAxes column_axes(int rank, int spatial_rank, Layout layout, Columns columns);

/// Byte strides of the columns for the channel, and for the tap and the position of each spatial axis.
struct ColumnStrides {
  std::int64_t channel = 0;
  Dims taps{};
  Dims positions{};
};
ColumnStrides column_strides(const ColumnAxes& axes, const Dims& strides, const Geometry& geometry, std::int64_t channels,
                             Order order, Columns columns);

/// Row-major byte strides of a tuple that one axis of stride `stride` holds.
Dims tuple_strides(const Dims& extents, std::int64_t stride);

}  // namespace patchfold::ops
