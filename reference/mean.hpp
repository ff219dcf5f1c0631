// SPDX-License-Identifier: Apache-2.0
// The mean that fold takes of elements.
#pragma once

#include <vector>

#include "reference/reference.hpp"

namespace reference {

/// The mean of elements; the real and the imaginary parts of complex numbers are averaged separately. If all elements have
/// equal bits, the mean has these bits. The mean of other elements is the sum divided by the number of elements, rounded to
/// nearest even. Integers are added exactly, and booleans decide by majority. Small floats and float32 are added in float64
/// in the given order. float64 is added as a sum and the sum of its rounding errors. NaN is the quiet NaN without a sign.
class Mean {
 public:
  Mean(DType dtype, std::size_t element_size) : dtype_(dtype), size_(element_size) {}
  void add(const std::byte* element) { bytes_.insert(bytes_.end(), element, element + size_); }
  bool is_empty() const { return bytes_.empty(); }
  /// Stores the mean of one element or more.
  void store(std::byte* element) const;

 private:
  DType dtype_;
  std::size_t size_;
  std::vector<std::byte> bytes_{};
};

}  // namespace reference
