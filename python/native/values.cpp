// SPDX-License-Identifier: Apache-2.0
#include "python/native/values.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <optional>

#include "python/native/numpy_arrays.hpp"
#include "src/base/other_words.hpp"

namespace patchfold::python {
namespace {

/// The operator and the argument that an error names.
struct Place {
  std::string_view op;
  std::string_view argument;
};

[[noreturn]] void wrong_type(const Place& place, std::string_view rule, nb::handle object) {
  throw Error({ErrorCode::type, std::string(place.op), std::string(place.argument), std::string(rule),
               text_and_type_of(object), ""});
}

/// Returns whether an object is an array with axes. An array with axes counts as a list, even if it has one element and converts to
/// a number.
bool has_axes(nb::handle object) {
  const nb::object shape = nb::steal(PyObject_GetAttrString(object.ptr(), "shape"));
  if (!shape.is_valid()) {
    drop_answer();
    return false;
  }
  const int truth = PyObject_IsTrue(shape.ptr());
  if (truth < 0) nb::raise_python_error();
  return truth == 1;
}

/// Returns whether an object is one integer: an int or an object that can index a list, but no bool, and no array with axes
/// or a mask.
bool is_integer(nb::handle object) {
  if (PyLong_CheckExact(object.ptr())) return true;
  if (PyBool_Check(object.ptr())) return false;
  if (PyArray_Check(object.ptr())) {
    auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
    return PyArray_NDIM(array) == 0 && PyArray_ISINTEGER(array) && !is_masked(object);
  }
  return PyIndex_Check(object.ptr()) != 0 && !has_axes(object);
}

/// Returns what an object's __index__ returns. An exception from the object's own code is not caught; the interpreter's TypeError
/// becomes Error(type).
nb::object index_of(const Place& place, nb::handle object) {
  nb::object index = nb::steal(PyNumber_Index(object.ptr()));
  if (index.is_valid()) return index;
  nb::python_error error;
  if (!error.type().is(PyExc_TypeError) || error.traceback().is_valid()) throw error;
  wrong_type(place, "must be an integer", object);
}

std::int64_t integer_of(const Place& place, nb::handle object) {
  const nb::object index = index_of(place, object);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0)
    throw Error({ErrorCode::value, std::string(place.op), std::string(place.argument), "must fit into 64 bits",
                 text_of(index), "between -2**63 and 2**63 - 1"});
  return value;
}

/// The items of a sequence as a tuple; no tuple for an object that is no sequence.
struct Items {
  nb::object tuple{};
  bool cut = false;  ///< whether there may be more items

  bool is_valid() const { return tuple.is_valid(); }
  Py_ssize_t length() const { return PyTuple_Size(tuple.ptr()); }
  nb::handle operator[](Py_ssize_t i) const { return PyTuple_GetItem(tuple.ptr(), i); }
};

/// Returns the first 1000 items of a sequence, which may be endless. No argument may have as many, so the rest is not needed.
Items first_items(PyObject* sequence) {
  const nb::object iterator = nb::steal(PyObject_GetIter(sequence));
  if (!iterator.is_valid()) return {};
  nb::list items;
  constexpr std::size_t most = 1000;
  while (items.size() < most) {
    const nb::object item = nb::steal(PyIter_Next(iterator.ptr()));
    if (!item.is_valid()) break;
    items.append(item);
  }
  if (PyErr_Occurred()) return {};
  return {nb::steal(PyList_AsTuple(items.ptr())), items.size() == most};
}

/// Returns the items of a sequence that is no text. A list is copied, since the conversion of its items may run code that
/// changes the list.
Items items_of(nb::handle object) {
  PyObject* pointer = object.ptr();
  if (PyTuple_Check(pointer)) return {nb::borrow(object)};
  if (PyUnicode_Check(pointer) || PyBytes_Check(pointer) || PyDict_Check(pointer)) return {};
  if (!PySequence_Check(pointer) && !has_axes(object)) return {};  // torch's tensors are no sequences
  if (PyArray_Check(pointer) && PyArray_NDIM(reinterpret_cast<PyArrayObject*>(pointer)) == 0) return {};
  Items items = PyList_Check(pointer) ? Items{nb::steal(PyList_AsTuple(pointer))} : first_items(pointer);
  if (!items.is_valid()) drop_answer();
  return items;
}

/// Returns the integers of a sequence; nothing for an object that is no sequence or holds other objects.
std::optional<Dims> integers_of(const Place& place, const Items& items) {
  if (!items.is_valid()) return std::nullopt;
  const Py_ssize_t length = items.length();
  if (length > max_rank)
    throw Error({ErrorCode::length, std::string(place.op), std::string(place.argument), "has too many entries",
                 std::to_string(length) + (items.cut ? " or more" : ""), "at most " + std::to_string(max_rank)});
  Dims values;
  for (Py_ssize_t i = 0; i < length; ++i) {
    if (!is_integer(items[i])) return std::nullopt;
    values.push_back(integer_of(place, items[i]));
  }
  return values;
}

std::optional<PadsList> pairs_of(const Place& place, const Items& items) {
  if (!items.is_valid() || items.length() > max_rank) return std::nullopt;
  PadsList pairs;
  for (Py_ssize_t i = 0; i < items.length(); ++i) {
    const auto pair = integers_of(place, items_of(items[i]));
    if (!pair || pair->size() != 2) return std::nullopt;
    pairs.push_back({(*pair)[0], (*pair)[1]});
  }
  return pairs;
}

std::optional<ArgumentValue> number_of(const Place& place, nb::handle object) {
  PyObject* pointer = object.ptr();
  if (PyBool_Check(pointer) || PyArray_IsScalar(pointer, Bool)) return ArgumentValue(Scalar(PyObject_IsTrue(pointer)));
  if (is_integer(object)) {
    const nb::object index = index_of(place, object);
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow == 0) return ArgumentValue(Scalar(static_cast<std::int64_t>(value)));
    const unsigned long long large = PyLong_AsUnsignedLongLong(index.ptr());
    if (!PyErr_Occurred()) return ArgumentValue(Scalar(static_cast<std::uint64_t>(large)));
    PyErr_Clear();
    throw Error({ErrorCode::value, std::string(place.op), std::string(place.argument), "must fit into 64 bits",
                 text_of(index), "between -2**63 and 2**64 - 1"});
  }
  if (PyComplex_Check(pointer) || PyArray_IsScalar(pointer, ComplexFloating)) {
    const nb::object value = nb::handle(reinterpret_cast<PyObject*>(&PyComplex_Type))(object);
    return ArgumentValue(
        Scalar(std::complex<double>(PyComplex_RealAsDouble(value.ptr()), PyComplex_ImagAsDouble(value.ptr()))));
  }
  if (!PyType_GetSlot(Py_TYPE(pointer), Py_nb_float) || has_axes(object)) return std::nullopt;
  if (PyArray_Check(pointer) && is_masked(object)) return std::nullopt;
  const double value = PyFloat_AsDouble(pointer);
  if (!PyErr_Occurred()) return ArgumentValue(Scalar(value));
  drop_answer();
  return std::nullopt;
}

/// Returns the value of an argument that its system passes as a tensor, such as a shape; nothing for an object that is no
/// NumPy array. The value has the array's type and shape too, since operators check them.
std::optional<ArgumentValue> index_tensor_of(const Place& place, nb::handle object) {
  if (!PyArray_Check(object.ptr())) return std::nullopt;
  auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
  if (!PyArray_ISINTEGER(array) || is_masked(object)) wrong_type(place, "must hold integers", object);
  const nb::object flat = nb::steal(PyArray_Ravel(array, NPY_CORDER));
  if (!flat.is_valid()) nb::raise_python_error();
  const auto values = integers_of(place, items_of(flat));
  if (!values) wrong_type(place, "must hold integers", object);
  IndexTensor tensor{*values, {}, dtype_of(PyArray_DESCR(array)).value_or(DType::int64)};
  for (int axis = 0; axis < PyArray_NDIM(array); ++axis) tensor.shape.push_back(PyArray_DIM(array, axis));
  return ArgumentValue(tensor);
}

std::string quoted(std::span<const std::string_view> words) {
  std::string text;
  for (const auto word : words) text += (text.empty() ? "'" : ", '") + std::string(word) + "'";
  return text;
}

constexpr std::array<std::string_view, 4> padding_rules = {"valid", "same", "same_upper", "same_lower"};

[[noreturn]] void wrong_word(const Place& place, nb::handle object, const std::string& rule, const std::string& expected) {
  throw Error({ErrorCode::value, std::string(place.op), std::string(place.argument), rule, text_of(object), expected});
}

/// Returns the one of `words` that a text means: the text itself, or patchfold's word for another system's. Returns nothing for
/// other texts.
std::optional<std::string> word_of(nb::handle object, std::span<const std::string_view> words) {
  const std::string text = utf8_of(object);
  for (const std::string_view word : {std::string_view(text), word_here(text)})
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::string(word);
  return std::nullopt;
}

}  // namespace

std::string what_is_expected(const ArgumentSpec& argument) {
  switch (argument.kind) {
    case ArgumentKind::integer: return "an integer";
    case ArgumentKind::integers: return "a list of integers";
    case ArgumentKind::axes: return "an integer, or a list with one for each spatial axis";
    case ArgumentKind::pairs: return "a list of pairs (begin, end)";
    case ArgumentKind::padding: return "pads, or a rule";
    case ArgumentKind::number: return "a number";
    case ArgumentKind::boolean: return "True or False";
    case ArgumentKind::choice: return "one of " + quoted(argument.choices);
  }
  return "";
}

ArgumentValue value_of(const OperatorSpec& op, const ArgumentSpec& argument, nb::handle object) {
  const Place place{op.name, argument.name};
  if (argument.is_input)
    if (auto tensor = index_tensor_of(place, object)) return *std::move(tensor);
  switch (argument.kind) {
    case ArgumentKind::integer:
      if (!is_integer(object)) wrong_type(place, "must be an integer", object);
      return integer_of(place, object);
    case ArgumentKind::integers:
      if (const auto values = integers_of(place, items_of(object))) return *values;
      wrong_type(place, "must be a sequence of integers", object);
    case ArgumentKind::axes:
      if (is_integer(object)) return integer_of(place, object);
      if (const auto values = integers_of(place, items_of(object))) return *values;
      wrong_type(place, "must be an integer or a sequence of integers", object);
    case ArgumentKind::pairs:
      if (const auto pairs = pairs_of(place, items_of(object))) return *pairs;
      wrong_type(place, "must be a sequence of pairs (begin, end)", object);
    case ArgumentKind::padding:
      if (is_integer(object)) return integer_of(place, object);
      if (PyUnicode_Check(object.ptr())) {
        if (auto word = word_of(object, padding_rules)) return *std::move(word);
        wrong_word(place, object, "must be a rule or numbers", quoted(padding_rules) + ", or numbers");
      }
      if (const Items items = items_of(object); items.is_valid()) {
        if (const auto values = integers_of(place, items)) return *values;
        if (const auto pairs = pairs_of(place, items)) return *pairs;
      }
      wrong_type(place,
                 "must be an integer, a sequence of integers or of pairs (begin, end), 'valid', 'same', 'same_upper' or "
                 "'same_lower'",
                 object);
    case ArgumentKind::number:
      if (auto number = number_of(place, object)) return *std::move(number);
      wrong_type(place, "must be a number", object);
    case ArgumentKind::boolean:
      if (!PyBool_Check(object.ptr()) && !PyArray_IsScalar(object.ptr(), Bool))
        wrong_type(place, "must be True or False", object);
      return static_cast<std::int64_t>(PyObject_IsTrue(object.ptr()));
    case ArgumentKind::choice:
      if (!PyUnicode_Check(object.ptr())) wrong_type(place, "must be one of " + quoted(argument.choices), object);
      if (auto word = word_of(object, argument.choices)) return *std::move(word);
      wrong_word(place, object, "must be one of " + quoted(argument.choices), "");
  }
  wrong_type(place, "is of a kind that this version does not know", object);
}

Dims shape_of(std::string_view op, std::string_view name, nb::handle object) {
  const Place place{op, name};
  if (const auto values = integers_of(place, items_of(object))) return *values;
  wrong_type(place, "must be a sequence of integers", object);
}

nb::tuple to_tuple(const Dims& dims) {
  nb::object tuple = nb::steal(PyTuple_New(dims.size()));
  for (int i = 0; i < dims.size(); ++i) PyTuple_SetItem(tuple.ptr(), i, PyLong_FromLongLong(dims[i]));
  return nb::borrow<nb::tuple>(tuple);
}

}  // namespace patchfold::python
