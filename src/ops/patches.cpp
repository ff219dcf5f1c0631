// SPDX-License-Identifier: Apache-2.0
// Unfold and fold.
#include "ops/patches.hpp"

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "base/other_words.hpp"
#include "ops/lowering.hpp"
#include "ops/operands.hpp"

namespace patchfold::ops {

ChannelAxes channel_axes(int rank, int others, Layout layout) {
  const int batch = rank - others - 1;
  if (layout == Layout::channels_first) return {batch, batch, batch + 1};
  return {batch, rank - 1, batch};
}

void place_patches(Geometry& geometry, const PatchLayout& layout, const Names& names) {
  const bool is_flat = layout.positions == Positions::flat;
  const int rank = geometry.axes.size();
  const auto shape = [&](std::int64_t channels, const Dims& others) {
    Dims shape = layout.batch;
    if (layout.layout == Layout::channels_first) shape.push_back(channels);
    shape.append(others);
    if (layout.layout == Layout::channels_last) shape.push_back(channels);
    return shape;
  };
  const auto rows = checked_mul(layout.channels, geometry.taps);
  if (!rows) fail(ErrorCode::overflow, names.op, names.kernel_size, "channels * taps must fit into 63 bits", geometry.taps);
  if (geometry.extracts())
    geometry.output = shape(*rows, is_flat ? Dims{geometry.positions} : positions_of(geometry));
  else
    geometry.output = shape(layout.channels, extents_of(geometry));
  check_shape(names.op, names.output, geometry.output);

  const ChannelAxes image = channel_axes(geometry.image().size(), rank, layout.layout);
  const ChannelAxes columns = channel_axes(geometry.columns().size(), is_flat ? 1 : rank, layout.layout);
  const bool channel_is_slow = layout.order == Order::channel;
  for (int i = 0; i < layout.batch.size(); ++i) geometry.shared.push_back({layout.batch[i], {i, 1}, {i, 1}});
  geometry.shared.push_back({layout.channels, {image.channel, 1}, {columns.channel, channel_is_slow ? geometry.taps : 1}});
  place_taps(geometry, columns.channel, channel_is_slow ? 1 : layout.channels);
  if (is_flat) place_positions(geometry, columns.others, 1);
  for (int i = 0; i < rank; ++i) {
    geometry.axes[i].image_axis = image.others + i;
    if (!is_flat) geometry.axes[i].position = {columns.others + i, 1};
  }
}

namespace {

/// Throws Error if the padding mode copies from the image, and the image has an empty axis.
void check_padding_mode(const Unfold& op, const Geometry& geometry, const Names& names) {
  if (op.padding_mode == PaddingMode::constant || geometry.positions == 0) return;
  for (const SpatialAxis& axis : geometry.axes)
    if (axis.extent == 0)
      fail(ErrorCode::value, names.op, "padding_mode", "only the mode constant can pad an axis without elements",
           extents_of(geometry));
}

/// Throws Error if an argument is set that belongs to the other reduction.
void check_reduce(const Fold& op, const Names& names) {
  if (op.reduce == FoldReduce::mean && op.accumulate)
    fail(ErrorCode::value, names.op, "accumulate",
         "does not go with reduce mean: accumulate sums, and divide by the coverage at the end", "true", "false");
  if (op.reduce == FoldReduce::sum && !is_zero(op.fill))
    fail(ErrorCode::value, names.op, "fill", "is for reduce mean: a sum of no elements is 0", to_string(op.fill), 0);
}

}  // namespace

Geometry geometry_of(const Unfold& op, const Dims& image, const Names& names) {
  check_given(names.op, names.kernel_size, !op.kernel_size.empty());
  const SpatialArgument decides =
      deciding_argument(names.op, {spatial(names.kernel_size, op.kernel_size), spatial(names.stride, op.stride),
                                   spatial(names.dilation, op.dilation), spatial(names.padding, op.padding)});
  const int rank =
      spatial_rank(names, decides, {image, "must have a channel axis and the spatial axes", op.kernel_size});
  check_shape(names.op, names.data, image);
  const ChannelAxes axes = channel_axes(image.size(), rank, op.layout);
  Geometry geometry{.padding_mode = op.padding_mode, .value = op.value, .data = image};
  add_axes(geometry, image.slice(axes.others, axes.others + rank), {op.kernel_size, op.stride, op.dilation, op.padding},
           names);
  if (!op.allow_empty) check_positions(geometry, names);
  check_padding_mode(op, geometry, names);
  place_patches(geometry, {image.slice(0, axes.batch), image[axes.channel], op.layout, op.order, op.positions}, names);
  return geometry;
}

Geometry geometry_of(const Fold& op, const Dims& columns, const Names& names) {
  check_given(names.op, names.output_size, !op.output_size.empty());
  check_given(names.op, names.kernel_size, !op.kernel_size.empty());
  const int rank = deciding_argument(names.op, {spatial(names.output_size, Axes(op.output_size)),
                                                spatial(names.kernel_size, op.kernel_size), spatial(names.stride, op.stride),
                                                spatial(names.dilation, op.dilation), spatial(names.padding, op.padding)})
                       .length;
  const bool is_flat = op.positions == Positions::flat;
  const int least = is_flat ? 2 : rank + 1;
  if (columns.size() < least)
    fail_rank(names.op, names.data, "must have a C*K axis and the position axes", columns,
              ErrorValue("rank ", least, " or more"));
  check_shape(names.op, names.data, columns);
  check_shape(names.op, names.output_size, op.output_size);
  check_reduce(op, names);
  Geometry geometry{.direction = Geometry::Direction::combine,
                    .sums = true,
                    .accumulate = op.accumulate,
                    .means = op.reduce == FoldReduce::mean,
                    .value = op.fill,
                    .data = columns};
  add_axes(geometry, op.output_size, {op.kernel_size, op.stride, op.dilation, op.padding}, names);
  const ChannelAxes axes = channel_axes(columns.size(), is_flat ? 1 : rank, op.layout);
  const std::int64_t rows = columns[axes.channel];
  if (rows % geometry.taps != 0)
    fail(ErrorCode::divisible, names.op, names.data,
         "the C*K axis must be a multiple of the product of " + std::string(names.kernel_size), rows,
         ErrorValue("a multiple of ", geometry.taps));
  const Dims per_axis = positions_of(geometry);
  const Dims given = columns.slice(axes.others, axes.others + (is_flat ? 1 : rank));
  constexpr std::string_view rule = "must have one column for each position of the kernel in the padded image";
  if (is_flat ? given[0] != geometry.positions : given != per_axis) {
    if (checked_product(given).value() != 0) check_positions(geometry, names);
    if (!is_flat) fail(ErrorCode::position_count, names.op, names.data, rule, given, per_axis);
    fail(ErrorCode::position_count, names.op, names.data, rule, given[0],
         ErrorValue(geometry.positions, " = product of ", per_axis));
  }
  place_patches(geometry, {columns.slice(0, axes.batch), rows / geometry.taps, op.layout, op.order, op.positions}, names);
  return geometry;
}

}  // namespace patchfold::ops
