// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes from callers and files, which never wraps, with divisions that round down or up.
//
// Numbers that have passed their check are below `size_limit` in magnitude: extents, pads, effective kernels, counts of elements,
// and offsets in bytes. Sums and differences of up to seven such numbers need no further check. Nor does a product whose result
// cannot exceed such a number. A comment says where code relies on this rule.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "patchfold/tensor.hpp"

namespace patchfold {

/// The limit of the magnitude of sizes and offsets, so that sums of a few sizes fit into 63 bits.
inline constexpr std::int64_t size_limit = std::int64_t{1} << 60;

constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

constexpr std::optional<std::int64_t> checked_sub(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

constexpr std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// The result of a chain of checked operations; it has no value if any result in the chain exceeds 63 bits.
class Checked {
 public:
  template <std::integral T>
  constexpr Checked(T value) noexcept {
    if (std::in_range<std::int64_t>(value)) value_ = static_cast<std::int64_t>(value);
  }
  constexpr Checked(std::optional<std::int64_t> value) noexcept : value_(value) {}

  constexpr std::optional<std::int64_t> value() const noexcept { return value_; }
  /// Returns whether there is a value and its magnitude is below the limit.
  constexpr bool is_below(std::int64_t limit = size_limit) const noexcept {
    return value_ && -limit < *value_ && *value_ < limit;
  }
  friend constexpr Checked operator+(Checked a, Checked b) noexcept {
    return a.value_ && b.value_ ? Checked(checked_add(*a.value_, *b.value_)) : Checked(std::nullopt);
  }
  friend constexpr Checked operator-(Checked a, Checked b) noexcept {
    return a.value_ && b.value_ ? Checked(checked_sub(*a.value_, *b.value_)) : Checked(std::nullopt);
  }
  friend constexpr Checked operator*(Checked a, Checked b) noexcept {
    return a.value_ && b.value_ ? Checked(checked_mul(*a.value_, *b.value_)) : Checked(std::nullopt);
  }

 private:
  std::optional<std::int64_t> value_{};
};

/// Returns the product of `first` and the factors; 0 if a factor is 0, however large the others are.
constexpr Checked checked_product(const Dims& factors, Checked first = 1) noexcept {
  Checked product = first;
  for (const std::int64_t factor : factors) {
    if (factor == 0) return 0;
    product = product * factor;
  }
  return product;
}

/// Returns a * b, or, if the product overflows, the largest or the smallest number. Use the result only in comparisons.
constexpr std::int64_t saturating_mul(std::int64_t a, std::int64_t b) noexcept {
  return checked_mul(a, b).value_or((a < 0) == (b < 0) ? std::numeric_limits<std::int64_t>::max()
                                                       : std::numeric_limits<std::int64_t>::min());
}

/// Returns a * b modulo 2^64. The product may wrap only for strides of axes of one element, which are never used.
constexpr std::int64_t wrapping_mul(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Returns the largest integer not above a / b, for b > 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}
/// Returns the smallest integer not below a / b, for b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b + (a % b > 0 ? 1 : 0);
}
/// Returns a - b * floor_div(a, b), for b > 0.
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) noexcept {
  const std::int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

}  // namespace patchfold
