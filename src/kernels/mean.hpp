// SPDX-License-Identifier: Apache-2.0
// Computes means. Elements are added in a type so wide that the mean of equal elements is the element; the sum is divided once and
// rounded once.
//
//   elements                                     accumulator
//   integers of 32 bits and less, booleans,      float64
//   float16, bfloat16, float32
//   float64                                      a pair of float64: the sum, and the errors of its roundings
//   64-bit integers                              an integer of 128 bits
//   complex numbers                              two accumulators of the real type
// Sums begin as -0, since -0 plus an element is the element. For up to `most_met` elements an integer sum in float64 is
// exact, and n equal floats add up to n times their value.
//
// careful_mean() makes the means that do not follow from a sum. These are means of elements that are not all finite, for
// which careful_mean() compares bits, and of finite elements whose sum overflows. A boolean byte above 1 is added as NaN, so
// that careful_mean() makes its mean too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "patchfold/tensor.hpp"

namespace patchfold::kernels {

/// The most elements of one mean of a MeanKernel.
inline constexpr std::int64_t most_met = std::int64_t{1} << 20;

/// One element, repeated so that kernels can load a vector of copies.
using FillLine = std::array<std::byte, 64>;

/// The divisors of the accumulators of a row: met[i] * others. `met[i]` and `others` are whole numbers, with a product of at most
/// most_met; if the product is 0, the element becomes `fill`. Complex numbers have two entries of `met` each.
struct MeanRow {
  const double* met = nullptr;
  double others = 1;
  const FillLine* fill = nullptr;
};

/// The functions for means of one type; SumKernel has those for sums.
struct MeanKernel {
  std::int64_t accumulator_size;
  void (*clear)(std::byte* accumulators, std::int64_t count) noexcept;
  /// Adds accumulator[i] += src[i * src_stride].
  void (*add)(std::byte* accumulators, const std::byte* src, std::int64_t src_stride, std::int64_t count) noexcept;
  /// Writes dst[i * dst_stride] = the mean, rounded to nearest even. dst may be the accumulators' memory. Returns false if
  /// careful_mean() must make some of the elements; needs_care() finds these elements.
  bool (*store)(std::byte* dst, std::int64_t dst_stride, const std::byte* accumulators, std::int64_t count,
                const MeanRow& row) noexcept;
};

/// Returns the kernel of a summable type on the instruction set in use.
const MeanKernel& mean_kernel(DType dtype) noexcept;

/// Returns whether a stored element may differ from the mean, so that careful_mean() must make it.
bool needs_care(DType dtype, const std::byte* element) noexcept;

/// Elements of a mean that lie in equal steps.
struct MetTaps {
  std::int64_t count = 0;
  std::int64_t step = 0;  ///< bytes from element to element
};

/// Writes a mean to dst; `fill` if it has no elements. The elements are at src + i0 * step0 + i1 * step1 + .., where taps[k] gives
/// step k and the count of index k.
void careful_mean(DType dtype, std::byte* dst, const std::byte* src, std::span<const MetTaps> taps,
                  const FillLine& fill) noexcept;

}  // namespace patchfold::kernels
