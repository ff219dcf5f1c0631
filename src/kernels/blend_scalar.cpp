// SPDX-License-Identifier: Apache-2.0
#include "kernels/blend_scalar.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/half.hpp"
#include "tensor/small_float.hpp"

namespace patchfold::kernels {
namespace {

template <class T>
T load(const std::byte* row, std::int64_t j) {
  T value;
  std::memcpy(&value, row + j * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void save(std::byte* row, std::int64_t j, T value) {
  std::memcpy(row + j * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

/// How elements become float64, and back: rounded once.
template <class T>
struct Number {
  using Bits = T;
  static double widen(T value) { return static_cast<double>(value); }
  static T narrow(double value) {
    if constexpr (std::is_integral_v<T>) {
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
struct Truth {
  using Bits = std::uint8_t;
  static double widen(std::uint8_t bits) { return bits != 0; }
  static std::uint8_t narrow(double value) { return std::nearbyint(value) >= 1; }
};
template <const SmallFormat& format, class B>
struct SmallNumber {
  using Bits = B;
  static double widen(B bits) { return decode(format, bits); }
  static B narrow(double value) { return static_cast<B>(encode(format, value)); }
};

/// Calls f.template operator()<Number..>() for the type; f(..) of nothing for opaque and complex elements.
template <class F>
BlendRow with_number(DType dtype, F f) {
  switch (dtype) {
    case DType::boolean: return f.template operator()<Truth>();
    case DType::int8: return f.template operator()<Number<std::int8_t>>();
    case DType::int16: return f.template operator()<Number<std::int16_t>>();
    case DType::int32: return f.template operator()<Number<std::int32_t>>();
    case DType::int64: return f.template operator()<Number<std::int64_t>>();
    case DType::uint8: return f.template operator()<Number<std::uint8_t>>();
    case DType::uint16: return f.template operator()<Number<std::uint16_t>>();
    case DType::uint32: return f.template operator()<Number<std::uint32_t>>();
    case DType::uint64: return f.template operator()<Number<std::uint64_t>>();
    case DType::float16: return f.template operator()<SmallNumber<float16_format, std::uint16_t>>();
    case DType::bfloat16: return f.template operator()<SmallNumber<bfloat16_format, std::uint16_t>>();
    case DType::float32: return f.template operator()<Number<float>>();
    case DType::float64: return f.template operator()<Number<double>>();
    case DType::float8_e4m3fn: return f.template operator()<SmallNumber<e4m3fn_format, std::uint8_t>>();
    case DType::float8_e4m3fnuz: return f.template operator()<SmallNumber<e4m3fnuz_format, std::uint8_t>>();
    case DType::float8_e5m2: return f.template operator()<SmallNumber<e5m2_format, std::uint8_t>>();
    case DType::float8_e5m2fnuz: return f.template operator()<SmallNumber<e5m2fnuz_format, std::uint8_t>>();
    case DType::complex64:
    case DType::complex128:
    case DType::opaque: break;
  }
  return nullptr;
}

template <class From, class To, bool keep_equal>
void weighted(std::byte* dst, const BlendTerm* terms, std::int64_t terms_count, std::int64_t begin, std::int64_t end) {
  using Bits = typename From::Bits;
  for (std::int64_t j = begin; j < end; ++j) {
    const Bits first = load<Bits>(terms[0].elements, j);
    bool equal = true;
    double sum = 0;
    for (std::int64_t i = 0; i < terms_count; ++i) {
      const Bits bits = load<Bits>(terms[i].elements, j);
      equal = equal && std::memcmp(&bits, &first, sizeof(Bits)) == 0;
      const double product = From::widen(bits) * (terms[i].scale * terms[i].weights[j]);
      sum = i == 0 ? product : sum + product;
    }
    // The sign and the payload of a computed NaN depend on the order of operands, which is the compiler's.
    if (std::isnan(sum)) sum = std::numeric_limits<double>::quiet_NaN();
    if constexpr (std::is_same_v<From, To>)
      save(dst, j, keep_equal && equal ? first : From::narrow(sum));
    else
      save(dst, j, To::narrow(keep_equal && equal ? From::widen(first) : sum));
  }
}

template <class From, bool keep_equal>
BlendRow weighted_to(DType to, bool same) {
  if (same) return &weighted<From, From, keep_equal>;
  if (to == DType::float32) return &weighted<From, Number<float>, keep_equal>;
  if (to == DType::float64) return &weighted<From, Number<double>, keep_equal>;
  return nullptr;
}

template <class From>
void extreme(std::byte* dst, const BlendTerm* terms, std::int64_t terms_count, std::int64_t begin, std::int64_t end,
             bool largest) {
  using Bits = typename From::Bits;
  // 64-bit integers do not fit into float64: they are compared as they are.
  const auto order = [](Bits bits) {
    if constexpr (std::is_same_v<From, Number<std::int64_t>> || std::is_same_v<From, Number<std::uint64_t>>)
      return bits;
    else
      return From::widen(bits);
  };
  for (std::int64_t j = begin; j < end; ++j) {
    Bits best = load<Bits>(terms[0].elements, j);
    for (std::int64_t i = 1; i < terms_count; ++i) {
      const Bits bits = load<Bits>(terms[i].elements, j);
      const auto held = order(best);
      const auto value = order(bits);
      if (held == held && (largest ? !(value <= held) : !(value >= held))) best = bits;
    }
    save(dst, j, best);
  }
}

__extension__ using Integer128 = __int128;

/// The quotient rounded to nearest even; count >= 1.
Integer128 rounded_quotient(Integer128 sum, std::int64_t count) {
  Integer128 quotient = sum / count;
  Integer128 rest = sum % count;
  if (rest < 0) {
    rest += count;
    --quotient;
  }
  const Integer128 twice = 2 * rest;
  return quotient + (twice > count || (twice == count && quotient % 2 != 0) ? 1 : 0);
}

template <class T, bool mean>
void integers64(std::byte* dst, const BlendTerm* terms, std::int64_t terms_count, std::int64_t begin, std::int64_t end) {
  for (std::int64_t j = begin; j < end; ++j) {
    Integer128 sum = 0;
    for (std::int64_t i = 0; i < terms_count; ++i) sum += load<T>(terms[i].elements, j);
    if (mean) sum = rounded_quotient(sum, terms_count);
    constexpr Integer128 low = std::numeric_limits<T>::min();
    constexpr Integer128 high = std::numeric_limits<T>::max();
    save(dst, j, static_cast<T>(sum < low ? low : sum > high ? high : sum));
  }
}

}  // namespace

BlendRow weighted_row_scalar(DType from, DType to, bool keep_equal) noexcept {
  return with_number(from, [&]<class From>() {
    return keep_equal ? weighted_to<From, true>(to, from == to) : weighted_to<From, false>(to, from == to);
  });
}

BlendRow integer64_row(DType dtype, Integers64 what) noexcept {
  const bool mean = what == Integers64::mean;
  if (dtype == DType::int64) return mean ? &integers64<std::int64_t, true> : &integers64<std::int64_t, false>;
  if (dtype == DType::uint64) return mean ? &integers64<std::uint64_t, true> : &integers64<std::uint64_t, false>;
  return nullptr;
}

BlendRow extreme_row(DType dtype, bool largest) noexcept {
  return with_number(dtype, [&]<class From>() -> BlendRow {
    if (largest)
      return [](std::byte* dst, const BlendTerm* terms, std::int64_t terms_count, std::int64_t begin, std::int64_t end) {
        extreme<From>(dst, terms, terms_count, begin, end, true);
      };
    return [](std::byte* dst, const BlendTerm* terms, std::int64_t terms_count, std::int64_t begin, std::int64_t end) {
      extreme<From>(dst, terms, terms_count, begin, end, false);
    };
  });
}

}  // namespace patchfold::kernels
