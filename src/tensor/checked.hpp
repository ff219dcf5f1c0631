// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes that never wraps, and division that rounds the way the formulas mean it.
#pragma once

#include <cstdint>
#include <optional>

#include "patchfold/tensor.hpp"

namespace patchfold {

inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// A chain of checked operations: once one has left 63 bits, the chain stays without a value.
class Checked {
 public:
  constexpr Checked(std::int64_t value) noexcept : value_(value) {}
  constexpr Checked(std::optional<std::int64_t> value) noexcept : value_(value) {}

  constexpr std::optional<std::int64_t> value() const noexcept { return value_; }
  friend Checked operator+(Checked a, Checked b) noexcept {
    return a.value_ && b.value_ ? Checked(checked_add(*a.value_, *b.value_)) : Checked(std::nullopt);
  }
  friend Checked operator-(Checked a, Checked b) noexcept { return a + b * Checked(-1); }
  friend Checked operator*(Checked a, Checked b) noexcept {
    return a.value_ && b.value_ ? Checked(checked_mul(*a.value_, *b.value_)) : Checked(std::nullopt);
  }

 private:
  std::optional<std::int64_t> value_;
};

/// Largest integer not above a / b, for b > 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}
/// Smallest integer not below a / b, for b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b + (a % b > 0 ? 1 : 0);
}
/// a - b * floor_div(a, b), for b > 0.
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) noexcept {
  const std::int64_t rest = a % b;
  return rest < 0 ? rest + b : rest;
}

}  // namespace patchfold
