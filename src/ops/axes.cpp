// SPDX-License-Identifier: Apache-2.0
#include "ops/axes.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "ops/operands.hpp"

namespace patchfold::ops {
namespace {

/// Returns the size; throws Error(overflow) unless its magnitude is below size_limit.
std::int64_t bounded(Checked size, std::string_view op, std::string_view argument, std::int64_t given) {
  if (!size.is_below())
    fail(ErrorCode::overflow, op, argument, "extents, pads and effective kernels must stay below 2^60", given);
  return *size.value();
}

Pads pads_of(const Padding& padding, int i, const SpatialAxis& axis, std::int64_t effective) {
  switch (padding.rule()) {
    case Padding::Rule::given: return padding.pads()[padding.is_scalar() ? 0 : i];
    case Padding::Rule::valid: return {};
    case Padding::Rule::same_upper:
    case Padding::Rule::same_lower: break;
  }
  // The last position starts within the extent, so (ceil(I / s) - 1) * s < I.
  const std::int64_t start_of_last = axis.extent == 0 ? 0 : (ceil_div(axis.extent, axis.stride) - 1) * axis.stride;
  const std::int64_t total = axis.extent == 0 ? 0 : std::max<std::int64_t>(0, start_of_last + effective - axis.extent);
  const std::int64_t begin = padding.rule() == Padding::Rule::same_lower ? (total + 1) / 2 : total / 2;
  return {begin, total - begin};
}

}  // namespace

Dims extents_of(const Geometry& geometry) {
  Dims list;
  for (const SpatialAxis& axis : geometry.axes) list.push_back(axis.extent);
  return list;
}

void check_positions(const Geometry& geometry, const ArgumentNames& names) {
  Dims patch, padded;
  bool empty = false;
  for (const SpatialAxis& axis : geometry.axes) {
    patch.push_back((axis.kernel - 1) * axis.dilation + 1);
    padded.push_back(axis.extent + axis.pad_begin + axis.pad_end);
    empty = empty || axis.positions == 0;
  }
  if (empty)
    fail(ErrorCode::value, names.op, names.kernel_size, "a patch must fit into the padded image",
         ErrorValue("patches of ", patch, " and an image of ", padded));
}

Dims positions_of(const Geometry& geometry) {
  Dims list;
  for (const SpatialAxis& axis : geometry.axes) list.push_back(axis.positions);
  return list;
}

SpatialArgument spatial(std::string_view name, const Axes& axes) {
  return {name, axes.is_scalar() ? -1 : axes.values().size()};
}
SpatialArgument spatial(std::string_view name, const Padding& padding) {
  const bool list = padding.rule() == Padding::Rule::given && !padding.is_scalar();
  return {name, list ? padding.pads().size() : -1};
}

SpatialArgument deciding_argument(std::string_view op, std::initializer_list<SpatialArgument> arguments) {
  SpatialArgument decisive{"", -1};
  for (const SpatialArgument& argument : arguments) {
    if (argument.length < 0) continue;
    if (argument.length == 0)
      fail(ErrorCode::length, op, argument.name, "must have one entry for each spatial axis, at least one", "an empty list");
    if (decisive.length < 0) decisive = argument;
    if (argument.length != decisive.length)
      fail(ErrorCode::length, op, argument.name, "must have as many entries as " + text(decisive.name), argument.length,
           decisive.length);
  }
  return decisive;
}

int spatial_rank(const ArgumentNames& names, const SpatialArgument& decides, const CountedTensor& tensor) {
  const Dims& shape = tensor.shape;
  const int listed = decides.length;
  const int least = listed < 0 ? 3 : listed + 1;
  if (shape.size() < least)
    fail_rank(names.op, names.data, tensor.needs, shape,
              listed < 0 ? ErrorValue("rank 4") : ErrorValue("rank ", least, " or more"));
  if (listed >= 0) return listed;
  if (shape.size() == 4) return 2;
  if (tensor.kernel.values()[0] < 1)
    fail(ErrorCode::value, names.op, names.kernel_size, "must be at least 1 on every axis", tensor.kernel);
  fail_rank(names.op, names.data, one_number_is_ambiguous, shape, {});
}

void check_given(std::string_view op, std::string_view name, bool given) {
  if (!given) fail(ErrorCode::missing, op, name, "must be given");
}

Dims spread(const Axes& axes, int rank) {
  return axes.is_scalar() ? Dims::filled(rank, axes.values()[0]) : axes.values();
}

void add_axes(Geometry& geometry, const Dims& extents, const Sliding& sliding, const ArgumentNames& names) {
  Dims kernels;
  for (int i = 0; i < extents.size(); ++i) {
    SpatialAxis axis{.extent = extents[i],
                     .kernel = at(sliding.kernel, i),
                     .stride = at(sliding.stride, i),
                     .dilation = at(sliding.dilation, i)};
    const auto require = [&](std::string_view name, const Axes& list, std::int64_t value, std::int64_t bound) {
      if (value < bound)
        fail(ErrorCode::value, names.op, name, "must be at least " + std::to_string(bound) + " on every axis", list);
    };
    bounded(axis.extent, names.op, names.output_size, axis.extent);
    require(names.kernel_size, sliding.kernel, axis.kernel, 1);
    require(names.stride, sliding.stride, axis.stride, 1);
    require(names.dilation, sliding.dilation, axis.dilation, 0);
    const bool dilated = axis.dilation > 1 && Checked(axis.kernel).is_below();
    const std::int64_t effective =
        bounded(Checked(axis.kernel - 1) * Checked(axis.dilation) + Checked(1), names.op,
                dilated ? names.dilation : names.kernel_size, dilated ? axis.dilation : axis.kernel);
    const Pads pads = pads_of(sliding.padding, i, axis, effective);
    axis.pad_begin = bounded(pads.begin, names.op, names.padding, pads.begin);
    axis.pad_end = bounded(pads.end, names.op, names.padding, pads.end);
    const std::int64_t slack = axis.extent + axis.pad_begin + axis.pad_end - effective;
    axis.positions = slack < 0 ? 0 : slack / axis.stride + 1;
    kernels.push_back(axis.kernel);
    geometry.axes.push_back(axis);
  }
  const Dims per_axis = positions_of(geometry);
  const Checked taps = checked_product(kernels);
  const Checked positions = checked_product(per_axis);
  if (!taps.value())
    fail(ErrorCode::overflow, names.op, names.kernel_size, "the number of taps must fit into 63 bits", sliding.kernel);
  if (!positions.value())
    fail(ErrorCode::overflow, names.op, names.padding, "the number of positions must fit into 63 bits", per_axis);
  geometry.taps = *taps.value();
  geometry.positions = *positions.value();
}

void place_taps(Geometry& geometry, int axis, std::int64_t step) {
  for (int i = geometry.axes.size() - 1; i >= 0; --i) {
    geometry.axes[i].tap = {axis, step};
    step = wrapping_mul(step, geometry.axes[i].kernel);
  }
}

void place_positions(Geometry& geometry, int axis, std::int64_t step) {
  for (int i = geometry.axes.size() - 1; i >= 0; --i) {
    geometry.axes[i].position = {axis, step};
    step = wrapping_mul(step, geometry.axes[i].positions);
  }
}

}  // namespace patchfold::ops
