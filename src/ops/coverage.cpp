// SPDX-License-Identifier: Apache-2.0
// Coverage is fold of columns of ones. One element with strides of 0 stands for all of them; the engine counts them.
#include <array>

#include "ops/operands.hpp"
#include "ops/patches.hpp"
#include "tensor/encode.hpp"
#include "tensor/lasting.hpp"

namespace patchfold {
namespace {

constexpr ops::Names names{.op = Coverage::name, .image = "counts", .columns = "ones"};

ops::Geometry geometry_of(const Coverage& op) {
  ops::check_given(names.op, names.output_size, !op.output_size.empty());
  ops::check_given(names.op, names.kernel_size, !op.kernel_size.empty());
  ops::spatial_rank(names.op, {ops::spatial(names.output_size, Axes(op.output_size)),
                               ops::spatial(names.kernel_size, op.kernel_size), ops::spatial(names.stride, op.stride),
                               ops::spatial(names.dilation, op.dilation), ops::spatial(names.padding, op.padding)});
  ops::check_shape(names.op, names.output_size, op.output_size);
  return ops::make_geometry(names, op.output_size, op.kernel_size, op.stride, op.dilation, op.padding);
}

/// A one of every summable type, alive as long as the program.
const std::byte* one_of(DType dtype) {
  const auto& ones = lasting([] {
    std::array<std::array<std::byte, 16>, static_cast<std::size_t>(DType::opaque) + 1> table{};
    for (const DType type : dtypes())
      if (is_summable(type)) table[static_cast<std::size_t>(type)] = encode(Scalar(1), type, names.op, names.columns);
    return table;
  });
  return ones[static_cast<std::size_t>(dtype)].data();
}

}  // namespace

Dims Coverage::output_shape(const Dims&) const {
  return geometry_of(*this).extents();
}

Plan Coverage::plan(const ConstTensorView&, const TensorView& counts) const {
  const ops::Geometry geometry = geometry_of(*this);
  ops::check_summable(names.op, names.image, counts.dtype, static_cast<std::int64_t>(counts.element_size));
  const ConstTensorView one{one_of(counts.dtype), {1}, {0}, counts.dtype, counts.element_size};
  ops::Operands operands = ops::check_operands(names.op, names.columns, one, names.image, counts, output_size);
  engine::Problem& problem = operands.problem;
  problem.verb = engine::Verb::combine_sum;
  problem.own_source = one_of(counts.dtype);
  for (int i = 0; i < geometry.rank(); ++i) {
    engine::Window window = ops::window_of(geometry.axes[i]);
    window.image_stride = operands.dst_strides[i];
    problem.windows.push_back(window);
  }
  return ops::make_plan(names.op, problem);
}

void coverage(const Coverage& op, const TensorView& counts, Executor& executor) {
  run(op, {}, counts, executor);
}

}  // namespace patchfold
