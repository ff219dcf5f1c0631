// SPDX-License-Identifier: Apache-2.0
// Reads tuples and lists through CPython's limited API, so that one build works with every Python from 3.12 on.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "python/native/numpy_api.hpp"

namespace patchfold::python {

namespace nb = nanobind;

/// A tuple or a list, whose items are borrowed.
class Sequence {
 public:
  explicit Sequence(PyObject* object) : object_(object), is_tuple_(PyTuple_Check(object) != 0) {}

  Py_ssize_t size() const { return is_tuple_ ? PyTuple_Size(object_) : PyList_Size(object_); }
  /// Returns an item; null if other code has made the list shorter.
  PyObject* operator[](Py_ssize_t i) const {
    PyObject* const item = is_tuple_ ? PyTuple_GetItem(object_, i) : PyList_GetItem(object_, i);
    if (!item) PyErr_Clear();
    return item;
  }

 private:
  PyObject* object_;
  bool is_tuple_;
};

#ifdef Py_GIL_DISABLED
/// Returns a copy of a list and of its inner lists, and any other object itself. No other thread can change the copy between two
/// reads.
inline nb::object own_copy(nb::handle object, bool nested = false) {
  if (!PyList_Check(object.ptr())) return nb::borrow(object);
  nb::object copy = nb::steal(PyList_GetSlice(object.ptr(), 0, PY_SSIZE_T_MAX));
  if (!copy.is_valid()) nb::raise_python_error();
  for (Py_ssize_t i = 0; !nested && i < PyList_Size(copy.ptr()); ++i)
    if (PyList_SetItem(copy.ptr(), i, own_copy(PyList_GetItem(copy.ptr(), i), true).release().ptr()) != 0)
      nb::raise_python_error();
  return copy;
}
#endif

/// The positional arguments of a call. Up to 24, enough for every operator, are stored without an allocation.
class Handles {
 public:
  explicit Handles(const nb::args& arguments) : size_(arguments.size()) {
    if (size_ > few_.size()) many_.resize(size_);
    nb::handle* to = many_.empty() ? few_.data() : many_.data();
    const Sequence items(arguments.ptr());
    for (std::size_t i = 0; i < size_; ++i) to[i] = items[static_cast<Py_ssize_t>(i)];
#ifdef Py_GIL_DISABLED
    for (std::size_t i = 0; i < size_; ++i)
      if (PyList_Check(to[i].ptr())) to[i] = copies_.emplace_back(own_copy(to[i]));
#endif
  }
  operator std::span<const nb::handle>() const { return {many_.empty() ? few_.data() : many_.data(), size_}; }

 private:
#ifdef Py_GIL_DISABLED
  std::vector<nb::object> copies_;
#endif
  std::array<nb::handle, 24> few_;
  std::vector<nb::handle> many_;
  std::size_t size_;
};

}  // namespace patchfold::python
