// SPDX-License-Identifier: Apache-2.0
#include "kernels/blend_scalar.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/mean_scalar.hpp"
#include "kernels/number.hpp"
#include "kernels/real_type.hpp"
#include "tensor/held.hpp"

namespace patchfold::kernels {
namespace {

template <class From, class To>
void weighted(const BlendRows& b, bool keep_equal) {
  each_element(b, [&](std::byte* dst, const auto& elements_of, std::int64_t r, std::int64_t j) {
    const From first = load<From>(elements_of(0), j);
    bool equal = keep_equal;
    double sum = 0;
    for (std::int64_t i = 0; i < b.terms_count; ++i) {
      const BlendTerm& term = b.terms[i];
      const From element = load<From>(elements_of(i), j);
      equal = equal && std::memcmp(&element, &first, sizeof(From)) == 0;
      const double scale = term.scales ? term.scale * term.scales[r] : term.scale;
      const double product = Number<From>::widen(element) * (scale * term.weights[r * term.weights_pitch + j]);
      sum = i == 0 ? product : sum + product;
    }
    // The compiler chooses the order of operands, which decides sign and payload of a computed NaN; the quiet NaN replaces
    // such a NaN.
    if (std::isnan(sum)) sum = std::numeric_limits<double>::quiet_NaN();
    if constexpr (std::is_same_v<From, To>)
      save(dst, j, equal ? first : Number<From>::narrow(sum));
    else
      save(dst, j, Number<To>::narrow(equal ? Number<From>::widen(first) : sum));
  });
}

/// Returns a NaN of float32 as a NaN of float64 that keeps all its bits; the quiet NaN for other elements.
std::uint64_t kept_nan(float element) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(element);
  if (!std::isnan(element)) return std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
  return static_cast<std::uint64_t>(bits >> 31) << 63 | std::uint64_t{0x7ff} << 52 |
         static_cast<std::uint64_t>(bits & 0x7fffff) << 29;
}
/// Returns the NaN of float32 that kept_nan() made into this NaN.
std::uint32_t element_of_nan(std::uint64_t kept) noexcept {
  return static_cast<std::uint32_t>(kept >> 63 << 31 | 0x7f800000 | (kept >> 29 & 0x7fffff));
}

template <class From, class To>
Blend weighted_to(bool keep_equal) {
  if (keep_equal) return [](const BlendRows& b) { weighted<From, To>(b, true); };
  return [](const BlendRows& b) { weighted<From, To>(b, false); };
}

template <class From>
void extreme(const BlendRows& b, bool largest) {
  // 64-bit integers do not fit into float64, so they are compared as integers.
  const auto order = [](From element) {
    if constexpr (std::is_integral_v<From>)
      return element;
    else
      return Number<From>::widen(element);
  };
  const auto is_nan = [](auto value) {
    if constexpr (std::is_integral_v<decltype(value)>)
      return false;
    else
      return std::isnan(value);
  };
  each_element(b, [&](std::byte* dst, const auto& elements_of, std::int64_t, std::int64_t j) {
    From best = load<From>(elements_of(0), j);
    for (std::int64_t i = 1; i < b.terms_count; ++i) {
      const From element = load<From>(elements_of(i), j);
      const auto held = order(best);
      const auto value = order(element);
      if (!is_nan(held) && (largest ? !(value <= held) : !(value >= held))) best = element;
    }
    save(dst, j, best);
  });
}

template <class T>
void integers64(const BlendRows& b, bool mean) {
  // Most elements are made from two, four or eight tiles, and a shift takes much less time than a division in 128 bits.
  const int shift = std::has_single_bit(static_cast<std::uint64_t>(b.terms_count))
                        ? std::countr_zero(static_cast<std::uint64_t>(b.terms_count))
                        : -1;
  const Integer128 half = shift > 0 ? Integer128{1} << (shift - 1) : 0;
  each_element(b, [&](std::byte* dst, const auto& elements_of, std::int64_t, std::int64_t j) {
    Integer128 sum = 0;
    for (std::int64_t i = 0; i < b.terms_count; ++i) sum += load<T>(elements_of(i), j);
    if (mean && shift > 0)
      sum = (sum + half - 1 + (sum >> shift & 1)) >> shift;
    else if (mean)
      sum = rounded_quotient(sum, b.terms_count);
    constexpr Integer128 low = std::numeric_limits<T>::min();
    constexpr Integer128 high = std::numeric_limits<T>::max();
    save(dst, j, static_cast<T>(sum < low ? low : sum > high ? high : sum));
  });
}

/// Returns a number rounded to the upper 48 bits of its float64, to nearest even. NaNs of float32 keep their bits.
double to_48_bits(double number) noexcept {
  auto bits = std::bit_cast<std::uint64_t>(number);
  bits += 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<double>(bits & ~std::uint64_t{0xffff});
}

}  // namespace

void fold_one(Fold step, bool is_short, const BlendRows& b, std::int64_t r, std::int64_t j) noexcept {
  std::byte* dst = b.dst + r * b.pitch;
  std::byte* low = b.low + r * b.low_pitch;
  const bool has_sums = step == Fold::add || step == Fold::finish;
  const bool makes_element = step == Fold::finish || step == Fold::whole;
  const auto element_of = [&](std::int64_t i) { return load<float>(b.terms[i].elements + r * b.terms[i].pitch, j); };
  std::uint64_t bits = 0;
  if (has_sums) {
    const std::uint64_t lower =
        is_short ? std::uint64_t{load<std::uint16_t>(low, j)} << 16 : std::uint64_t{load<std::uint32_t>(low, j)};
    bits = static_cast<std::uint64_t>(load<std::uint32_t>(dst, j)) << 32 | lower;
  }
  double sum = std::bit_cast<double>(bits);
  // A sum that is NaN holds the bits of its elements as long as all elements so far are equal.
  std::uint64_t nan = has_sums && std::isnan(sum) ? bits : kept_nan(has_sums ? 0 : element_of(0));
  for (std::int64_t i = 0; i < b.terms_count; ++i) {
    const BlendTerm& term = b.terms[i];
    const double scale = term.scales ? term.scale * term.scales[r] : term.scale;
    const double product = static_cast<double>(element_of(i)) * (scale * term.weights[r * term.weights_pitch + j]);
    sum = i == 0 && !has_sums ? product : sum + product;
    if (is_short && (i > 0 || has_sums) && !(makes_element && i + 1 == b.terms_count)) sum = to_48_bits(sum);
    if (kept_nan(element_of(i)) != nan) nan = kept_nan(0);
  }
  if (is_short && makes_element && b.inverse != nullptr) sum *= b.inverse[r * b.inverse_pitch + j];
  bits = std::isnan(sum) ? nan : std::bit_cast<std::uint64_t>(sum);
  if (makes_element) {
    save(dst, j, std::isnan(sum) ? element_of_nan(nan) : std::bit_cast<std::uint32_t>(static_cast<float>(sum)));
  } else {
    save(dst, j, static_cast<std::uint32_t>(bits >> 32));
    if (is_short)
      save(low, j, static_cast<std::uint16_t>(bits >> 16));
    else
      save(low, j, static_cast<std::uint32_t>(bits));
  }
}

Blend folding_rows_scalar(Fold step, bool is_short) noexcept {
  const auto rows_of = [is_short]<Fold each>(std::integral_constant<Fold, each>) -> Blend {
    constexpr auto with = []<bool narrow>(std::bool_constant<narrow>) -> Blend {
      return [](const BlendRows& b) {
        for (std::int64_t r = 0; r < b.rows; ++r)
          for (std::int64_t j = 0; j < b.count; ++j) fold_one(each, narrow, b, r, j);
      };
    };
    return is_short ? with(std::true_type()) : with(std::false_type());
  };
  switch (step) {
    case Fold::begin: return rows_of(std::integral_constant<Fold, Fold::begin>());
    case Fold::add: return rows_of(std::integral_constant<Fold, Fold::add>());
    case Fold::finish: return rows_of(std::integral_constant<Fold, Fold::finish>());
    case Fold::whole: break;
  }
  return rows_of(std::integral_constant<Fold, Fold::whole>());
}

void normalise_one(const RawWeights& w, std::int64_t r, std::int64_t j) noexcept {
  double sum = w.terms[0].from[r * w.terms[0].pitch + j];
  for (std::int64_t i = 1; i < w.terms_count; ++i) sum += w.terms[i].from[r * w.terms[i].pitch + j];
  const double inverse = 1 / (sum == 0 ? 1 : sum);
  for (std::int64_t i = 0; i < w.terms_count; ++i)
    w.to[i * w.term_pitch + r * w.count + j] = w.terms[i].from[r * w.terms[i].pitch + j] * inverse;
}

Blend weighted_rows_scalar(DType from, DType to, bool keep_equal) noexcept {
  return with_real_type(from, [&]<class From>() -> Blend {
    if (to == from) return weighted_to<From, From>(keep_equal);
    if (to == DType::float32) return weighted_to<From, float>(keep_equal);
    if (to == DType::float64) return weighted_to<From, double>(keep_equal);
    return nullptr;
  });
}

Blend integer64_rows(DType dtype, Integers64 what) noexcept {
  return visit_held(dtype, [&]<class T>(std::type_identity<T>) -> Blend {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
      if (what == Integers64::mean) return [](const BlendRows& b) { integers64<T>(b, true); };
      return [](const BlendRows& b) { integers64<T>(b, false); };
    } else {
      return nullptr;
    }
  });
}

Blend extreme_rows(DType dtype, bool largest) noexcept {
  return with_real_type(dtype, [&]<class From>() -> Blend {
    if (largest) return [](const BlendRows& b) { extreme<From>(b, true); };
    return [](const BlendRows& b) { extreme<From>(b, false); };
  });
}

}  // namespace patchfold::kernels
