// SPDX-License-Identifier: Apache-2.0
// Reorder is a permutation of two dims, the channel and the tap.
#include "ops/operands.hpp"
#include "ops/patch_layout.hpp"
#include "tensor/checked.hpp"
#include "tensor/fail.hpp"

namespace patchfold {
namespace {

struct Rows {
  int axis;
  std::int64_t channels;
  std::int64_t taps;
};

Rows rows_of(const Reorder& op, const Dims& columns) {
  constexpr std::string_view name = Reorder::name;
  ops::check_given(name, "kernel_size", !op.kernel_size.empty());
  int rank = ops::spatial_rank(name, {ops::spatial("kernel_size", op.kernel_size)});
  if (rank < 0 && op.columns == Columns::flat)
    fail(ErrorCode::length, name, "kernel_size", "must be a list: flat columns do not tell the number of spatial axes",
         op.kernel_size, to_string(Dims::filled(2, op.kernel_size.values()[0])) + " for two");
  const int least = rank < 0 ? 3 : op.columns == Columns::flat ? 2 : rank + 1;
  if (columns.size() < least)
    fail_rank(name, "columns", "must have a C*K axis and the position axes", columns,
              "rank " + std::to_string(least) + " or more");
  if (rank < 0) rank = columns.size() - 2;
  ops::check_shape(name, "columns", columns);
  Checked taps = 1;
  for (int i = 0; i < rank; ++i) {
    if (ops::at(op.kernel_size, i) < 1)
      fail(ErrorCode::value, name, "kernel_size", "must be at least 1 on every axis", op.kernel_size);
    taps = taps * ops::at(op.kernel_size, i);
  }
  if (!taps.value())
    fail(ErrorCode::overflow, name, "kernel_size", "the number of taps must fit into 63 bits", op.kernel_size);
  const int axis = ops::column_axes(columns.size(), rank, op.layout, op.columns).rows;
  if (columns[axis] % *taps.value() != 0)
    fail(ErrorCode::divisible, name, "columns", "the C*K axis must be a multiple of the product of kernel_size",
         columns[axis], "a multiple of " + std::to_string(*taps.value()));
  return {axis, columns[axis] / *taps.value(), *taps.value()};
}

}  // namespace

Dims Reorder::output_shape(const Dims& columns_shape) const {
  rows_of(*this, columns_shape);
  return columns_shape;
}

Plan Reorder::plan(const ConstTensorView& columns_view, const TensorView& reordered) const {
  const Rows rows = rows_of(*this, columns_view.shape);
  ops::Operands operands = ops::check_operands(name, "columns", columns_view, "reordered", reordered, columns_view.shape);
  engine::Problem& problem = operands.problem;
  for (int axis = 0; axis < columns_view.shape.size(); ++axis) {
    const std::int64_t src = operands.src_strides[axis];
    const std::int64_t dst = operands.dst_strides[axis];
    if (axis != rows.axis) {
      problem.dims.push_back({columns_view.shape[axis], src, dst});
      continue;
    }
    const auto channel = [&](Order order, std::int64_t stride) {
      return order == Order::channel ? wrapping_mul(stride, rows.taps) : stride;
    };
    const auto tap = [&](Order order, std::int64_t stride) {
      return order == Order::kernel ? wrapping_mul(stride, rows.channels) : stride;
    };
    problem.dims.push_back({rows.channels, channel(source, src), channel(target, dst)});
    problem.dims.push_back({rows.taps, tap(source, src), tap(target, dst)});
  }
  return ops::make_plan(name, problem);
}

}  // namespace patchfold
