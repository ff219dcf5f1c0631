// SPDX-License-Identifier: Apache-2.0
// Floating-point types that the language does not have, by their parameters.
#pragma once

#include <cstdint>

namespace patchfold {

/// A binary floating-point type of at most 16 bits.
struct SmallFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;          ///< the largest exponent means infinity and NaN, as IEEE 754 has it
  bool negative_zero_is_nan;  ///< the only NaN is the pattern of -0
};
inline constexpr SmallFormat float16_format{5, 10, 15, true, false};
inline constexpr SmallFormat bfloat16_format{8, 7, 127, true, false};
inline constexpr SmallFormat e4m3fn_format{4, 3, 7, false, false};
inline constexpr SmallFormat e4m3fnuz_format{4, 3, 8, false, true};
inline constexpr SmallFormat e5m2_format{5, 2, 15, true, false};
inline constexpr SmallFormat e5m2fnuz_format{5, 2, 16, false, true};

/// The value of a pattern; exact.
double decode(const SmallFormat& format, std::uint32_t bits) noexcept;
/// The nearest pattern, ties to even. What lies beyond the largest number becomes infinity in float16 and bfloat16, and the
/// largest number in the float8 types; infinity stays where there is one.
std::uint32_t encode(const SmallFormat& format, double value) noexcept;

}  // namespace patchfold
