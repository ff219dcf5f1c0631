// SPDX-License-Identifier: Apache-2.0
// Short ways to throw an Error.
#pragma once

#include <concepts>
#include <new>
#include <string>
#include <string_view>

#include "patchfold/error.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold {

inline std::string text(std::string_view value) {
  return std::string(value);
}
inline std::string text(const char* value) {
  return value;
}
inline std::string text(const std::string& value) {
  return value;
}
inline std::string text(std::integral auto value) {
  return std::to_string(value);
}
inline std::string text(const Dims& dims) {
  return to_string(dims);
}
inline std::string text(const Axes& axes) {
  return to_string(axes);
}
inline std::string text(DType dtype) {
  return std::string(name_of(dtype));
}

/// Returns the types whose elements can be added, as errors list them.
inline std::string summable_type_names() {
  std::string types = "bool, an integer";
  for (const DTypeInfo& each : dtype_table)
    if (each.summable && each.kind == ElementKind::real) types.append(", ").append(each.name);
  return types + " or a complex type";
}

/// Throws Error{code, op, argument, rule, given, expected, hint}.
[[noreturn]] void fail(ErrorCode code, std::string_view op, std::string_view argument, std::string_view rule,
                       ErrorValue given = {}, ErrorValue expected = {}, ErrorValue hint = {});

/// Throws Error(rank), which shows the shape and its rank.
[[noreturn]] void fail_rank(std::string_view op, std::string_view argument, std::string_view rule, const Dims& shape,
                            ErrorValue expected, ErrorValue hint = {});

}  // namespace patchfold
