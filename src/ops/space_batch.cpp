// SPDX-License-Identifier: Apache-2.0
// Space-to-batch is an extract with kernel = stride = block whose taps lie on the batch axis; batch-to-space puts each
// element back to its one place.
#include "ops/batches.hpp"
#include "ops/operands.hpp"
#include "ops/patch_layout.hpp"
#include "tensor/checked.hpp"
#include "tensor/fail.hpp"

namespace patchfold {
namespace ops {
namespace {

using engine::Verb;

struct Blocks {
  Geometry geometry{};
  int spatial = 1;  ///< first blocked axis
};

/// Checks the rank and returns the number of blocked axes and where they begin.
std::pair<int, int> blocked_axes(const Axes& block, SpatialArgument pads, Layout layout, const Dims& shape,
                                 std::string_view argument, const Names& names) {
  int rank = spatial_rank(names.op, {spatial(names.kernel_size, block), pads});
  const int least = rank < 0 ? 3 : rank + 1;
  if (shape.size() < least)
    fail_rank(names.op, argument, "must have a batch axis and the axes of the block", shape,
              "rank " + std::to_string(least) + " or more");
  if (rank < 0) rank = shape.size() - 2;
  check_shape(names.op, argument, shape);
  return {rank, layout == Layout::channels_first ? shape.size() - rank : 1};
}

Blocks blocks_of(const SpaceToBatch& op, const Dims& image, const Names& names) {
  check_given(names.op, names.kernel_size, !op.block.empty());
  const auto [rank, spatial_axis] =
      blocked_axes(op.block, spatial(names.padding, op.padding), op.layout, image, names.image, names);
  Blocks blocks{make_geometry(names, image.slice(spatial_axis, spatial_axis + rank), op.block, op.block, 1, op.padding),
                spatial_axis};
  for (const AxisGeometry& axis : blocks.geometry.axes) {
    const std::int64_t padded = axis.extent + axis.pad_begin + axis.pad_end;
    if (padded < 0) fail(ErrorCode::value, names.op, names.padding, "must not crop more than there is", padded, at_least(0));
    if (padded % axis.kernel != 0)
      fail(ErrorCode::divisible, names.op, names.image, "padded extents must be multiples of " + text(names.kernel_size),
           padded, "a multiple of " + std::to_string(axis.kernel));
  }
  return blocks;
}

Blocks blocks_of(const BatchToSpace& op, const Dims& batches, const Names& names) {
  check_given(names.op, names.kernel_size, !op.block.empty());
  const auto [rank, spatial_axis] =
      blocked_axes(op.block, spatial(names.padding, op.crops), op.layout, batches, names.columns, names);
  if (op.crops.rule() == Padding::Rule::same_upper || op.crops.rule() == Padding::Rule::same_lower)
    fail(ErrorCode::value, names.op, names.padding, "must be numbers: the rule same needs the size of the image", "same");
  Dims extents;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t block = at(op.block, i);
    if (block < 1) fail(ErrorCode::value, names.op, names.kernel_size, "must be at least 1 on every axis", op.block);
    const Pads crops = op.crops.rule() == Padding::Rule::valid ? Pads{} : op.crops.pads()[op.crops.is_scalar() ? 0 : i];
    if (crops.begin < 0 || crops.end < 0)
      fail(ErrorCode::value, names.op, names.padding, "must be at least 0 on every axis",
           std::to_string(crops.begin) + ":" + std::to_string(crops.end));
    const std::int64_t extent = batches[spatial_axis + i];
    const auto cropped = (Checked(extent) * Checked(block) - Checked(crops.begin) - Checked(crops.end)).value();
    if (!cropped)
      fail(ErrorCode::overflow, names.op, names.kernel_size, "extents of the output must fit into 63 bits", op.block);
    if (*cropped < 0)
      fail(ErrorCode::value, names.op, names.padding, "must not crop more than there is",
           std::to_string(crops.begin) + ":" + std::to_string(crops.end),
           "a sum of at most " + std::to_string(extent * block));
    extents.push_back(*cropped);
  }
  Blocks blocks{make_geometry(names, extents, op.block, op.block, 1, op.crops), spatial_axis};
  if (batches[0] % blocks.geometry.taps != 0)
    fail(ErrorCode::divisible, names.op, names.columns, "the batch must be a multiple of the product of the blocks",
         batches[0], "a multiple of " + std::to_string(blocks.geometry.taps));
  // Crops may leave an empty axis, which the formula gives no positions for; the columns have them all the same.
  for (int i = 0; i < rank; ++i) blocks.geometry.axes[i].positions = batches[spatial_axis + i];
  return blocks;
}

Dims batches_shape(const Blocks& blocks, const Dims& image, const Names& names) {
  Dims shape = image;
  const auto batch = checked_mul(image[0], blocks.geometry.taps);
  if (!batch)
    fail(ErrorCode::overflow, names.op, names.kernel_size, "batch * blocks must fit into 63 bits", blocks.geometry.taps);
  shape[0] = *batch;
  for (int i = 0; i < blocks.geometry.rank(); ++i) shape[blocks.spatial + i] = blocks.geometry.axes[i].positions;
  check_shape(names.op, names.columns, shape);
  return shape;
}

Dims image_shape(const Blocks& blocks, const Dims& batches, const Names& names) {
  Dims shape = batches;
  shape[0] = batches[0] / blocks.geometry.taps;
  for (int i = 0; i < blocks.geometry.rank(); ++i) shape[blocks.spatial + i] = blocks.geometry.axes[i].extent;
  check_shape(names.op, names.image, shape);
  return shape;
}

Plan make(const Blocks& blocks, Operands operands, const Dims& image, bool to_batch, const Names& names) {
  const Dims& image_strides = to_batch ? operands.src_strides : operands.dst_strides;
  const Dims& batch_strides = to_batch ? operands.dst_strides : operands.src_strides;
  engine::Problem& problem = operands.problem;
  problem.verb = to_batch ? Verb::extract : Verb::combine_copy;
  Dims kernel;
  for (const AxisGeometry& axis : blocks.geometry.axes) kernel.push_back(axis.kernel);
  const Dims taps = tuple_strides(kernel, wrapping_mul(batch_strides[0], image[0]));
  for (int axis = 0; axis < image.size(); ++axis) {
    const int i = axis - blocks.spatial;
    if (i < 0 || i >= blocks.geometry.rank()) {
      problem.dims.push_back({image[axis], operands.src_strides[axis], operands.dst_strides[axis]});
      continue;
    }
    engine::Window window = window_of(blocks.geometry.axes[i]);
    window.image_stride = image_strides[axis];
    window.position_stride = batch_strides[axis];
    window.tap_stride = taps[i];
    problem.windows.push_back(window);
  }
  return make_plan(names.op, problem);
}

constexpr Names names_of_space_to_batch{
    .op = SpaceToBatch::name, .columns = "batches", .kernel_size = "block", .stride = "block"};
constexpr Names names_of_batch_to_space{.op = BatchToSpace::name,
                                        .columns = "batches",
                                        .output_size = "batches",
                                        .kernel_size = "block",
                                        .stride = "block",
                                        .padding = "crops"};

}  // namespace

Dims space_to_batch_shape(const SpaceToBatch& op, const Dims& image, const Names& names) {
  return batches_shape(blocks_of(op, image, names), image, names);
}

Plan space_to_batch_plan(const SpaceToBatch& op, const ConstTensorView& image, const TensorView& batches,
                         const Names& names) {
  const Blocks blocks = blocks_of(op, image.shape, names);
  const Operands operands =
      check_operands(names.op, names.image, image, names.columns, batches, batches_shape(blocks, image.shape, names));
  return make(blocks, operands, image.shape, true, names);
}

Dims batch_to_space_shape(const BatchToSpace& op, const Dims& batches, const Names& names) {
  return image_shape(blocks_of(op, batches, names), batches, names);
}

Plan batch_to_space_plan(const BatchToSpace& op, const ConstTensorView& batches, const TensorView& image,
                         const Names& names) {
  const Blocks blocks = blocks_of(op, batches.shape, names);
  const Dims shape = image_shape(blocks, batches.shape, names);
  const Operands operands = check_operands(names.op, names.columns, batches, names.image, image, shape);
  return make(blocks, operands, shape, false, names);
}

}  // namespace ops

Dims SpaceToBatch::output_shape(const Dims& image) const {
  return ops::space_to_batch_shape(*this, image, ops::names_of_space_to_batch);
}
Plan SpaceToBatch::plan(const ConstTensorView& image, const TensorView& batches) const {
  return ops::space_to_batch_plan(*this, image, batches, ops::names_of_space_to_batch);
}
Dims BatchToSpace::output_shape(const Dims& batches) const {
  return ops::batch_to_space_shape(*this, batches, ops::names_of_batch_to_space);
}
Plan BatchToSpace::plan(const ConstTensorView& batches, const TensorView& image) const {
  return ops::batch_to_space_plan(*this, batches, image, ops::names_of_batch_to_space);
}

}  // namespace patchfold
