// SPDX-License-Identifier: Apache-2.0
#include "ops/operands.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "engine/compiled.hpp"
#include "tensor/held.hpp"

namespace patchfold::ops {
namespace {

ErrorValue type_of(const ConstTensorView& view) {
  if (view.dtype == DType::opaque) return {"opaque elements of ", view.element_size, " bytes"};
  return view.dtype;
}

/// Throws unless elements share no memory: each stride must step over all elements that the smaller strides reach.
void check_distinct(std::string_view op, std::string_view name, const TensorView& view, const Dims& strides) {
  std::array<std::pair<std::int64_t, std::int64_t>, max_rank> axes{};
  int count = 0;
  for (int axis = 0; axis < strides.size(); ++axis)
    if (view.shape[axis] > 1) axes[static_cast<std::size_t>(count++)] = {std::abs(strides[axis]), view.shape[axis]};
  std::sort(axes.begin(), axes.begin() + count);
  auto reach = static_cast<std::int64_t>(view.element_size);  // cannot overflow: the range of bytes is checked
  for (int i = 0; i < count; ++i) {
    const auto [stride, extent] = axes[static_cast<std::size_t>(i)];
    if (stride < reach)
      fail(ErrorCode::strides, op, name,
           "elements must not share memory: each stride must step over what smaller ones reach", view.strides,
           ErrorValue("a stride of at least ", reach, " bytes in place of ", stride));
    reach += stride * (extent - 1);
  }
}

}  // namespace

Sound check_view(std::string_view op, std::string_view name, const ConstTensorView& view) {
  check_shape(op, name, view.shape);
  if (view.strides.size() != view.shape.size())
    fail(ErrorCode::strides, op, name, "must have one stride for each axis", view.strides.size(), view.shape.size());
  const bool opaque = view.dtype == DType::opaque;
  if (!is_enumerator(view.dtype))
    fail(ErrorCode::dtype, op, name, "must have an element type of this library", static_cast<int>(view.dtype));
  check_held(op, name, view.dtype);
  if (opaque ? view.element_size == 0 || !Checked(view.element_size).is_below() : view.element_size != size_of(view.dtype))
    fail(ErrorCode::dtype, op, name, "the size of an element must be that of its type", view.element_size,
         opaque ? ErrorValue("at least 1") : ErrorValue(size_of(view.dtype)));

  Sound sound{view.strides, {}};
  Checked begin = 0;
  Checked end = view.element_size;
  bool empty = false;
  for (int axis = 0; axis < view.shape.size(); ++axis) {
    const std::int64_t extent = view.shape[axis];
    empty |= extent == 0;
    if (extent <= 1) sound.strides[axis] = 0;
    const Checked reach = Checked(sound.strides[axis]) * Checked(std::max<std::int64_t>(extent - 1, 0));
    (sound.strides[axis] < 0 ? begin : end) = (sound.strides[axis] < 0 ? begin : end) + reach;
  }
  if (empty) return {Dims::filled(view.shape.size(), 0), {}};
  if (!begin.is_below() || !end.is_below())
    fail(ErrorCode::overflow, op, name, "offsets in bytes must stay below 2^60", view.strides);
  sound.range = {*begin.value(), *end.value()};
  return sound;
}

void check_shape(std::string_view op, std::string_view argument, const Dims& shape) {
  for (const std::int64_t extent : shape)
    if (extent < 0) fail(ErrorCode::value, op, argument, "extents must be at least 0", shape);
  if (!checked_product(shape).is_below())
    fail(ErrorCode::overflow, op, argument, "the number of elements must stay below 2^60", shape);
  for (const std::int64_t extent : shape)
    if (!Checked(extent).is_below()) fail(ErrorCode::overflow, op, argument, "extents must stay below 2^60", shape);
}

Operands check_operands(std::string_view op, std::string_view src_name, const ConstTensorView& src,
                        std::string_view dst_name, const TensorView& dst, const Dims& dst_shape) {
  check_shape(op, dst_name, dst_shape);
  const Sound sound_src = check_view(op, src_name, src);
  if (!(dst.shape == dst_shape))
    fail(ErrorCode::shape, op, dst_name, "must have the shape of the operator's result", dst.shape, dst_shape);
  if (dst.dtype != src.dtype || dst.element_size != src.element_size)
    fail(ErrorCode::dtype, op, dst_name, std::string("must have the element type of ") + std::string(src_name), type_of(dst),
         type_of(src));
  const Sound sound_dst = check_view(op, dst_name, dst);
  if (sound_dst.range.begin != sound_dst.range.end) check_distinct(op, dst_name, dst, sound_dst.strides);

  Operands operands{sound_src.strides, sound_dst.strides, {}};
  operands.problem.dtype = src.dtype;
  operands.problem.element_size = static_cast<std::int64_t>(src.element_size);
  operands.problem.src_range = sound_src.range;
  operands.problem.dst_range = sound_dst.range;
  return operands;
}

void check_summable(std::string_view op, std::string_view argument, const ConstTensorView& tensor) {
  if (!is_summable(tensor.dtype))
    fail(ErrorCode::dtype, op, argument, "elements must be of a type that can be added", type_of(tensor),
         summable_type_names());
}

Plan make_plan(std::string_view op, const engine::Problem& problem) {
  return Plan(engine::compile(problem, op));
}

}  // namespace patchfold::ops
