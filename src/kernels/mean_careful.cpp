// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/mean.hpp"
#include "kernels/mean_scalar.hpp"
#include "tensor/held.hpp"

namespace patchfold::kernels {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// Calls f(element) for each element of a mean, in order. There must be at least one element.
template <class F>
void each_met(const std::byte* src, std::span<const MetTaps> taps, const F& f) {
  std::array<std::int64_t, max_rank> index{};
  while (true) {
    f(src);
    std::size_t i = taps.size();
    for (; i > 0; --i) {
      src += taps[i - 1].step;
      if (++index[i - 1] < taps[i - 1].count) break;
      src -= taps[i - 1].count * taps[i - 1].step;
      index[i - 1] = 0;
    }
    if (i == 0) return;
  }
}

double count_of(std::span<const MetTaps> taps) {
  double count = 1;
  for (const MetTaps& each : taps) count *= static_cast<double>(each.count);
  return count;
}

/// The kinds of numbers that are not finite (NaN, infinity, -infinity) among the elements of a mean.
struct Kinds {
  bool has_nan = false, has_infinity = false, has_minus_infinity = false;
  void add(double value) {
    has_nan = has_nan || std::isnan(value);
    if (std::isinf(value)) (value > 0 ? has_infinity : has_minus_infinity) = true;
  }
  bool are_finite() const { return !has_nan && !has_infinity && !has_minus_infinity; }
  /// Returns the mean of numbers that are not all finite.
  double mean() const {
    if (has_nan || (has_infinity && has_minus_infinity)) return std::numeric_limits<double>::quiet_NaN();
    return has_infinity ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  }
};

/// Returns the mean of elements, or of one part (real or imaginary) of complex elements, whose bits are not all equal.
template <class T>
T mean_of(const std::byte* src, std::span<const MetTaps> taps) {
  T mean{};
  if constexpr (std::is_integral_v<T>) {
    Integer128 sum = 0;
    each_met(src, taps, [&](const std::byte* at) { sum += load<T>(at); });
    return static_cast<T>(rounded_quotient(sum, static_cast<std::int64_t>(count_of(taps))));
  } else {
    Kinds kinds;
    each_met(src, taps, [&](const std::byte* at) { kinds.add(Number<T>::widen(load<T>(at))); });
    if (!kinds.are_finite()) return Number<T>::narrow(kinds.mean());
    if constexpr (std::is_same_v<T, double>) {
      Pair sum;
      each_met(src, taps, [&](const std::byte* at) { sum.add(load<double>(at)); });
      mean = sum.over(count_of(taps));
      if (std::isfinite(mean)) return mean;
      // The sum overflows, but the mean does not.
      constexpr int down = -64;
      sum = {};
      each_met(src, taps, [&](const std::byte* at) { sum.add(std::ldexp(load<double>(at), down)); });
      return std::ldexp(sum.over(count_of(taps)), -down);
    } else {
      double sum = -0.0;
      each_met(src, taps, [&](const std::byte* at) { sum += Number<T>::widen(load<T>(at)); });
      return Number<T>::narrow(sum / count_of(taps));
    }
  }
}

template <class T>
void store_mean(std::byte* dst, const std::byte* src, std::span<const MetTaps> taps) {
  const std::byte* first = nullptr;
  bool same = true;
  each_met(src, taps, [&](const std::byte* at) {
    if (first == nullptr) first = at;
    same = same && std::memcmp(first, at, sizeof(T)) == 0;
  });
  const T mean = same ? load<T>(first) : mean_of<T>(src, taps);
  std::memcpy(dst, &mean, sizeof(T));
}

}  // namespace

bool needs_care(DType dtype, const std::byte* element) noexcept {
  return visit_held(dtype, [&]<class T>(std::type_identity<T>) {
    using Real = AveragedAs<T>;
    if constexpr (std::is_void_v<Real> || std::is_integral_v<Real>) {
      return false;
    } else if constexpr (std::is_same_v<Real, Boolean>) {
      return load<Boolean>(element).byte > 1;
    } else {
      bool needs = false;
      for (std::size_t part = 0; part < sizeof(T); part += sizeof(Real))
        needs = needs || !std::isfinite(Number<Real>::widen(load<Real>(element + part)));
      return needs;
    }
  });
}

void careful_mean(DType dtype, std::byte* dst, const std::byte* src, std::span<const MetTaps> taps,
                  const FillLine& fill) noexcept {
  visit_held(dtype, [&]<class T>(std::type_identity<T>) {
    using Real = AveragedAs<T>;
    if constexpr (!std::is_void_v<Real>) {
      if (count_of(taps) == 0) {
        std::memcpy(dst, fill.data(), sizeof(T));
        return;
      }
      for (std::size_t part = 0; part < sizeof(T); part += sizeof(Real)) store_mean<Real>(dst + part, src + part, taps);
    }
  });
}

}  // namespace patchfold::kernels
