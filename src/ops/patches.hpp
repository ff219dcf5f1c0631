// SPDX-License-Identifier: Apache-2.0
// The places of the axes of images and columns. Layouts and orders differ only in these places.
//   image    (B.., C, I1..IR)   or, with channels last, (B.., I1..IR, C)
//   columns  (B.., C*K, L)      or (B.., L, C*K); on a grid, L is l1..lR
#pragma once

#include "ops/axes.hpp"
#include "patchfold/operators.hpp"

namespace patchfold::ops {

/// The axes of a tensor that has one axis of channels among others.
struct ChannelAxes {
  int batch;    ///< number of batch axes
  int channel;  ///< C of an image, C*K of columns
  int others;   ///< the first spatial axis of an image, the first position axis of columns
};
ChannelAxes channel_axes(int rank, int others, Layout layout);

/// The facts that determine the places of the axes of an image and its columns.
struct PatchLayout {
  Dims batch{};
  std::int64_t channels = 1;
  Layout layout = Layout::channels_first;
  Order order = Order::channel;
  Positions positions = Positions::flat;
};

/// Completes a geometry that has its spatial axes: adds the shape of the other side, the shared indices and all places.
/// Throws Error(overflow, value) for columns that are too large.
void place_patches(Geometry& geometry, const PatchLayout& layout, const ArgumentNames& names);

}  // namespace patchfold::ops
