// SPDX-License-Identifier: Apache-2.0
// The library's errors in Python's terms.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "patchfold/error.hpp"
#include "python/native/numpy_api.hpp"

namespace patchfold::python {

namespace nb = nanobind;

/// Turns every patchfold::Error that leaves a bound function into the Python exception that the catalogue names: an exception of
/// patchfold._errors, MemoryError or RuntimeError. Values in the message have Python's notation.
void translate_errors();

/// Runs f, and puts the name of the called function into errors of the underlying operator.
template <class F>
auto named(std::string_view name, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    Error::Parts parts = error.parts();
    parts.op = name;
    throw Error(std::move(parts));
  }
}

/// Returns the text with each list, such as [0, 1], written as a Python tuple: "tile 1 at position (0, 1)".
std::string in_python_terms(std::string_view text);

/// Clears Python's current exception, which the caller takes as the answer that an object lacks a property. Interrupts and
/// MemoryError are no such answer: they are raised.
void drop_answer();

/// Returns a str in UTF-8; characters that UTF-8 lacks are written with backslashes.
std::string utf8_of(nb::handle text);

/// Returns repr() of an object, cut to one short line.
std::string text_of(nb::handle object);
/// Returns a text with an object and its type: "'3' of type str".
std::string text_and_type_of(nb::handle object);

/// Returns the type of an object as a person would name it: "list" or "numpy.ndarray".
std::string type_name_of(nb::handle object);

}  // namespace patchfold::python
