// SPDX-License-Identifier: Apache-2.0
// Kernels that add rows of elements. Before the first add(), a row of accumulators must hold zero bytes, which is +0 in
// every type. float16 and bfloat16 accumulate in float32, complex numbers by parts, integers modulo 2^n, booleans with OR.
#pragma once

#include <cstddef>
#include <cstdint>

#include "patchfold/tensor.hpp"

namespace patchfold::kernels {

/// The functions for sums of one type. Accumulators must be contiguous, and aligned to 64 bytes at the start of a row.
/// Elements need no alignment; strides are in bytes and may have any sign.
struct SumKernel {
  std::int64_t accumulator_size;
  /// Adds accumulator[i] += src[i * src_stride].
  void (*add)(std::byte* accumulators, const std::byte* src, std::int64_t src_stride, std::int64_t count) noexcept;
  /// Sets accumulator[i] to the sum of counts[i] * factor ones; this product is at least 0 and below 2^63.
  void (*count)(std::byte* accumulators, const std::int64_t* counts, std::int64_t factor, std::int64_t count) noexcept;
  /// Writes dst[i * dst_stride] = accumulator[i], rounded to nearest even if the element is narrower.
  void (*store)(std::byte* dst, std::int64_t dst_stride, const std::byte* accumulators, std::int64_t count) noexcept;
  /// Adds dst[i * dst_stride] += the rounded accumulator[i], rounded again.
  void (*store_add)(std::byte* dst, std::int64_t dst_stride, const std::byte* accumulators, std::int64_t count) noexcept;
};

/// Returns the kernel of a summable type on the instruction set in use.
const SumKernel& sum_kernel(DType dtype) noexcept;

}  // namespace patchfold::kernels
