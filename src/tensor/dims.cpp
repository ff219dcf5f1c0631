// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "patchfold/tensor.hpp"
#include "tensor/checked.hpp"
#include "tensor/fail.hpp"

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

}  // namespace patchfold
