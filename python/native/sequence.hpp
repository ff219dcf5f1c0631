// SPDX-License-Identifier: Apache-2.0
// Tuples and lists, read by what the limited API has: one build for every Python from 3.12 on has no other way.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "python/native/numpy_api.hpp"

namespace patchfold::python {

namespace nb = nanobind;

/// A tuple or a list. Items are borrowed.
class Sequence {
 public:
  explicit Sequence(PyObject* object) : object_(object), is_tuple_(PyTuple_Check(object) != 0) {}

  Py_ssize_t size() const { return is_tuple_ ? PyTuple_Size(object_) : PyList_Size(object_); }
  /// Null if code that ran meanwhile has made the list shorter.
  PyObject* operator[](Py_ssize_t i) const {
    PyObject* const item = is_tuple_ ? PyTuple_GetItem(object_, i) : PyList_GetItem(object_, i);
    if (!item) PyErr_Clear();
    return item;
  }

 private:
  PyObject* object_;
  bool is_tuple_;
};

/// Arguments by position. As many as an operator has need no allocation.
class Handles {
 public:
  explicit Handles(const nb::args& arguments) : size_(arguments.size()) {
    if (size_ > few_.size()) many_.resize(size_);
    nb::handle* to = many_.empty() ? few_.data() : many_.data();
    const Sequence items(arguments.ptr());
    for (std::size_t i = 0; i < size_; ++i) to[i] = items[static_cast<Py_ssize_t>(i)];
  }
  operator std::span<const nb::handle>() const { return {many_.empty() ? few_.data() : many_.data(), size_}; }

 private:
  std::array<nb::handle, 24> few_;
  std::vector<nb::handle> many_;
  std::size_t size_;
};

}  // namespace patchfold::python
