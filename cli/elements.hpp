// SPDX-License-Identifier: Apache-2.0
// Element types as C++ types, for the two things that the program does with values: converting and comparing.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>

#include "patchfold/tensor.hpp"

namespace patchfold::cli {

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

template <class B, const SmallFormat& F>
struct Small {
  using Bits = B;
  static constexpr const SmallFormat& format = F;
  B bits;
};

/// A boolean as files hold it: any byte but 0 is true.
struct Boolean {
  std::uint8_t bits;
};

template <class T>
concept IsSmall = requires {
  T::format;
};
template <class T>
concept IsComplex = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// Calls f.template operator()<T>() with the C++ type of `dtype`, which must not be opaque.
template <class F>
decltype(auto) with_element_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean: return f.template operator()<Boolean>();
    case DType::int8: return f.template operator()<std::int8_t>();
    case DType::int16: return f.template operator()<std::int16_t>();
    case DType::int32: return f.template operator()<std::int32_t>();
    case DType::int64: return f.template operator()<std::int64_t>();
    case DType::uint16: return f.template operator()<std::uint16_t>();
    case DType::uint32: return f.template operator()<std::uint32_t>();
    case DType::uint64: return f.template operator()<std::uint64_t>();
    case DType::float16: return f.template operator()<Small<std::uint16_t, float16_format>>();
    case DType::bfloat16: return f.template operator()<Small<std::uint16_t, bfloat16_format>>();
    case DType::float32: return f.template operator()<float>();
    case DType::float64: return f.template operator()<double>();
    case DType::complex64: return f.template operator()<std::complex<float>>();
    case DType::complex128: return f.template operator()<std::complex<double>>();
    case DType::float8_e4m3fn: return f.template operator()<Small<std::uint8_t, e4m3fn_format>>();
    case DType::float8_e4m3fnuz: return f.template operator()<Small<std::uint8_t, e4m3fnuz_format>>();
    case DType::float8_e5m2: return f.template operator()<Small<std::uint8_t, e5m2_format>>();
    case DType::float8_e5m2fnuz: return f.template operator()<Small<std::uint8_t, e5m2fnuz_format>>();
    case DType::uint8:
    case DType::opaque: break;
  }
  return f.template operator()<std::uint8_t>();
}

}  // namespace patchfold::cli
