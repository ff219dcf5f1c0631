// SPDX-License-Identifier: Apache-2.0
#include "python/native/rearrange.hpp"

#include "python/native/values.hpp"
#include "src/base/checked.hpp"

namespace patchfold::python {
namespace {

constexpr std::string_view rearrange_name = "rearrange";

/// Returns the byte strides of all parts. A product may wrap, which happens only in an array without elements, whose strides do not
/// matter.
Dims strides_of_parts(const Dims& strides, const Dims& counts, const Dims& parts) {
  Dims result = parts;
  int part = 0;
  for (int axis = 0; axis < counts.size(); ++axis) {
    part += static_cast<int>(counts[axis]);
    std::int64_t step = strides[axis];
    for (int inner = part - 1; inner >= part - counts[axis]; --inner) {
      result[inner] = step;
      step = wrapping_mul(step, parts[inner]);
    }
  }
  return result;
}

/// Returns the extents of axes that are made of parts: counts[i] parts for axis i.
Dims axes_of(const Dims& counts, const Dims& parts) {
  Dims shape;
  int part = 0;
  for (const std::int64_t count : counts) {
    std::int64_t extent = 1;
    for (std::int64_t i = 0; i < count; ++i) extent = wrapping_mul(extent, parts[part++]);
    shape.push_back(extent);
  }
  return shape;
}

Dims reordered(const Dims& values, const Dims& order) {
  Dims result;
  for (const std::int64_t place : order) result.push_back(values[static_cast<int>(place)]);
  return result;
}

void require_shape(std::string_view name, std::string_view whose, const Dims& given, const Dims& expected) {
  if (!(given == expected))
    throw Error({ErrorCode::shape, std::string(rearrange_name), std::string(name),
                 "must have the shape of " + std::string(whose), given, expected});
}

}  // namespace

Rearrangement::Rearrangement(nb::handle source, nb::handle order, nb::handle target)
    : order_(shape_of(rearrange_name, "order", order)), moved_counts_(shape_of(rearrange_name, "target", target)) {
  for (const nb::handle axis : nb::iter(source)) {
    const Dims parts = shape_of(rearrange_name, "source", axis);
    counts_.push_back(parts.size());
    parts_.append(parts);
  }
  shape_ = axes_of(counts_, parts_);
  moved_parts_ = reordered(parts_, order_);
  moved_shape_ = axes_of(moved_counts_, moved_parts_);
}

nb::object Rearrangement::call(nb::handle x, nb::handle out) const {
  static const Operator copy("copy", "x");
  const Operand src = operand_of(x, {rearrange_name, "x"}, false);
  require_shape("x", "the plan", src.view.shape, shape_);
  TensorView from = src.view;
  from.shape = moved_parts_;
  from.strides = reordered(strides_of_parts(src.view.strides, counts_, parts_), order_);
  if (out.is_none()) {
    const Plan plan = named(rearrange_name, [&] { return copy.prepare(from, nullptr, {}).plan; });
    const Output output(x, src, moved_shape_);
    run_plan(plan, rearrange_name, src.location, from.data, output.data());
    return output.result();
  }
  const Operand dst = operand_of(out, {rearrange_name, "out"}, true);
  require_shape("out", "the operator's result", dst.view.shape, moved_shape_);
  if (!same_elements(src, dst))
    throw Error({ErrorCode::dtype, std::string(rearrange_name), "out", "must have the element type of x", dtype_text(dst),
                 dtype_text(src)});
  TensorView to = dst.view;
  to.shape = moved_parts_;
  to.strides = strides_of_parts(dst.view.strides, moved_counts_, moved_parts_);
  const Plan plan = named(rearrange_name, [&] { return copy.prepare(from, &to, {}).plan; });
  run_plan(plan, rearrange_name, dst.location, from.data, to.data);
  return nb::borrow(out);
}

}  // namespace patchfold::python
