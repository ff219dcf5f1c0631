// SPDX-License-Identifier: Apache-2.0
// NumPy arrays as tensors, and new NumPy arrays.
#pragma once

#include <optional>
#include <string_view>

#include "patchfold/tensor.hpp"
#include "python/native/errors.hpp"

namespace patchfold::python {

/// The operator and the argument that an error about an array names.
struct ArrayRole {
  std::string_view op;
  std::string_view argument;
};

/// Returns the element type, which may be a type of ml_dtypes; nothing for elements whose type the library does not know.
std::optional<DType> dtype_of(PyArray_Descr* descr) noexcept;

/// Returns the view of an array in its own memory. Elements of unknown types, and elements in the other byte order, are
/// opaque. Throws Error(dtype) for elements that hold objects, Error(type) for masked arrays.
TensorView view_of(PyArrayObject* array, const ArrayRole& role);

/// Returns whether an array is a masked array of numpy.ma.
bool is_masked(nb::handle array);
/// Throws Error(type) for a masked array.
void refuse_masked(PyArrayObject* array, const ArrayRole& role);

/// Returns a new row-major array of the type `descr`, with arbitrary content.
nb::object new_array(PyArray_Descr* descr, const Dims& shape);

std::string text_of(PyArray_Descr* descr);

}  // namespace patchfold::python
