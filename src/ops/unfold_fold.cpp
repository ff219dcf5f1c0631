// SPDX-License-Identifier: Apache-2.0
#include "ops/operands.hpp"
#include "ops/patch_layout.hpp"
#include "ops/patches.hpp"
#include "tensor/checked.hpp"
#include "tensor/encode.hpp"
#include "tensor/fail.hpp"

namespace patchfold {
namespace ops {
namespace {

using engine::Problem;
using engine::Verb;

/// What unfold and fold come to for tensors of certain shapes.
struct Patches {
  Geometry geometry{};
  Dims batch{};
  std::int64_t channels = 1;
  Layout layout;
  Order order;
  Columns columns;

  Dims shape(std::int64_t channel_axis, const Dims& others) const {
    Dims shape = batch;
    if (layout == Layout::channels_first) shape.push_back(channel_axis);
    shape.append(others);
    if (layout == Layout::channels_last) shape.push_back(channel_axis);
    return shape;
  }
  Dims image_shape() const { return shape(channels, geometry.extents()); }
  Dims columns_shape(const Names& names) const {
    const auto rows = checked_mul(channels, geometry.taps);
    if (!rows)
      fail(ErrorCode::overflow, names.op, names.kernel_size, "channels * taps must fit into 63 bits", geometry.taps);
    return shape(*rows, columns == Columns::flat ? Dims{geometry.positions} : geometry.positions_per_axis());
  }

  /// Adds the dims and windows of an image and columns with these byte strides to a problem.
  void lower(Problem& problem, const Dims& image_strides, const Dims& columns_strides) const {
    const ImageAxes image = image_axes(image_strides.size(), geometry.rank(), layout);
    const ColumnAxes column = column_axes(columns_strides.size(), geometry.rank(), layout, columns);
    const ColumnStrides strides = column_strides(column, columns_strides, geometry, channels, order, columns);
    const auto add_dim = [&](std::int64_t extent, std::int64_t image_stride, std::int64_t column_stride) {
      if (problem.verb == Verb::extract)
        problem.dims.push_back({extent, image_stride, column_stride});
      else
        problem.dims.push_back({extent, column_stride, image_stride});
    };
    for (int i = 0; i < batch.size(); ++i) add_dim(batch[i], image_strides[i], columns_strides[i]);
    add_dim(channels, image_strides[image.channel], strides.channel);
    for (int i = 0; i < geometry.rank(); ++i) {
      engine::Window window = window_of(geometry.axes[i]);
      window.image_stride = image_strides[image.spatial + i];
      window.tap_stride = strides.taps[i];
      window.position_stride = strides.positions[i];
      problem.windows.push_back(window);
    }
  }
};

Patches patches_of(const Unfold& op, const Dims& image, const Names& names) {
  check_given(names.op, names.kernel_size, !op.kernel_size.empty());
  int rank = spatial_rank(names.op, {spatial(names.kernel_size, op.kernel_size), spatial(names.stride, op.stride),
                                     spatial(names.dilation, op.dilation), spatial(names.padding, op.padding)});
  if (rank < 0) {
    if (image.size() == 3)
      fail_rank(names.op, names.image,
                "a tensor of rank 3 is one image of 2 spatial axes or a batch of 1; give a list to say which", image,
                text(names.kernel_size) + " = " + to_string(Dims::filled(2, op.kernel_size.values()[0])) + " or " +
                    to_string(Dims::filled(1, op.kernel_size.values()[0])));
    if (image.size() < 3)
      fail_rank(names.op, names.image, "must have a batch, a channel and spatial axes", image, "rank 4 or more");
    rank = image.size() - 2;
  }
  if (image.size() < rank + 1)
    fail_rank(names.op, names.image, "must have a channel axis and the spatial axes", image,
              "rank " + std::to_string(rank + 1) + " or more");
  check_shape(names.op, names.image, image);
  const ImageAxes axes = image_axes(image.size(), rank, op.layout);
  return {make_geometry(names, image.slice(axes.spatial, axes.spatial + rank), op.kernel_size, op.stride, op.dilation,
                        op.padding),
          image.slice(0, axes.batch),
          image[axes.channel],
          op.layout,
          op.order,
          op.columns};
}

Patches patches_of(const Fold& op, const Dims& columns, const Names& names) {
  check_given(names.op, names.output_size, !op.output_size.empty());
  check_given(names.op, names.kernel_size, !op.kernel_size.empty());
  const int rank = spatial_rank(names.op, {spatial(names.output_size, Axes(op.output_size)),
                                           spatial(names.kernel_size, op.kernel_size), spatial(names.stride, op.stride),
                                           spatial(names.dilation, op.dilation), spatial(names.padding, op.padding)});
  const int least = op.columns == Columns::flat ? 2 : rank + 1;
  if (columns.size() < least)
    fail_rank(names.op, names.columns, "must have a C*K axis and the position axes", columns,
              "rank " + std::to_string(least) + " or more");
  check_shape(names.op, names.columns, columns);
  check_shape(names.op, names.output_size, op.output_size);
  Patches patches{make_geometry(names, op.output_size, op.kernel_size, op.stride, op.dilation, op.padding),
                  {},
                  1,
                  op.layout,
                  op.order,
                  op.columns};
  const ColumnAxes axes = column_axes(columns.size(), rank, op.layout, op.columns);
  const std::int64_t rows = columns[axes.rows];
  const std::int64_t taps = patches.geometry.taps;
  if (rows % taps != 0)
    fail(ErrorCode::divisible, names.op, names.columns,
         "the C*K axis must be a multiple of the product of " + text(names.kernel_size), rows,
         "a multiple of " + std::to_string(taps));
  const Dims per_axis = patches.geometry.positions_per_axis();
  const bool flat = op.columns == Columns::flat;
  const Dims given = flat ? Dims{columns[axes.positions]} : columns.slice(axes.positions, axes.positions + rank);
  if (!(given == (flat ? Dims{patches.geometry.positions} : per_axis)))
    fail(ErrorCode::position_count, names.op, names.columns,
         "the number of positions must be that of the sizes, strides, dilations and pads",
         flat ? text(given[0]) : text(given),
         flat ? std::to_string(patches.geometry.positions) + " = product of " + to_string(per_axis) : to_string(per_axis));
  patches.batch = columns.slice(0, axes.batch);
  patches.channels = rows / taps;
  return patches;
}

/// A mode that copies from the image needs an image to copy from.
void check_padding_mode(const Unfold& op, const Geometry& geometry, const Names& names) {
  if (op.padding_mode == PaddingMode::constant || geometry.positions == 0) return;
  for (const AxisGeometry& axis : geometry.axes)
    if (axis.extent == 0)
      fail(ErrorCode::value, names.op, "padding_mode", "only the mode constant can pad an axis without elements",
           geometry.extents());
}

Patches unfold_patches(const Unfold& op, const Dims& image, const Names& names) {
  Patches patches = patches_of(op, image, names);
  check_padding_mode(op, patches.geometry, names);
  return patches;
}

}  // namespace

Dims unfold_shape(const Unfold& op, const Dims& image, const Names& names) {
  const Dims shape = unfold_patches(op, image, names).columns_shape(names);
  check_shape(names.op, names.columns, shape);
  return shape;
}

Plan unfold_plan(const Unfold& op, const ConstTensorView& image, const TensorView& columns, const Names& names) {
  const Patches patches = unfold_patches(op, image.shape, names);
  Operands operands = check_operands(names.op, names.image, image, names.columns, columns, patches.columns_shape(names));
  Problem& problem = operands.problem;
  problem.verb = Verb::extract;
  problem.fill = encode(op.value, image.dtype, names.op, "value");
  patches.lower(problem, operands.src_strides, operands.dst_strides);
  for (engine::Window& window : problem.windows) window.mode = op.padding_mode;
  return make_plan(names.op, problem);
}

Dims fold_shape(const Fold& op, const Dims& columns, const Names& names) {
  const Dims shape = patches_of(op, columns, names).image_shape();
  check_shape(names.op, names.image, shape);
  return shape;
}

Plan fold_plan(const Fold& op, const ConstTensorView& columns, const TensorView& image, const Names& names, Verb verb) {
  const Patches patches = patches_of(op, columns.shape, names);
  if (verb == Verb::combine_sum)
    check_summable(names.op, names.columns, columns.dtype, static_cast<std::int64_t>(columns.element_size));
  Operands operands = check_operands(names.op, names.columns, columns, names.image, image, patches.image_shape());
  Problem& problem = operands.problem;
  problem.verb = verb;
  problem.accumulate = op.accumulate;
  patches.lower(problem, operands.dst_strides, operands.src_strides);
  return make_plan(names.op, problem);
}

}  // namespace ops

Dims Unfold::output_shape(const Dims& image) const {
  return ops::unfold_shape(*this, image, ops::unfold_names);
}
Plan Unfold::plan(const ConstTensorView& image, const TensorView& columns) const {
  return ops::unfold_plan(*this, image, columns, ops::unfold_names);
}

Dims Fold::output_shape(const Dims& columns) const {
  return ops::fold_shape(*this, columns, ops::fold_names);
}
Plan Fold::plan(const ConstTensorView& columns, const TensorView& image) const {
  return ops::fold_plan(*this, columns, image, ops::fold_names);
}

}  // namespace patchfold
