// SPDX-License-Identifier: Apache-2.0
// Coverage is the fold of columns of ones. The columns are not in memory: the engine counts the taps that point at each element.
#include "ops/axes.hpp"
#include "ops/lowering.hpp"
#include "ops/operands.hpp"

namespace patchfold {

void coverage(const Coverage& op, const TensorView& counts, Executor& executor) {
  run(op, {}, counts, executor);
}

namespace ops {

Geometry geometry_of(const Coverage& op, const Dims&, const Names& names) {
  check_given(names.op, names.output_size, !op.output_size.empty());
  check_given(names.op, names.kernel_size, !op.kernel_size.empty());
  deciding_argument(names.op, {spatial(names.output_size, Axes(op.output_size)), spatial(names.kernel_size, op.kernel_size),
                               spatial(names.stride, op.stride), spatial(names.dilation, op.dilation),
                               spatial(names.padding, op.padding)});
  check_shape(names.op, names.output_size, op.output_size);
  Geometry geometry{.direction = Geometry::Direction::combine, .sums = true, .has_data = false, .output = op.output_size};
  add_axes(geometry, op.output_size, {op.kernel_size, op.stride, op.dilation, op.padding}, names);
  for (int i = 0; i < geometry.axes.size(); ++i) geometry.axes[i].image_axis = i;
  return geometry;
}

}  // namespace ops
}  // namespace patchfold
