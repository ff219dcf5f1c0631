// SPDX-License-Identifier: Apache-2.0
// Converts small floating-point types to float64 and back. All functions are inline, since the command line uses them too.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "patchfold/dtype.hpp"

namespace patchfold {

namespace detail {
inline constexpr int double_mantissa = 52;
inline constexpr int double_bias = 1023;

inline double power_of_two(int exponent) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + double_bias) << double_mantissa);
}
}  // namespace detail

/// Returns the exact value of a bit pattern.
inline double decode(const SmallFormat& f, std::uint32_t bits) noexcept {
  using detail::double_bias;
  using detail::double_mantissa;
  const int magnitude_bits = f.exponent_bits + f.mantissa_bits;
  const std::uint32_t magnitude = bits & ((1u << magnitude_bits) - 1);
  const std::uint32_t exponent = magnitude >> f.mantissa_bits;
  const std::uint32_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  const std::uint32_t all_ones = (1u << magnitude_bits) - 1;
  const bool negative = (bits >> magnitude_bits) & 1;
  const auto sign = static_cast<std::uint64_t>(negative) << 63;
  constexpr std::uint64_t infinity = std::uint64_t{0x7ff} << double_mantissa;
  constexpr std::uint64_t quiet = std::uint64_t{1} << (double_mantissa - 1);

  if (f.negative_zero_is_nan && negative && magnitude == 0) return std::bit_cast<double>(infinity | quiet);
  if (f.has_infinity && exponent == (1u << f.exponent_bits) - 1)
    return std::bit_cast<double>(sign | infinity | (mantissa ? quiet : 0));
  if (!f.has_infinity && !f.negative_zero_is_nan && magnitude == all_ones)
    return std::bit_cast<double>(sign | infinity | quiet);
  if (exponent == 0) {
    const double value = mantissa * detail::power_of_two(1 - f.bias - f.mantissa_bits);
    return negative ? -value : value;
  }
  const auto wide = static_cast<std::uint64_t>(static_cast<int>(exponent) - f.bias + double_bias);
  return std::bit_cast<double>(sign | wide << double_mantissa |
                               static_cast<std::uint64_t>(mantissa) << (double_mantissa - f.mantissa_bits));
}

/// A number rounded to a format: its pattern, and whether it lies beyond the largest number, infinity included.
struct Rounded {
  std::uint32_t bits = 0;
  bool is_beyond = false;
};

/// Returns the pattern of the nearest number, ties to even, in every rounding mode of the caller. A number beyond the largest
/// number becomes infinity, or the largest number in formats without infinity. Every NaN becomes one quiet NaN, with its sign if
/// the format has signed NaNs. Formats may have up to 32 bits.
inline Rounded round_to(const SmallFormat& f, double value) noexcept {
  using detail::double_bias;
  using detail::double_mantissa;
  const int magnitude_bits = f.exponent_bits + f.mantissa_bits;
  const std::uint32_t all_ones = (1u << magnitude_bits) - 1;
  const std::uint32_t infinity = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  const auto wide = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = static_cast<std::uint32_t>(wide >> 63) << magnitude_bits;
  const std::uint64_t fraction = wide & ((std::uint64_t{1} << double_mantissa) - 1);
  const int wide_exponent = static_cast<int>(wide >> double_mantissa & 0x7ff);

  if (wide_exponent == 0x7ff && fraction != 0) {
    if (f.negative_zero_is_nan) return {1u << magnitude_bits};
    return {sign | (f.has_infinity ? infinity | 1u << (f.mantissa_bits - 1) : all_ones)};
  }
  const std::uint32_t largest = f.has_infinity ? infinity - 1 : f.negative_zero_is_nan ? all_ones : all_ones - 1;
  const Rounded beyond{sign | (f.has_infinity ? infinity : largest), true};
  if (wide_exponent == 0x7ff) return beyond;

  // The finite patterns of a sign are consecutive integers, so a carry out of the mantissa needs no case of its own.
  const int exponent = wide_exponent - double_bias;
  const int smallest = 1 - f.bias;
  const int shift = double_mantissa - f.mantissa_bits + std::max(0, smallest - exponent);
  std::uint64_t units = 0;
  if (wide_exponent != 0 && shift <= double_mantissa + 1) {
    const std::uint64_t mantissa = fraction | std::uint64_t{1} << double_mantissa;
    const std::uint64_t rest = mantissa & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    units = mantissa >> shift;
    if (rest > half || (rest == half && units % 2 == 1)) ++units;
  }
  if (exponent > smallest) units += static_cast<std::uint64_t>(exponent - smallest) << f.mantissa_bits;
  if (units > largest) return beyond;
  if (units == 0 && f.negative_zero_is_nan) return {};
  return {sign | static_cast<std::uint32_t>(units)};
}

/// Returns only the pattern of round_to().
inline std::uint32_t encode(const SmallFormat& f, double value) noexcept {
  return round_to(f, value).bits;
}

}  // namespace patchfold
