// SPDX-License-Identifier: Apache-2.0
// Python objects as values of an operator's arguments.
#pragma once

#include "patchfold/table.hpp"
#include "python/native/errors.hpp"

namespace patchfold::python {

/// The value of one argument. Throws Error(type) for an object of the wrong kind, Error(value) for an integer beyond 64
/// bits.
ArgumentValue value_of(const OperatorSpec& op, const ArgumentSpec& argument, nb::handle object);

/// What to give for an argument that is required, in Python's terms.
std::string what_is_expected(const ArgumentSpec& argument);

/// A shape, given as a sequence of integers.
Dims shape_of(std::string_view op, std::string_view name, nb::handle object);

nb::tuple to_tuple(const Dims& dims);

}  // namespace patchfold::python
