// SPDX-License-Identifier: Apache-2.0
// Space-to-depth is unfold with kernel = stride = block and one column axis for each spatial axis, and depth-to-space is its
// inverse. blocks_first is the kernel-major order, depth_first the channel-major order.
#include "base/checked.hpp"
#include "base/fail.hpp"
#include "ops/lowering.hpp"
#include "ops/operands.hpp"
#include "ops/patches.hpp"

namespace patchfold::ops {
namespace {

Order order_of(DepthMode mode) {
  return mode == DepthMode::blocks_first ? Order::kernel : Order::channel;
}

/// Returns the number of spatial axes.
int block_rank(const Axes& block, const Dims& data, const Names& names) {
  check_given(names.op, names.kernel_size, !block.empty());
  const int rank = spatial_rank(names, deciding_argument(names.op, {spatial(names.kernel_size, block)}),
                                {data, "must have a channel axis and the spatial axes", block});
  for (int i = 0; i < rank; ++i)
    if (at(block, i) < 1) fail(ErrorCode::value, names.op, names.kernel_size, "must be at least 1 on every axis", block);
  check_shape(names.op, names.data, data);
  return rank;
}

}  // namespace

Geometry geometry_of(const SpaceToDepth& op, const Dims& image, const Names& names) {
  const int rank = block_rank(op.block, image, names);
  const ChannelAxes axes = channel_axes(image.size(), rank, op.layout);
  bool is_uniform = true;
  for (int i = 1; i < rank; ++i) is_uniform = is_uniform && at(op.block, i) == at(op.block, 0);
  for (int i = 0; i < rank; ++i)
    if (image[axes.others + i] % at(op.block, i) != 0)
      fail(ErrorCode::divisible, names.op, names.data,
           "spatial extents must be multiples of " + std::string(names.kernel_size),
           image.slice(axes.others, axes.others + rank),
           ErrorValue("multiples of ", is_uniform ? Axes(at(op.block, 0)) : op.block));
  const Axes block = spread(op.block, rank);
  Geometry geometry = geometry_of(Unfold{.kernel_size = block,
                                         .stride = block,
                                         .layout = op.layout,
                                         .order = order_of(op.mode),
                                         .positions = Positions::grid,
                                         .allow_empty = true},
                                  image, names);
  geometry.is_block = true;
  return geometry;
}

Geometry geometry_of(const DepthToSpace& op, const Dims& deep, const Names& names) {
  const int rank = block_rank(op.block, deep, names);
  const ChannelAxes axes = channel_axes(deep.size(), rank, op.layout);
  const Axes block = spread(op.block, rank);
  Checked taps = 1;
  Dims output_size;
  for (int i = 0; i < rank; ++i) {
    taps = taps * at(block, i);
    const auto extent = checked_mul(deep[axes.others + i], at(block, i));
    if (!extent)
      fail(ErrorCode::overflow, names.op, names.kernel_size, "extents of the output must fit into 63 bits", block);
    output_size.push_back(*extent);
  }
  if (!taps.value())
    fail(ErrorCode::overflow, names.op, names.kernel_size, "the product of the blocks must fit into 63 bits", block);
  if (deep[axes.channel] % *taps.value() != 0)
    fail(ErrorCode::divisible, names.op, names.data, "channels must be a multiple of the product of the blocks",
         deep[axes.channel], ErrorValue("a multiple of ", *taps.value()));
  Geometry geometry = geometry_of(Fold{.output_size = output_size,
                                       .kernel_size = block,
                                       .stride = block,
                                       .layout = op.layout,
                                       .order = order_of(op.mode),
                                       .positions = Positions::grid},
                                  deep, names);
  geometry.sums = false;
  geometry.is_block = true;
  return geometry;
}

}  // namespace patchfold::ops
