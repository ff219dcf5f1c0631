// SPDX-License-Identifier: Apache-2.0
// The accumulators of means for one element; mean_lanes-inl.hpp has vectors of them.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/elements.hpp"
#include "kernels/number.hpp"

namespace patchfold::kernels {

__extension__ using Integer128 = __int128;
__extension__ using UnsignedInteger128 = unsigned __int128;

/// Returns sum / count, rounded to nearest even; count must be at least 1.
template <class Integer>
Integer rounded_quotient_of(Integer sum, std::int64_t count) noexcept {
  Integer quotient = sum / count;
  auto rest = static_cast<std::int64_t>(sum - quotient * count);
  if (rest < 0) {
    rest += count;
    --quotient;
  }
  const std::int64_t above = rest - (count - rest);
  return quotient + (above > 0 || (above == 0 && quotient % 2 != 0) ? 1 : 0);
}
inline Integer128 rounded_quotient(Integer128 sum, std::int64_t count) noexcept {
  // A division in 64 bits takes a fraction of the time of a division in 128 bits.
  const auto low = static_cast<std::int64_t>(sum);
  return low == sum ? rounded_quotient_of(low, count) : rounded_quotient_of(sum, count);
}

/// A number as the sum of two float64, which together hold more bits than one.
struct Pair {
  double high = -0.0;
  double low = 0;

  /// Returns the sum of two numbers and its error, by Knuth's algorithm.
  static Pair sum_of(double a, double b) noexcept {
    const double sum = a + b;
    const double rest = sum - a;
    return {sum, (a - (sum - rest)) + (b - rest)};
  }
  void add(double value) noexcept {
    const Pair sum = sum_of(high, value);
    high = sum.high;
    low += sum.low;
  }
  /// Returns the quotient by `count`, a whole number of at most 2^26, rounded once.
  double over(double count) const noexcept {
    const Pair whole = low == 0 ? Pair{high, 0} : sum_of(high, low);
    const double quotient = whole.high / count;
    // `upper` and quotient - upper have half a mantissa each, so their products with the count are exact, and `rest` is too.
    const double upper = std::bit_cast<double>(std::bit_cast<std::uint64_t>(quotient) & ~std::uint64_t{0x7ffffff});
    const double rest = (whole.high - upper * count) - (quotient - upper) * count + whole.low;
    const double correction = rest / count;
    return correction == 0 ? quotient : quotient + correction;
  }
};

/// Adds up elements of type T in an accumulator, and converts the quotient to an element.
template <class T>
struct MeanOf {
  using Accumulator = double;
  static constexpr Accumulator nothing = -0.0;
  static double widen(T value) noexcept {
    if constexpr (std::is_same_v<T, Boolean>)
      if (value.byte > 1) return std::numeric_limits<double>::quiet_NaN();
    return Number<T>::widen(value);
  }
  static void add(double& sum, T value) noexcept { sum += widen(value); }
  static bool store(double sum, double count, T& to) noexcept {
    const double quotient = sum / count;
    to = Number<T>::narrow(quotient);
    if constexpr (std::is_same_v<T, Boolean>)
      if (std::isnan(quotient)) to.byte = 255;
    return std::is_integral_v<T> || std::isfinite(quotient);
  }
};

template <>
struct MeanOf<double> {
  using Accumulator = Pair;
  static constexpr Accumulator nothing = {};
  static void add(Pair& sum, double value) noexcept { sum.add(value); }
  static bool store(const Pair& sum, double count, double& to) noexcept {
    to = sum.over(count);
    return std::isfinite(to);
  }
};

template <std::integral T>
requires(sizeof(T) == 8) struct MeanOf<T> {
  using Accumulator = Integer128;
  static constexpr Accumulator nothing = 0;
  static void add(Integer128& sum, T value) noexcept { sum += value; }
  static bool store(Integer128 sum, double count, T& to) noexcept {
    const auto divisor = static_cast<std::uint64_t>(count);
    if (!std::has_single_bit(divisor)) {
      to = static_cast<T>(rounded_quotient(sum, static_cast<std::int64_t>(divisor)));
      return true;
    }
    // A shift takes much less time than a division in 128 bits.
    const int shift = std::countr_zero(divisor);
    if (shift > 0) sum = (sum + (Integer128{1} << (shift - 1)) - 1 + (sum >> shift & 1)) >> shift;
    to = static_cast<T>(sum);
    return true;
  }
};

/// Returns the element type that the mean kernels see: the real type of a complex T (two numbers an element), T itself otherwise;
/// void for types that cannot be added.
template <class T>
consteval auto averaged_as() {
  if constexpr (ComplexNumber<T>)
    return std::type_identity<typename T::value_type>();
  else if constexpr (Summable<T>)
    return std::type_identity<T>();
  else
    return std::type_identity<void>();
}
template <class T>
using AveragedAs = typename decltype(averaged_as<T>())::type;

}  // namespace patchfold::kernels
