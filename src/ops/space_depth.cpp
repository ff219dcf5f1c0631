// SPDX-License-Identifier: Apache-2.0
// Space-to-depth is unfold, and depth-to-space its inverse, with kernel = stride = block and one column axis for each
// spatial axis: blocks-first is the kernel-major order, depth-first the channel-major one.
#include "ops/operands.hpp"
#include "ops/patch_layout.hpp"
#include "ops/patches.hpp"
#include "tensor/checked.hpp"
#include "tensor/fail.hpp"

namespace patchfold {
namespace ops {
namespace {

Order order_of(DepthMode mode) {
  return mode == DepthMode::blocks_first ? Order::kernel : Order::channel;
}

/// Number of spatial axes: the length of the block, or for a single number rank - 2.
int block_rank(const Axes& block, const Dims& shape, std::string_view argument, const Names& names) {
  check_given(names.op, names.kernel_size, !block.empty());
  int rank = spatial_rank(names.op, {spatial(names.kernel_size, block)});
  const int least = rank < 0 ? 3 : rank + 1;
  if (shape.size() < least)
    fail_rank(names.op, argument, "must have a channel axis and the spatial axes", shape,
              "rank " + std::to_string(least) + " or more");
  if (rank < 0) rank = shape.size() - 2;
  for (int i = 0; i < rank; ++i)
    if (at(block, i) < 1) fail(ErrorCode::value, names.op, names.kernel_size, "must be at least 1 on every axis", block);
  check_shape(names.op, argument, shape);
  return rank;
}

Axes spread(const Axes& block, int rank) {
  return block.is_scalar() ? Axes(Dims::filled(rank, block.values()[0])) : block;
}

Unfold unfold_of(const SpaceToDepth& op, const Dims& image, const Names& names) {
  const int rank = block_rank(op.block, image, names.image, names);
  const ImageAxes axes = image_axes(image.size(), rank, op.layout);
  for (int i = 0; i < rank; ++i)
    if (image[axes.spatial + i] % at(op.block, i) != 0)
      fail(ErrorCode::divisible, names.op, names.image, "spatial extents must be multiples of " + text(names.kernel_size),
           image.slice(axes.spatial, axes.spatial + rank), "multiples of " + to_string(op.block));
  const Axes block = spread(op.block, rank);
  return {.kernel_size = block, .stride = block, .layout = op.layout, .order = order_of(op.mode), .columns = Columns::grid};
}

Fold fold_of(const DepthToSpace& op, const Dims& deep, const Names& names) {
  const int rank = block_rank(op.block, deep, names.columns, names);
  const ColumnAxes axes = column_axes(deep.size(), rank, op.layout, Columns::grid);
  const Axes block = spread(op.block, rank);
  Checked taps = 1;
  Dims output_size;
  for (int i = 0; i < rank; ++i) {
    taps = taps * at(block, i);
    const auto extent = checked_mul(deep[axes.positions + i], at(block, i));
    if (!extent)
      fail(ErrorCode::overflow, names.op, names.kernel_size, "extents of the output must fit into 63 bits", block);
    output_size.push_back(*extent);
  }
  if (!taps.value())
    fail(ErrorCode::overflow, names.op, names.kernel_size, "the product of the blocks must fit into 63 bits", block);
  if (deep[axes.rows] % *taps.value() != 0)
    fail(ErrorCode::divisible, names.op, names.columns, "channels must be a multiple of the product of the blocks",
         deep[axes.rows], "a multiple of " + text(*taps.value()));
  return {.output_size = output_size,
          .kernel_size = block,
          .stride = block,
          .layout = op.layout,
          .order = order_of(op.mode),
          .columns = Columns::grid};
}

constexpr Names names_of_space_to_depth = depth_names(SpaceToDepth::name, "image", "deep", "block");
constexpr Names names_of_depth_to_space = depth_names(DepthToSpace::name, "image", "deep", "block");

}  // namespace

Dims space_to_depth_shape(const SpaceToDepth& op, const Dims& image, const Names& names) {
  return unfold_shape(unfold_of(op, image, names), image, names);
}
Plan space_to_depth_plan(const SpaceToDepth& op, const ConstTensorView& image, const TensorView& deep, const Names& names) {
  return unfold_plan(unfold_of(op, image.shape, names), image, deep, names);
}
Dims depth_to_space_shape(const DepthToSpace& op, const Dims& deep, const Names& names) {
  return fold_shape(fold_of(op, deep, names), deep, names);
}
Plan depth_to_space_plan(const DepthToSpace& op, const ConstTensorView& deep, const TensorView& image, const Names& names) {
  return fold_plan(fold_of(op, deep.shape, names), deep, image, names, engine::Verb::combine_copy);
}

}  // namespace ops

Dims SpaceToDepth::output_shape(const Dims& image) const {
  return ops::space_to_depth_shape(*this, image, ops::names_of_space_to_depth);
}
Plan SpaceToDepth::plan(const ConstTensorView& image, const TensorView& deep) const {
  return ops::space_to_depth_plan(*this, image, deep, ops::names_of_space_to_depth);
}
Dims DepthToSpace::output_shape(const Dims& deep) const {
  return ops::depth_to_space_shape(*this, deep, ops::names_of_depth_to_space);
}
Plan DepthToSpace::plan(const ConstTensorView& deep, const TensorView& image) const {
  return ops::depth_to_space_plan(*this, deep, image, ops::names_of_depth_to_space);
}

}  // namespace patchfold
