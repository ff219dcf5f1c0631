// SPDX-License-Identifier: Apache-2.0
// Space-to-batch is an extraction with kernel = stride = block whose taps lie on the batch axis. Batch-to-space is its
// inverse.
#include "base/checked.hpp"
#include "base/fail.hpp"
#include "ops/axes.hpp"
#include "ops/lowering.hpp"
#include "ops/operands.hpp"

namespace patchfold::ops {
namespace {

/// The axes that are cut into blocks: `count` axes from `first` on.
struct BlockedAxes {
  int first;
  int count;
};

BlockedAxes blocked_axes(const Axes& block, SpatialArgument pads, Layout layout, const Dims& data, const Names& names) {
  check_given(names.op, names.kernel_size, !block.empty());
  const int rank = spatial_rank(names, deciding_argument(names.op, {spatial(names.kernel_size, block), pads}),
                                {data, "must have a batch axis and the axes of the block", block});
  check_shape(names.op, names.data, data);
  return {layout == Layout::channels_first ? data.size() - rank : 1, rank};
}

/// Adds the places of all indices to a geometry that has its spatial axes and the shapes of both tensors.
void place_blocks(Geometry& geometry, BlockedAxes blocked) {
  const Dims& image = geometry.image();
  for (int axis = 0; axis < image.size(); ++axis) {
    const int i = axis - blocked.first;
    if (i < 0 || i >= blocked.count) {
      geometry.shared.push_back({image[axis], {axis, 1}, {axis, 1}});
      continue;
    }
    geometry.axes[i].image_axis = axis;
    geometry.axes[i].position = {axis, 1};
  }
  place_taps(geometry, 0, image[0]);
}

}  // namespace

Geometry geometry_of(const SpaceToBatch& op, const Dims& image, const Names& names) {
  const BlockedAxes blocked = blocked_axes(op.block, spatial(names.padding, op.padding), op.layout, image, names);
  Geometry geometry{.is_block = true, .data = image};
  add_axes(geometry, image.slice(blocked.first, blocked.first + blocked.count), {op.block, op.block, 1, op.padding}, names);
  for (const SpatialAxis& axis : geometry.axes) {
    const std::int64_t padded = axis.extent + axis.pad_begin + axis.pad_end;
    if (padded < 0)
      fail(ErrorCode::value, names.op, names.padding, "must not crop more elements than the axis has", padded, "at least 0");
    if (padded % axis.kernel != 0)
      fail(ErrorCode::divisible, names.op, names.data,
           "padded extents must be multiples of " + std::string(names.kernel_size), padded,
           ErrorValue("a multiple of ", axis.kernel));
  }
  const auto batch = checked_mul(image[0], geometry.taps);
  if (!batch) fail(ErrorCode::overflow, names.op, names.kernel_size, "batch * blocks must fit into 63 bits", geometry.taps);
  geometry.output = image;
  geometry.output[0] = *batch;
  for (int i = 0; i < blocked.count; ++i) geometry.output[blocked.first + i] = geometry.axes[i].positions;
  check_shape(names.op, names.output, geometry.output);
  place_blocks(geometry, blocked);
  return geometry;
}

Geometry geometry_of(const BatchToSpace& op, const Dims& batches, const Names& names) {
  const BlockedAxes blocked = blocked_axes(op.block, spatial(names.padding, op.crops), op.layout, batches, names);
  if (op.crops.rule() == Padding::Rule::same_upper || op.crops.rule() == Padding::Rule::same_lower)
    fail(ErrorCode::value, names.op, names.padding, "must be numbers: the rule same needs the size of the image", "same");
  Dims extents;
  for (int i = 0; i < blocked.count; ++i) {
    const std::int64_t block = at(op.block, i);
    if (block < 1) fail(ErrorCode::value, names.op, names.kernel_size, "must be at least 1 on every axis", op.block);
    const Pads crops = op.crops.rule() == Padding::Rule::valid ? Pads{} : op.crops.pads()[op.crops.is_scalar() ? 0 : i];
    if (crops.begin < 0 || crops.end < 0)
      fail(ErrorCode::value, names.op, names.padding, "must be at least 0 on every axis", crops);
    const std::int64_t extent = batches[blocked.first + i];
    const auto cropped = (Checked(extent) * Checked(block) - Checked(crops.begin) - Checked(crops.end)).value();
    if (!cropped)
      fail(ErrorCode::overflow, names.op, names.kernel_size, "extents of the output must fit into 63 bits", op.block);
    if (*cropped < 0)
      fail(ErrorCode::value, names.op, names.padding, "must not crop more elements than the axis has", crops,
           ErrorValue("a sum of at most ", extent * block));
    extents.push_back(*cropped);
  }
  Geometry geometry{.direction = Geometry::Direction::combine, .is_block = true, .data = batches};
  add_axes(geometry, extents, {op.block, op.block, 1, op.crops}, names);
  if (batches[0] % geometry.taps != 0)
    fail(ErrorCode::divisible, names.op, names.data, "the batch must be a multiple of the product of the blocks", batches[0],
         ErrorValue("a multiple of ", geometry.taps));
  // Crops may leave an empty axis. The formula gives no positions for it, but the columns still have some.
  geometry.positions = 1;
  geometry.output = batches;
  geometry.output[0] = batches[0] / geometry.taps;
  for (int i = 0; i < blocked.count; ++i) {
    SpatialAxis& axis = geometry.axes[i];
    axis.positions = batches[blocked.first + i];
    geometry.positions = wrapping_mul(geometry.positions, axis.positions);
    geometry.output[blocked.first + i] = axis.extent;
  }
  check_shape(names.op, names.output, geometry.output);
  place_blocks(geometry, blocked);
  return geometry;
}

}  // namespace patchfold::ops
