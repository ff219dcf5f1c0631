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

/// Throws the Error(out_of_memory) that stands for a std::bad_alloc. It needs no memory: its texts are short enough to lie
/// in place.
[[noreturn]] void fail_memory();
/// What f returns; a std::bad_alloc comes out as Error(out_of_memory).
template <class F>
decltype(auto) or_fail(F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    fail_memory();
  }
}

/// Throws Error{code, op, argument, rule, given, expected}.
[[noreturn]] inline void fail(ErrorCode code, std::string_view op, std::string_view argument, std::string_view rule,
                              const auto& given, const auto& expected) {
  throw Error({code, std::string(op), std::string(argument), std::string(rule), text(given), text(expected)});
}
[[noreturn]] inline void fail(ErrorCode code, std::string_view op, std::string_view argument, std::string_view rule,
                              const auto& given) {
  fail(code, op, argument, rule, given, "");
}
[[noreturn]] inline void fail(ErrorCode code, std::string_view op, std::string_view argument, std::string_view rule) {
  fail(code, op, argument, rule, "", "");
}

/// Throws Error(rank), which shows the shape and its rank.
[[noreturn]] inline void fail_rank(std::string_view op, std::string_view argument, std::string_view rule, const Dims& shape,
                                   const auto& expected) {
  fail(ErrorCode::rank, op, argument, rule, to_string(shape) + " of rank " + std::to_string(shape.size()), expected);
}

}  // namespace patchfold
