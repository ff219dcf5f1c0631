// SPDX-License-Identifier: Apache-2.0
// Operators without windows. Reorder exchanges two indices of one axis, the channel and the tap; Copy keeps every index.
#include "base/checked.hpp"
#include "base/fail.hpp"
#include "ops/lowering.hpp"
#include "ops/operands.hpp"
#include "ops/patches.hpp"

namespace patchfold::ops {

Geometry geometry_of(const Reorder& op, const Dims& columns, const Names& names) {
  check_given(names.op, names.kernel_size, !op.kernel_size.empty());
  const bool is_flat = op.positions == Positions::flat;
  const SpatialArgument decides = deciding_argument(names.op, {spatial(names.kernel_size, op.kernel_size)});
  constexpr std::string_view needs = "must have a C*K axis and the position axes";
  if (decides.length < 0 && is_flat)
    fail(ErrorCode::length, names.op, names.kernel_size,
         "must be a list: flat columns do not tell the number of spatial axes", op.kernel_size);
  if (is_flat && columns.size() < 2) fail_rank(names.op, names.data, needs, columns, "rank 2 or more");
  const int rank = is_flat ? decides.length : spatial_rank(names, decides, {columns, needs, op.kernel_size});
  check_shape(names.op, names.data, columns);
  Checked product = 1;
  for (int i = 0; i < rank; ++i) {
    if (at(op.kernel_size, i) < 1)
      fail(ErrorCode::value, names.op, names.kernel_size, "must be at least 1 on every axis", op.kernel_size);
    product = product * at(op.kernel_size, i);
  }
  if (!product.value())
    fail(ErrorCode::overflow, names.op, names.kernel_size, "the number of taps must fit into 63 bits", op.kernel_size);
  const std::int64_t taps = *product.value();
  const int rows = channel_axes(columns.size(), is_flat ? 1 : rank, op.layout).channel;
  if (columns[rows] % taps != 0)
    fail(ErrorCode::divisible, names.op, names.data,
         "the C*K axis must be a multiple of the product of " + std::string(names.kernel_size), columns[rows],
         ErrorValue("a multiple of ", taps));
  const std::int64_t channels = columns[rows] / taps;

  Geometry geometry{.data = columns, .output = columns};
  const auto channel = [&](Order order) { return Place{rows, order == Order::channel ? taps : 1}; };
  const auto tap = [&](Order order) { return Place{rows, order == Order::kernel ? channels : 1}; };
  for (int axis = 0; axis < columns.size(); ++axis) {
    if (axis != rows) {
      geometry.shared.push_back({columns[axis], {axis, 1}, {axis, 1}});
      continue;
    }
    geometry.shared.push_back({channels, channel(op.source), channel(op.target)});
    geometry.shared.push_back({taps, tap(op.source), tap(op.target)});
  }
  return geometry;
}

Geometry geometry_of(const Copy&, const Dims& data, const Names& names) {
  check_shape(names.op, names.data, data);
  Geometry geometry{.data = data, .output = data};
  for (int axis = 0; axis < data.size(); ++axis) geometry.shared.push_back({data[axis], {axis, 1}, {axis, 1}});
  return geometry;
}

}  // namespace patchfold::ops
