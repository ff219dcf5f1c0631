// SPDX-License-Identifier: Apache-2.0
// Converts float16 and bfloat16 to float32 and back, in integer arithmetic: results have the same bits on every instruction set,
// even if the hardware's own conversions truncate or flush.
#pragma once

#include <bit>
#include <cstdint>

namespace patchfold::kernels {

/// Returns the value of a bfloat16, exactly.
inline float bfloat16_to_float(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

/// Returns the value rounded to nearest even; overflow becomes infinity; NaN stays NaN.
inline std::uint16_t float_to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/// Returns the value of a float16, exactly.
inline float float16_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = std::uint32_t{half} << 16 & 0x80000000u;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | magnitude << 13);
  // A subnormal half is magnitude * 2^-24, which float32 holds exactly; the exponent of a normal half grows by 112.
  if (magnitude < 0x0400u) {
    const auto unsigned_value = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
    return std::bit_cast<float>(sign | unsigned_value);
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
}

/// Returns the value rounded to nearest even; overflow becomes infinity; NaN stays NaN.
inline std::uint16_t float_to_float16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 2^16 and above
  if (magnitude >= 0x38800000u) {  // 2^-14: the smallest normal half; a carry out of the mantissa moves the exponent
    const std::uint32_t rebiased = magnitude - (112u << 23);
    return static_cast<std::uint16_t>(sign | (rebiased + 0xfffu + (rebiased >> 13 & 1u)) >> 13);
  }
  // The last place of 0.75 = 1.5 * 2^-1 is 2^-24, so adding it rounds to whole units of 2^-24 in the low bits.
  const float rounded = std::bit_cast<float>(magnitude) + 0.75f;
  return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(0.75f)));
}

}  // namespace patchfold::kernels
