// SPDX-License-Identifier: Apache-2.0
// Converts single elements of every real type to float64 and back.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "base/small_float.hpp"
#include "patchfold/dtype.hpp"

namespace patchfold::kernels {

/// Converts elements of type T to float64 and back, rounded once.
template <class T>
struct Number {
  static double widen(T value) {
    if constexpr (std::is_same_v<T, Boolean>)
      return value.byte != 0;
    else if constexpr (SmallFloat<T>)
      return decode(T::format, value.bits);
    else
      return static_cast<double>(value);
  }
  static T narrow(double value) {
    if constexpr (std::is_same_v<T, Boolean>) {
      return {std::nearbyint(value) >= 1};
    } else if constexpr (SmallFloat<T>) {
      return {static_cast<decltype(T::bits)>(encode(T::format, value))};
    } else if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      if (std::isnan(value)) return 0;
      const double rounded = std::nearbyint(value);
      if (rounded <= static_cast<double>(Limits::min())) return Limits::min();
      return rounded >= static_cast<double>(Limits::max()) ? Limits::max() : static_cast<T>(rounded);
    } else {
      return static_cast<T>(value);
    }
  }
};

}  // namespace patchfold::kernels
