// SPDX-License-Identifier: Apache-2.0
// Turns a geometry into a problem, and makes its plan.
#include "ops/lowering.hpp"

#include "base/checked.hpp"
#include "ops/change.hpp"
#include "ops/operands.hpp"
#include "tensor/encode.hpp"
#include "tensor/lasting.hpp"

namespace patchfold {
namespace {

/// Returns an element 1 of a summable type, in memory that exists until the program ends; such elements are the columns of
/// coverage.
const std::byte* one_of(DType dtype) {
  const auto& ones = lasting([] {
    std::array<std::array<std::byte, 16>, dtype_table.size()> table{};
    for (const DType type : dtypes())
      if (is_summable(type)) table[static_cast<std::size_t>(type)] = encode(Scalar(1), type, "coverage", "ones");
    return table;
  });
  return ones[static_cast<std::size_t>(dtype)].data();
}

engine::Verb verb_of(const Geometry& geometry) {
  if (geometry.extracts()) return engine::Verb::extract;
  if (geometry.means) return engine::Verb::combine_mean;
  return geometry.sums ? engine::Verb::combine_sum : engine::Verb::combine_copy;
}

/// Returns the bytes by which an element moves when an index grows by 1; 0 if the index moves no element.
std::int64_t bytes_of(Place place, const Dims& strides) {
  return place.step == 0 ? 0 : wrapping_mul(strides[place.axis], place.step);
}

}  // namespace

Plan Lowering::plan(const ConstTensorView& data, const TensorView& output) const {
  const Geometry& g = geometry;
  if (g.sums) {
    const ConstTensorView& summed = g.has_data ? data : output;
    ops::check_summable(names.op, g.has_data ? names.data : names.output, summed);
  }
  const std::byte* const own_source = g.has_data ? nullptr : one_of(output.dtype);
  const ConstTensorView one{own_source, {1}, {0}, output.dtype, output.element_size};
  ops::Operands operands =
      ops::check_operands(names.op, names.data, g.has_data ? data : one, names.output, output, g.output);
  engine::Problem& problem = operands.problem;
  problem.own_source = own_source;
  problem.verb = verb_of(g);
  problem.accumulate = g.accumulate;
  if (g.extracts() || g.means) problem.fill = encode(g.value, data.dtype, names.op, g.means ? "fill" : "value");
  const Dims& image = g.extracts() ? operands.src_strides : operands.dst_strides;
  const Dims& columns = g.extracts() ? operands.dst_strides : operands.src_strides;
  for (const SharedIndex& index : g.shared) {
    const std::int64_t in_image = bytes_of(index.image, image), in_columns = bytes_of(index.columns, columns);
    problem.dims.push_back(g.extracts() ? engine::Dim{index.extent, in_image, in_columns}
                                        : engine::Dim{index.extent, in_columns, in_image});
  }
  for (const SpatialAxis& axis : g.axes) {
    engine::Window window = ops::window_of(axis, g.padding_mode);
    window.image_stride = image[axis.image_axis];
    window.tap_stride = bytes_of(axis.tap, columns);
    window.position_stride = bytes_of(axis.position, columns);
    problem.windows.push_back(window);
  }
  return ops::make_plan(names.op, problem);
}

namespace ops {

engine::Window window_of(const SpatialAxis& axis, PaddingMode mode) {
  return {.kernel = axis.kernel,
          .positions = axis.positions,
          .stride = axis.stride,
          .dilation = axis.dilation,
          .pad_begin = axis.pad_begin,
          .extent = axis.extent,
          .mode = mode};
}

Lowering lower(const Neutral& op, const Dims& data, const Names& names) {
  try {
    return {std::visit([&](const auto& neutral) { return geometry_of(neutral, data, names); }, op), names};
  } catch (const Error& error) {
    throw with_hints(error, op, data, names);
  }
}

}  // namespace ops
}  // namespace patchfold
