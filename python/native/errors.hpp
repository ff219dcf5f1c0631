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

/// Makes every patchfold::Error that leaves a bound function the Python exception that the catalogue names: one of
/// patchfold._errors, MemoryError or RuntimeError. Values in it are written as Python writes them.
void translate_errors();

/// Makes errors of the underlying operator name the called function.
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

/// The name of an argument that holds a position, with the list as Python writes a tuple: "tile 1 at position (0, 1)".
std::string in_python_terms(std::string_view text);

/// Drops the exception with which an object answered a question: it is not what was asked for. Interrupts and lack of memory
/// are no answer, and are raised.
void drop_answer();

/// The characters of a str, all of them; what UTF-8 cannot hold is written with backslashes.
std::string utf8_of(nb::handle text);

/// repr() of an object, cut to one short line.
std::string text_of(nb::handle object);
/// "'3' of type str"
std::string text_and_type_of(nb::handle object);

/// "list" or "numpy.ndarray": the type of an object as a person would name it.
std::string type_name_of(nb::handle object);

}  // namespace patchfold::python
