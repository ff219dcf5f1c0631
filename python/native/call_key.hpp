// SPDX-License-Identifier: Apache-2.0
// The key of a call's plan, made from Python objects, since converting them to argument values would take longer than the rest of a
// small call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "python/native/call.hpp"

namespace patchfold::python {

/// A key of the operator, its values and both tensors. If `dst` is null, the output is a new row-major tensor.
class CallKey : public detail::PlanKey {
 public:
  CallKey(const OperatorSpec& op, const TensorView& src, const TensorView* dst, std::span<const nb::handle> values)
      : PlanKey(Maker::python) {
    add(reinterpret_cast<std::uintptr_t>(&op), dst != nullptr);
    if (!op.data_input.empty()) add_form(src);
    if (dst) add_form(*dst);
    for (const nb::handle value : values) add_value(value.ptr());
  }

 private:
  /// The kind of a value. The key holds the kind before the value, so values of different kinds have different keys.
  enum Kind : std::int64_t { none, integer, boolean, real, word, list, array };

  /// Adds a value. Gives up the key, so that the plan is not cached, for kinds of values that calls rarely have.
  void add_value(PyObject* value) {
    if (value == Py_None) return add(none);
    if (PyLong_CheckExact(value)) return add_integer(value);
    if (PyUnicode_CheckExact(value)) return add_word(value);
    if (PyTuple_Check(value) || PyList_Check(value)) return add_list(value);
    if (PyBool_Check(value)) return add(boolean, value == Py_True);
    if (PyFloat_CheckExact(value)) return add(real, PyFloat_AsDouble(value));
    if (PyArray_IsScalar(value, Integer)) return add_scalar(value);
    if (PyArray_CheckExact(value)) return add_array(reinterpret_cast<PyArrayObject*>(value));
    give_up();
  }
  void add_integer(PyObject* value) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) return give_up();
    add(integer, number);
  }
  /// Adds a NumPy integer. Gives up the key for a duration, which NumPy counts among the integers, but which cannot be used as an
  /// index.
  void add_scalar(PyObject* value) {
    const nb::object index = nb::steal(PyNumber_Index(value));
    if (index.is_valid()) return add_integer(index.ptr());
    PyErr_Clear();
    give_up();
  }
  void add_list(PyObject* value) {
    const Sequence items(value);
    const Py_ssize_t size = items.size();
    add(list, size);
    for (Py_ssize_t i = 0; i < size && is_whole(); ++i) {
      PyObject* const item = items[i];
      if (!item) return give_up();
      add_value(item);
    }
  }
  void add_word(PyObject* value) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(value, &size);
    if (!text) {  // the text holds lone surrogates, which UTF-8 lacks
      PyErr_Clear();
      return give_up();
    }
    add(word, std::string_view(text, static_cast<std::size_t>(size)));
  }
  void add_array(PyArrayObject* value) {
    if (!PyArray_ISINTEGER(value) || !PyArray_ISCARRAY_RO(value)) return give_up();
    add(array, PyArray_TYPE(value));
    add(PyArray_NDIM(value));
    for (int axis = 0; axis < PyArray_NDIM(value); ++axis) add(PyArray_DIM(value, axis));
    add_bytes(PyArray_DATA(value), static_cast<std::size_t>(PyArray_NBYTES(value)));
  }
};

}  // namespace patchfold::python
