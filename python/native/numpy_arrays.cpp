// SPDX-License-Identifier: Apache-2.0
#include "python/native/numpy_arrays.hpp"

#include <array>
#include <new>

namespace patchfold::python {
namespace {

/// Returns the element type for a NumPy type that ml_dtypes registered, by the name of its scalar type.
std::optional<DType> registered(const PyArray_Descr* descr) noexcept {
  const nb::object name = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(descr->typeobj), "__name__"));
  Py_ssize_t size = 0;
  const char* const text = name.is_valid() ? PyUnicode_AsUTF8AndSize(name.ptr(), &size) : nullptr;
  if (!text) {
    PyErr_Clear();
    return std::nullopt;
  }
  const std::string_view given(text, static_cast<std::size_t>(size));
  for (const DTypeInfo& info : dtype_table)
    if (info.numpy_kind == 'V' && info.dtype != DType::opaque && info.name == given) return info.dtype;
  return std::nullopt;
}

}  // namespace

bool is_masked(nb::handle array) {
  return !PyArray_CheckExact(array.ptr()) && nb::isinstance(array, nb::module_::import_("numpy.ma").attr("MaskedArray"));
}

void refuse_masked(PyArrayObject* array, const ArrayRole& role) {
  if (is_masked(reinterpret_cast<PyObject*>(array)))
    throw Error({ErrorCode::type, std::string(role.op), std::string(role.argument),
                 "masked arrays are not taken, since the mask would be lost", "", "x.data or x.filled(..)"});
}

std::optional<DType> dtype_of(PyArray_Descr* descr) noexcept {
  if (descr->type_num >= NPY_USERDEF) return registered(descr);
  for (const DTypeInfo& info : dtype_table)
    if (info.numpy_kind != 'V' && info.numpy_kind == descr->kind && info.size == PyDataType_ELSIZE(descr)) return info.dtype;
  return std::nullopt;
}

TensorView view_of(PyArrayObject* array, const ArrayRole& role) {
  PyArray_Descr* descr = PyArray_DESCR(array);
  if (PyDataType_REFCHK(descr) || !PyDataType_ISLEGACY(descr))
    throw Error({ErrorCode::dtype, std::string(role.op), std::string(role.argument),
                 "elements that hold Python objects cannot be moved as bytes", text_of(descr), "elements of a fixed size"});
  refuse_masked(array, role);
  if (PyArray_NDIM(array) > max_rank)
    throw Error({ErrorCode::rank, std::string(role.op), std::string(role.argument),
                 "must have at most " + std::to_string(max_rank) + " axes", std::to_string(PyArray_NDIM(array)), ""});
  TensorView view;
  view.data = PyArray_DATA(array);
  for (int axis = 0; axis < PyArray_NDIM(array); ++axis) {
    view.shape.push_back(PyArray_DIM(array, axis));
    view.strides.push_back(PyArray_STRIDE(array, axis));
  }
  view.element_size = static_cast<std::size_t>(PyDataType_ELSIZE(descr));
  view.dtype = PyArray_ISNOTSWAPPED(array) ? dtype_of(descr).value_or(DType::opaque) : DType::opaque;
  return view;
}

nb::object new_array(PyArray_Descr* descr, const Dims& shape) {
  std::array<npy_intp, max_rank> dims{};
  for (int axis = 0; axis < shape.size(); ++axis) dims[static_cast<std::size_t>(axis)] = shape[axis];
  Py_INCREF(reinterpret_cast<PyObject*>(descr));
  PyObject* array = PyArray_NewFromDescr(&PyArray_Type, descr, shape.size(), dims.data(), nullptr, nullptr, 0, nullptr);
  if (!array) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) nb::raise_python_error();
    PyErr_Clear();
    throw std::bad_alloc();  // more bytes than NumPy can count
  }
  return nb::steal(array);
}

std::string text_of(PyArray_Descr* descr) {
  return nb::str(nb::handle(reinterpret_cast<PyObject*>(descr))).c_str();
}

}  // namespace patchfold::python
