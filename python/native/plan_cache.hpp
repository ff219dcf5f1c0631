// SPDX-License-Identifier: Apache-2.0
// The plans that this thread made last, found again by all that went into them. A repeated small call would otherwise spend
// most of its time on planning.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "python/native/call.hpp"

namespace patchfold::python {

/// All that a plan depends on, as numbers: the operator, its values as Python gives them, both tensors' shapes, strides and
/// types, and the generation of plans, which changes with the instruction set.
class PlanKey {
 public:
  PlanKey(const OperatorSpec& op, const TensorView& src, const TensorView* dst, std::span<const nb::handle> values) {
    add(static_cast<std::int64_t>(detail::plan_generation()));
    add(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&op)));
    if (!op.data_input.empty()) add(src);
    add(dst != nullptr);
    if (dst) add(*dst);
    for (const nb::handle value : values) add(value.ptr());
  }
  /// Whether the numbers say all.
  bool is_whole() const { return size_ <= words_.size(); }
  std::uint64_t hash() const {
    std::uint64_t hash = 14695981039346656037u;
    for (std::size_t i = 0; i < size_; ++i) hash = (hash ^ static_cast<std::uint64_t>(words_[i])) * 1099511628211u;
    return hash ^ hash >> 32;
  }
  friend bool operator==(const PlanKey& a, const PlanKey& b) {
    return a.size_ == b.size_ && std::equal(a.words_.begin(), a.words_.begin() + a.size_, b.words_.begin());
  }

 private:
  /// What a value is, before its words: values of different kinds never look alike.
  enum Kind : std::int64_t { none, integer, boolean, real, word, list, array };

  void give_up() { size_ = words_.size() + 1; }
  void add(std::int64_t value) {
    if (size_ < words_.size())
      words_[size_++] = value;
    else
      give_up();
  }
  void add(Kind kind, std::int64_t value) {
    add(kind);
    add(value);
  }
  void add(const Dims& dims) {
    add(dims.size());
    for (const std::int64_t value : dims) add(value);
  }
  void add(const TensorView& view) {
    add(view.shape);
    add(view.strides);
    add(static_cast<std::int64_t>(view.dtype));
    add(static_cast<std::int64_t>(view.element_size));
  }
  /// Gives up for values of kinds that calls rarely have.
  void add(PyObject* value) {
    if (value == Py_None) return add(none);
    if (PyLong_CheckExact(value)) return add_integer(value);
    if (PyUnicode_CheckExact(value)) return add_word(value);
    if (PyTuple_Check(value) || PyList_Check(value)) return add_list(value);
    if (PyBool_Check(value)) return add(boolean, value == Py_True);
    if (PyFloat_CheckExact(value)) return add(real, std::bit_cast<std::int64_t>(PyFloat_AsDouble(value)));
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
  /// NumPy counts its durations among the integers, but they have no index.
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
      add(item);
    }
  }
  void add_word(PyObject* value) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(value, &size);
    if (!text) {  // lone surrogates
      PyErr_Clear();
      return give_up();
    }
    add(word);
    add_bytes(text, size);
  }
  void add_array(PyArrayObject* value) {
    if (!PyArray_ISINTEGER(value) || !PyArray_ISCARRAY_RO(value)) return give_up();
    add(array, PyArray_TYPE(value));
    add(PyArray_NDIM(value));
    for (int axis = 0; axis < PyArray_NDIM(value); ++axis) add(PyArray_DIM(value, axis));
    add_bytes(PyArray_DATA(value), PyArray_NBYTES(value));
  }
  void add_bytes(const void* bytes, std::int64_t size) {
    add(size);
    const auto words = static_cast<std::size_t>((size + 7) / 8);
    if (!is_whole() || words > words_.size() - size_) return give_up();
    if (words == 0) return;
    words_[size_ + words - 1] = 0;
    std::memcpy(&words_[size_], bytes, static_cast<std::size_t>(size));
    size_ += words;
  }

  std::array<std::int64_t, 160> words_;
  std::size_t size_ = 0;
};

class PlanCache {
 public:
  /// The plan of this key; make() is called if it is not there.
  template <class F>
  const Prepared& find(const PlanKey& key, F&& make) {
    if (!key.is_whole()) return fill(spare_, key, make);
    Pair& pair = pairs_[key.hash() % pairs_.size()];
    for (std::size_t i = 0; i < 2; ++i)
      if (pair.slots[i].key && *pair.slots[i].key == key) {
        pair.oldest = 1 - i;
        return pair.slots[i].prepared;
      }
    const std::size_t oldest = pair.oldest;
    pair.oldest = 1 - oldest;
    return fill(pair.slots[oldest], key, make);
  }

 private:
  struct Slot {
    std::optional<PlanKey> key{};
    Prepared prepared{};
  };
  /// Two calls whose keys have the same hash do not drive each other out.
  struct Pair {
    std::array<Slot, 2> slots{};
    std::size_t oldest = 0;
  };

  template <class F>
  static const Prepared& fill(Slot& slot, const PlanKey& key, F&& make) {
    slot.key.reset();
    slot.prepared = make();
    slot.key = key;
    return slot.prepared;
  }

  std::array<Pair, 32> pairs_{};
  Slot spare_{};  ///< for keys that do not say all
};

}  // namespace patchfold::python
