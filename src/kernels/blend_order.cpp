// SPDX-License-Identifier: Apache-2.0
// Reductions that compare elements: medians, votes, and the class of the largest score. Plain loops over single elements.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <span>
#include <type_traits>

#include "kernels/blend_scalar.hpp"
#include "kernels/mean_scalar.hpp"
#include "kernels/number.hpp"
#include "kernels/real_type.hpp"
#include "tensor/held.hpp"

namespace patchfold::kernels {
namespace {

template <class T>
concept Integer64 = std::integral<T> && sizeof(T) == 8;

/// The number that stands for elements of type T in comparisons: a 64-bit integer itself, which float64 does not hold; else
/// float64.
template <class T>
using Key = std::conditional_t<Integer64<T>, T, double>;

template <class T>
Key<T> key_of(T element) {
  if constexpr (Integer64<T>)
    return element;
  else
    return Number<T>::widen(element);
}
template <class T>
T element_of(Key<T> key) {
  if constexpr (Integer64<T>)
    return key;
  else
    return Number<T>::narrow(key);
}

/// Returns whether a key lies before another one, in an order that tells -0 from 0, so that results do not depend on the algorithm.
template <class K>
bool is_before(K a, K b) {
  if constexpr (std::is_same_v<K, double>) return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return a < b;
}

/// Returns (a + b) / 2 as an element, rounded once.
template <class To, class K>
To middle_of(K a, K b) {
  if constexpr (!std::is_same_v<K, double>) {
    const Integer128 sum = Integer128{a} + b;
    if constexpr (Integer64<To>)
      return static_cast<To>(rounded_quotient(sum, 2));
    else
      return static_cast<To>(sum) / 2;
  } else {
    const double sum = a + b;
    const bool overflows = std::isinf(sum) && !std::isinf(a) && !std::isinf(b);
    return Number<To>::narrow(overflows ? a / 2 + b / 2 : sum / 2);
  }
}

/// Gathers the keys of an element of all terms. Returns them in b.room.
template <class T, class Rows>
std::span<Key<T>> gathered(const BlendRows& b, const Rows& elements_of, std::int64_t j) {
  auto* keys = reinterpret_cast<Key<T>*>(b.room);
  for (std::int64_t i = 0; i < b.terms_count; ++i) keys[i] = key_of(load<T>(elements_of(i), j));
  return {keys, static_cast<std::size_t>(b.terms_count)};
}

template <class From, class To>
void median(const BlendRows& b) {
  each_element(b, [&](std::byte* dst, const auto& elements_of, std::int64_t, std::int64_t j) {
    const auto keys = gathered<From>(b, elements_of, j);
    if constexpr (std::is_same_v<Key<From>, double>) {
      const auto nan = std::find_if(keys.begin(), keys.end(), [](double key) { return std::isnan(key); });
      if constexpr (std::is_same_v<From, To>) {
        if (nan != keys.end()) return save(dst, j, load<From>(elements_of(nan - keys.begin()), j));
      } else {
        if (nan != keys.end()) return save(dst, j, Number<To>::narrow(*nan));
      }
    }
    const auto middle = keys.begin() + b.terms_count / 2;
    std::nth_element(keys.begin(), middle, keys.end(), is_before<Key<From>>);
    if (keys.size() % 2 == 0)
      save(dst, j, middle_of<To>(*std::max_element(keys.begin(), middle, is_before<Key<From>>), *middle));
    else if constexpr (std::is_same_v<From, To>)
      save(dst, j, element_of<To>(*middle));
    else
      save(dst, j, Number<To>::narrow(static_cast<double>(*middle)));
  });
}

template <class T>
void vote(const BlendRows& b) {
  each_element(b, [&](std::byte* dst, const auto& elements_of, std::int64_t, std::int64_t j) {
    const auto keys = gathered<T>(b, elements_of, j);
    std::sort(keys.begin(), keys.end());
    Key<T> most = keys[0];
    for (std::size_t begin = 0, end = 0, votes = 0; begin < keys.size(); begin = end) {
      while (end < keys.size() && keys[end] == keys[begin]) ++end;
      if (end - begin <= votes) continue;
      votes = end - begin;
      most = keys[begin];
    }
    save(dst, j, element_of<T>(most));
  });
}

template <class T>
void rank(const Ranking& ranking, const std::byte* scores, std::int64_t count, std::int32_t label) {
  const auto is_nan = [](T value) { return value != value; };
  auto* best = reinterpret_cast<T*>(ranking.best);
  for (std::int64_t j = 0; j < count; ++j) {
    const T score = load<T>(scores, j);
    if (ranking.labels[j] >= 0 && (is_nan(best[j]) || score <= best[j])) continue;
    best[j] = score;
    ranking.labels[j] = label;
  }
}

}  // namespace

Blend median_rows(DType from, DType to) noexcept {
  return with_real_type(from, [&]<class From>() -> Blend {
    if (to == from) return &median<From, From>;
    if (to == DType::float32) return &median<From, float>;
    if (to == DType::float64) return &median<From, double>;
    return nullptr;
  });
}

Blend vote_rows(DType dtype) noexcept {
  return with_real_type(dtype, []<class T>() -> Blend {
    if constexpr (std::integral<T> || std::is_same_v<T, Boolean>)
      return &vote<T>;
    else
      return nullptr;
  });
}

FindNans find_nans(DType dtype) noexcept {
  return visit_held(dtype, []<class T>(std::type_identity<T>) -> FindNans {
    if constexpr (std::integral<T> || std::is_same_v<T, Boolean> || std::is_same_v<T, Opaque>)
      return nullptr;
    else
      return [](const std::byte* elements, std::int64_t count, bool* are_nan) {
        for (std::int64_t j = 0; j < count; ++j) {
          const T element = load<T>(elements, j);
          if constexpr (ComplexNumber<T>)
            are_nan[j] = std::isnan(element.real()) || std::isnan(element.imag());
          else
            are_nan[j] = std::isnan(Number<T>::widen(element));
        }
      };
  });
}

Rank rank_scores(DType dtype) noexcept {
  if (dtype == DType::int64) return &rank<std::int64_t>;
  return dtype == DType::uint64 ? &rank<std::uint64_t> : &rank<double>;
}

}  // namespace patchfold::kernels
