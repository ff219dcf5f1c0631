// SPDX-License-Identifier: Apache-2.0
// Tells which operators and element types this build holds, as chosen by CMake's options. For operators and types that the build
// lacks, the operator table has only names, and the kernels have no code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "tensor/chosen.hpp"

namespace patchfold {

/// Returns whether this build holds the operator, in any version.
constexpr bool holds(std::string_view op) noexcept {
  return chosen::operators.size() == 0 ||
         std::ranges::find(chosen::operators, op.substr(0, op.rfind('-'))) != chosen::operators.end();
}

constexpr bool holds(DType dtype) noexcept {
  return chosen::types.size() == 0 || std::ranges::find(chosen::types, dtype) != chosen::types.end();
}

/// Returns whether this build holds elements of the C++ type T.
template <class T>
consteval bool holds() {
  return std::ranges::any_of(dtypes(), [](DType dtype) {
    return holds(dtype) && visit(dtype, []<class U>(std::type_identity<U>) { return std::is_same_v<T, U>; });
  });
}

/// Returns whether this build has an element type whose elements fill units of `bytes` bytes.
constexpr bool holds_unit(std::size_t bytes) {
  return std::ranges::any_of(
      dtypes(), [=](DType dtype) { return holds(dtype) && (size_of(dtype) == 0 || bytes % size_of(dtype) == 0); });
}

/// Calls visit(), with Opaque for types that this build does not hold, so that f is not compiled for them.
template <class F>
constexpr decltype(auto) visit_held(DType dtype, F&& f) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> decltype(auto) {
    return f(std::type_identity<std::conditional_t<holds<T>(), T, Opaque>>());
  });
}

/// Throws Error(unknown_operator): the operator exists, but not in this build.
[[noreturn]] void fail_left_out(std::string_view op);

/// Throws Error(dtype) unless this build holds the type.
void check_held(std::string_view op, std::string_view argument, DType dtype);

}  // namespace patchfold
