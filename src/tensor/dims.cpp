// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <utility>

#include "base/checked.hpp"
#include "base/fail.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold {

void Dims::too_long() {
  fail(ErrorCode::limit, "tensor", "axes", "a list or a shape must have at most " + std::to_string(max_rank) + " entries");
}

std::string to_string(const Dims& dims) {
  std::string list = "[";
  for (int i = 0; i < dims.size(); ++i) list += (i ? ", " : "") + std::to_string(dims[i]);
  return list + "]";
}

std::string to_string(const Axes& axes) {
  return axes.is_scalar() ? std::to_string(axes.values()[0]) : to_string(axes.values());
}

std::string to_string(const Scalar& scalar) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);
  out.precision(17);
  switch (scalar.kind()) {
    case Scalar::Kind::signed_integer: out << scalar.as_signed(); break;
    case Scalar::Kind::unsigned_integer: out << scalar.as_unsigned(); break;
    case Scalar::Kind::real: out << scalar.real(); break;
    case Scalar::Kind::complex: out << scalar.real() << std::showpos << scalar.imaginary() << 'j'; break;
  }
  return out.str();
}

std::int64_t element_count(const Dims& shape) {
  for (const auto extent : shape)
    if (extent < 0) fail(ErrorCode::value, "tensor", "shape", "extents must be at least 0", shape);
  const Checked count = checked_product(shape);
  if (!count.value()) fail(ErrorCode::overflow, "tensor", "shape", "the number of elements must fit into 63 bits", shape);
  return *count.value();
}

Dims contiguous_strides(const Dims& shape, std::size_t element_size) {
  Dims strides = shape;
  if (element_count(shape) == 0) {
    for (auto& stride : strides) stride = 0;
    return strides;
  }
  Checked stride = element_size;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    if (stride.value()) strides[axis] = *stride.value();
    stride = stride * shape[axis];
  }
  if (!stride.value()) fail(ErrorCode::overflow, "tensor", "shape", "the size in bytes must fit into 63 bits", shape);
  return strides;
}

namespace {

template <class View, class Pointer>
View make(Pointer data, const Dims& shape, DType dtype, std::size_t element_size) {
  return {data, shape, contiguous_strides(shape, element_size), dtype, element_size};
}

template <class View, class Pointer>
View make_strided(Pointer data, const Dims& shape, const Dims& element_strides, DType dtype) {
  if (element_strides.size() != shape.size())
    fail(ErrorCode::length, "tensor", "strides", "must have one entry for each axis", element_strides, shape.size());
  View view{data, shape, {}, dtype, size_of(dtype)};
  for (const std::int64_t stride : element_strides) {
    const Checked bytes = Checked(stride) * Checked(view.element_size);
    if (!bytes.value()) fail(ErrorCode::overflow, "tensor", "strides", "must fit into 63 bits in bytes", element_strides);
    view.strides.push_back(*bytes.value());
  }
  return view;
}

}  // namespace

TensorView contiguous(void* data, const Dims& shape, DType dtype) {
  return make<TensorView>(data, shape, dtype, size_of(dtype));
}
ConstTensorView contiguous(const void* data, const Dims& shape, DType dtype) {
  return make<ConstTensorView>(data, shape, dtype, size_of(dtype));
}
TensorView contiguous_opaque(void* data, const Dims& shape, std::size_t element_size) {
  return make<TensorView>(data, shape, DType::opaque, element_size);
}
ConstTensorView contiguous_opaque(const void* data, const Dims& shape, std::size_t element_size) {
  return make<ConstTensorView>(data, shape, DType::opaque, element_size);
}
TensorView strided(void* data, const Dims& shape, const Dims& element_strides, DType dtype) {
  return make_strided<TensorView>(data, shape, element_strides, dtype);
}
ConstTensorView strided(const void* data, const Dims& shape, const Dims& element_strides, DType dtype) {
  return make_strided<ConstTensorView>(data, shape, element_strides, dtype);
}

namespace detail {

void check_count(std::size_t elements, const Dims& shape) {
  if (std::cmp_not_equal(element_count(shape), elements))
    fail(ErrorCode::shape, "tensor", "shape", "must have as many elements as the range", shape, {elements, " elements"});
}

void fail_not_strided() {
  fail(ErrorCode::strides, "tensor", "span", "must have a layout with strides");
}

DType check_dlpack(int device, int rank, int code, int bits, int lanes) {
  constexpr int cpu = 1;
  if (device != cpu) fail(ErrorCode::value, "tensor", "device", "must be the CPU", device, cpu);
  if (rank < 0 || rank > max_rank)
    fail(ErrorCode::rank, "tensor", "ndim", "must be from 0 to " + std::to_string(max_rank), rank);
  for (const DTypeInfo& each : dtype_table)
    if (each.dlpack == code && each.size * 8 == bits && lanes == 1) return each.dtype;
  fail(ErrorCode::dtype, "tensor", "dtype", "must be an element type of this library",
       ErrorValue("code ", code, ", ", bits, " bits, ", lanes, " lanes"));
}

}  // namespace detail

}  // namespace patchfold
