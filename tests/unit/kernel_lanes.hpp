// SPDX-License-Identifier: Apache-2.0
// Random numbers of every summable type as bits, and their sums by a plain loop.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "fenced.hpp"
#include "kernel_bytes.hpp"
#include "kernels/half.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::kernels {

/// The type of one lane of a vector. A complex number has two lanes: its parts.
enum class Lane { boolean, u8, u16, u32, u64, f16, bf16, f32, f64 };

inline Lane lane_of(DType dtype) {
  switch (dtype) {
    case DType::boolean: return Lane::boolean;
    case DType::float16: return Lane::f16;
    case DType::bfloat16: return Lane::bf16;
    case DType::float32:
    case DType::complex64: return Lane::f32;
    case DType::float64:
    case DType::complex128: return Lane::f64;
    default: break;
  }
  switch (size_of(dtype)) {
    case 1: return Lane::u8;
    case 2: return Lane::u16;
    case 4: return Lane::u32;
    default: return Lane::u64;
  }
}

/// The bits of a floating-point format: its sign, infinity and smallest exponent.
struct Format {
  std::uint64_t sign = 0, infinity = 0, smallest_exponent = 0;  ///< the last: the lowest bit of the exponent
};

inline Format format_of(Lane lane) {
  switch (lane) {
    case Lane::f16: return {0x8000, 0x7c00, 0x0400};
    case Lane::bf16: return {0x8000, 0x7f80, 0x0080};
    case Lane::f32: return {0x80000000u, 0x7f800000u, 0x00800000u};
    case Lane::f64: return {std::uint64_t{1} << 63, 0x7ff0000000000000u, 0x0010000000000000u};
    default: return {};
  }
}

inline bool is_nan(std::uint64_t bits, const Format& format) {
  return format.infinity != 0 && (bits & (format.sign - 1)) > format.infinity;
}

enum class Mood { bits, special, ties, close };

inline std::uint64_t random_lane(Dice& dice, Lane lane, Mood mood) {
  const Format f = format_of(lane);
  const auto any = static_cast<std::uint64_t>(dice.between(0, std::int64_t{1} << 62)) << 2 |
                   static_cast<std::uint64_t>(dice.between(0, 3));
  if (lane == Lane::boolean) return dice.chance(60) ? 0 : dice.chance(50) ? 1 : any;
  if (f.infinity == 0 || mood == Mood::bits) return any;
  const std::uint64_t sign = dice.chance(50) ? f.sign : 0, mantissa = any & (f.smallest_exponent - 1);
  if (mood == Mood::special) switch (dice.between(0, 9)) {
      case 0: return f.sign;
      case 1: return sign | f.infinity;
      case 2: return sign | f.infinity | mantissa | 1;  // NaN, quiet or signalling
      case 3: return sign | mantissa;                   // subnormal
      case 4: return sign | (f.infinity - 1);
      case 5: return sign | f.smallest_exponent;
      default: break;
    }
  // Powers of two and their neighbours, whose sums often lie half way between two numbers of the format.
  const std::uint64_t places = static_cast<std::uint64_t>(std::countr_zero(f.smallest_exponent)) + 1;
  const std::uint64_t top = mood == Mood::ties && dice.chance(20) ? f.infinity - f.smallest_exponent
                                                                  : (f.infinity / 2 & f.infinity) + f.smallest_exponent;
  const std::uint64_t below = dice.chance(50) ? 0 : mood == Mood::ties ? places : any % (places + 2);
  const std::uint64_t low = mood == Mood::ties ? any % 4 : mantissa;
  return sign | (top - std::min(below * f.smallest_exponent, top) + low % f.smallest_exponent);
}

/// The sum of the numbers in one lane, added one after the other.
struct Sum {
  std::uint64_t bits = 0;
  int nans = 0;  ///< number of NaN terms and of sums that became NaN; from 2 on, the compiler chooses the payload
};

template <class T>
void add(T& sum, T term, int& nans) {
  const bool before = std::isnan(sum);
  sum = sum + term;
  nans += std::isnan(term) || (!before && std::isnan(sum));
}

inline Sum sum_of(Lane lane, const std::vector<const std::byte*>& terms) {
  Sum result;
  float single = 0;
  double twice = 0;
  for (const std::byte* at : terms) switch (lane) {
      case Lane::boolean: result.bits |= load<std::uint8_t>(at) != 0; break;
      case Lane::u8: result.bits += load<std::uint8_t>(at); break;
      case Lane::u16: result.bits += load<std::uint16_t>(at); break;
      case Lane::u32: result.bits += load<std::uint32_t>(at); break;
      case Lane::u64: result.bits += load<std::uint64_t>(at); break;
      case Lane::f16: add(single, float16_to_float(load<std::uint16_t>(at)), result.nans); break;
      case Lane::bf16: add(single, bfloat16_to_float(load<std::uint16_t>(at)), result.nans); break;
      case Lane::f32: add(single, load<float>(at), result.nans); break;
      case Lane::f64: add(twice, load<double>(at), result.nans); break;
    }
  if (lane == Lane::f16) result.bits = float_to_float16(single);
  if (lane == Lane::bf16) result.bits = float_to_bfloat16(single);
  if (lane == Lane::f32) result.bits = std::bit_cast<std::uint32_t>(single);
  if (lane == Lane::f64) result.bits = std::bit_cast<std::uint64_t>(twice);
  return result;
}

/// Writes the lowest `size` bytes of `bits`.
inline void put(std::uint64_t bits, std::int64_t size, std::byte* at) {
  std::memcpy(at, &bits, static_cast<std::size_t>(size));
}

inline std::uint64_t get(const std::byte* at, std::int64_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(size));
  return bits;
}

}  // namespace patchfold::kernels
