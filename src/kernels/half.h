/* SPDX-License-Identifier: Apache-2.0 */
/* Converts float16 and bfloat16 to float32 and back, in integer arithmetic: results have the same bits on every instruction set
 * and device, even if the hardware's own conversions truncate or flush. half.hpp includes this file for processors, and
 * device/kernels/front.h for devices; they define HALF_FUNCTION, the types u16 and u32, and the bit casts as_float and as_uint. */

/* Returns the value of a bfloat16, exactly. */
HALF_FUNCTION float bfloat16_to_float(u16 bits) {
  return as_float((u32)bits << 16);
}

/* Returns the value rounded to nearest even; overflow becomes infinity; NaN stays NaN. */
HALF_FUNCTION u16 float_to_bfloat16(float value) {
  const u32 bits = as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (u16)(bits >> 16 | 0x40u);
  return (u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* Returns the value of a float16, exactly. */
HALF_FUNCTION float float16_to_float(u16 half_bits) {
  const u32 sign = (u32)half_bits << 16 & 0x80000000u;
  const u32 magnitude = half_bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return as_float(sign | 0x7f800000u | magnitude << 13);
  /* A subnormal half is magnitude * 2^-24, which float32 holds exactly; the exponent of a normal half grows by 112. */
  if (magnitude < 0x0400u) return as_float(sign | as_uint((float)magnitude * 0x1p-24f));
  return as_float(sign | ((magnitude << 13) + (112u << 23)));
}

/* Returns the value rounded to nearest even; overflow becomes infinity; NaN stays NaN. */
HALF_FUNCTION u16 float_to_float16(float value) {
  const u32 bits = as_uint(value);
  const u32 sign = bits >> 16 & 0x8000u;
  const u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (u16)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x47800000u) return (u16)(sign | 0x7c00u); /* 2^16 and above */
  if (magnitude >= 0x38800000u) { /* 2^-14: the smallest normal half; a carry out of the mantissa moves the exponent */
    const u32 rebiased = magnitude - (112u << 23);
    return (u16)(sign | (rebiased + 0xfffu + (rebiased >> 13 & 1u)) >> 13);
  }
  /* The last place of 0.75 = 1.5 * 2^-1 is 2^-24, so adding it rounds to whole units of 2^-24 in the low bits. */
  return (u16)(sign | (as_uint(as_float(magnitude) + 0.75f) - as_uint(0.75f)));
}
