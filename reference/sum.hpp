// SPDX-License-Identifier: Apache-2.0
// Adds elements, with the rounding of fold.
#pragma once

#include "reference/reference.hpp"

namespace reference {

/// A sum that starts from +0. float32, float64 and complex numbers round after every addition. Small floats are added in float32
/// and rounded once, to nearest even. Integers wrap; booleans are combined with OR.
class Sum {
 public:
  explicit Sum(DType dtype) : dtype_(dtype) {}
  void add(const std::byte* element);
  void store(std::byte* element) const;

 private:
  DType dtype_;
  bool any_ = false;
  std::uint64_t integer_ = 0;
  float single_[2] = {0, 0};
  double double_[2] = {0, 0};
};

/// Sets result = a + b in the element type: one addition, one rounding.
void add_elements(DType dtype, const std::byte* a, const std::byte* b, std::byte* result);

}  // namespace reference
