// SPDX-License-Identifier: Apache-2.0
// Adds single elements of each summable type: an element is widened to its accumulator and added, and the sum is rounded once.
// sum.cpp loops over these functions, and sum_map.cpp does so in builds without vectors; lanes-inl.hpp has the vectors.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/half.hpp"
#include "patchfold/dtype.hpp"

namespace patchfold::kernels {

/// A type whose elements can be added.
template <class T>
concept Summable = is_summable(dtype_for<T>.value_or(DType::opaque));

template <class T>
consteval auto summed_as() {
  if constexpr (std::is_integral_v<T>)
    return std::type_identity<std::make_unsigned_t<T>>();
  else if constexpr (ComplexNumber<T>)
    return std::type_identity<typename T::value_type>();
  else if constexpr (Summable<T>)
    return std::type_identity<T>();
  else
    return std::type_identity<void>();
}

/// The type for which sums of T are compiled: the unsigned type of T's size for integers, and the real type for complex numbers,
/// which are summed by parts. void for types that cannot be added.
template <class T>
using SummedAs = typename decltype(summed_as<T>())::type;

/// Elements that are their own accumulators; integers are summed as unsigned, so they wrap.
template <class T>
struct Summand {
  using Element = T;
  using Accumulator = T;
  static T widen(T value) { return value; }
  static T narrow(T value) { return value; }
  static T plus(T a, T b) { return static_cast<T>(a + b); }
};

template <>
struct Summand<Boolean> {
  using Element = std::uint8_t;
  using Accumulator = std::uint8_t;
  static std::uint8_t widen(std::uint8_t value) { return value != 0; }
  static std::uint8_t narrow(std::uint8_t value) { return value; }
  static std::uint8_t plus(std::uint8_t a, std::uint8_t b) { return a | b; }
};

template <>
struct Summand<Float16> {
  using Element = std::uint16_t;
  using Accumulator = float;
  static float widen(std::uint16_t bits) { return float16_to_float(bits); }
  static std::uint16_t narrow(float value) { return float_to_float16(value); }
  static float plus(float a, float b) { return a + b; }
};

template <>
struct Summand<Bfloat16> {
  using Element = std::uint16_t;
  using Accumulator = float;
  static float widen(std::uint16_t bits) { return bfloat16_to_float(bits); }
  static std::uint16_t narrow(float value) { return float_to_bfloat16(value); }
  static float plus(float a, float b) { return a + b; }
};

}  // namespace patchfold::kernels
