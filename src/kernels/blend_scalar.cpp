// SPDX-License-Identifier: Apache-2.0
#include "kernels/blend_scalar.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

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

/// How elements of type T become float64, and back: rounded once.
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

/// Calls f.template operator()<T>() with the type of the elements; null for opaque and complex ones.
template <class F>
BlendRow with_real_type(DType dtype, F f) {
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> BlendRow {
    if constexpr (ComplexNumber<T> || std::is_same_v<T, Opaque>)
      return nullptr;
    else
      return f.template operator()<T>();
  });
}

template <class From, class To, bool keep_equal>
void weighted(std::byte* dst, const BlendTerm* terms, std::int64_t terms_count, std::int64_t begin, std::int64_t end) {
  for (std::int64_t j = begin; j < end; ++j) {
    const From first = load<From>(terms[0].elements, j);
    bool equal = true;
    double sum = 0;
    for (std::int64_t i = 0; i < terms_count; ++i) {
      const From element = load<From>(terms[i].elements, j);
      equal = equal && std::memcmp(&element, &first, sizeof(From)) == 0;
      const double product = Number<From>::widen(element) * (terms[i].scale * terms[i].weights[j]);
      sum = i == 0 ? product : sum + product;
    }
    // The sign and the payload of a computed NaN depend on the order of operands, which is the compiler's.
    if (std::isnan(sum)) sum = std::numeric_limits<double>::quiet_NaN();
    if constexpr (std::is_same_v<From, To>)
      save(dst, j, keep_equal && equal ? first : Number<From>::narrow(sum));
    else
      save(dst, j, Number<To>::narrow(keep_equal && equal ? Number<From>::widen(first) : sum));
  }
}

template <class From, bool keep_equal>
BlendRow weighted_to(DType to, bool same) {
  if (same) return &weighted<From, From, keep_equal>;
  if (to == DType::float32) return &weighted<From, float, keep_equal>;
  if (to == DType::float64) return &weighted<From, double, keep_equal>;
  return nullptr;
}

template <class From>
void extreme(std::byte* dst, const BlendTerm* terms, std::int64_t terms_count, std::int64_t begin, std::int64_t end,
             bool largest) {
  // 64-bit integers do not fit into float64: they are compared as they are.
  const auto order = [](From element) {
    if constexpr (std::is_integral_v<From> && sizeof(From) == 8)
      return element;
    else
      return Number<From>::widen(element);
  };
  for (std::int64_t j = begin; j < end; ++j) {
    From best = load<From>(terms[0].elements, j);
    for (std::int64_t i = 1; i < terms_count; ++i) {
      const From element = load<From>(terms[i].elements, j);
      const auto held = order(best);
      const auto value = order(element);
      if (held == held && (largest ? !(value <= held) : !(value >= held))) best = element;
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
  return with_real_type(from, [&]<class From>() {
    return keep_equal ? weighted_to<From, true>(to, from == to) : weighted_to<From, false>(to, from == to);
  });
}

BlendRow integer64_row(DType dtype, Integers64 what) noexcept {
  return visit(dtype, [&]<class T>(std::type_identity<T>) -> BlendRow {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
      return what == Integers64::mean ? &integers64<T, true> : &integers64<T, false>;
    else
      return nullptr;
  });
}

BlendRow extreme_row(DType dtype, bool largest) noexcept {
  return with_real_type(dtype, [&]<class From>() -> BlendRow {
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
