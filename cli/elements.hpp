// SPDX-License-Identifier: Apache-2.0
// Element types as C++ types, for the two things that the program does with values: converting and comparing.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>

#include "patchfold/tensor.hpp"
#include "src/tensor/small_float.hpp"

namespace patchfold::cli {

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
