// SPDX-License-Identifier: Apache-2.0
// Converts Python objects to values of an operator's arguments.
#pragma once

#include "patchfold/table.hpp"
#include "python/native/errors.hpp"

namespace patchfold::python {

/// Returns the value of one argument. Throws Error(type) for an object of the wrong kind, Error(value) for an integer beyond
/// 64 bits.
ArgumentValue value_of(const OperatorSpec& op, const ArgumentSpec& argument, nb::handle object);

/// Returns a description, in Python's terms, of the values that a required argument takes.
std::string what_is_expected(const ArgumentSpec& argument);

/// Returns a shape that is given as a sequence of integers.
Dims shape_of(std::string_view op, std::string_view name, nb::handle object);

nb::tuple to_tuple(const Dims& dims);

}  // namespace patchfold::python
