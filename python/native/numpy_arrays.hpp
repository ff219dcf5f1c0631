// SPDX-License-Identifier: Apache-2.0
// NumPy arrays as tensors, and new NumPy arrays.
#pragma once

#include <optional>
#include <string_view>

#include "patchfold/tensor.hpp"
#include "python/native/errors.hpp"

namespace patchfold::python {

/// Which argument of which operator an array is, for errors.
struct ArrayRole {
  std::string_view op;
  std::string_view argument;
};

/// The element type, also for those that ml_dtypes adds; nothing if the library knows only the size of such elements.
std::optional<DType> dtype_of(PyArray_Descr* descr) noexcept;

/// The array where it lies, without a copy. Elements without a type of the library, and those in the other byte order, are
/// opaque. Throws Error(dtype) for elements that hold objects, Error(type) for masked arrays.
TensorView view_of(PyArrayObject* array, const ArrayRole& role);

/// Whether it is one of numpy.ma.
bool is_masked(nb::handle array);
/// Throws Error(type) if it is.
void refuse_masked(PyArrayObject* array, const ArrayRole& role);

/// A new row-major array of the type `descr`, with arbitrary content.
nb::object new_array(PyArray_Descr* descr, const Dims& shape);

std::string text_of(PyArray_Descr* descr);

}  // namespace patchfold::python
