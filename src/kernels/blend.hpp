// SPDX-License-Identifier: Apache-2.0
// Rows of elements that several tiles of a picture give, made into one: their weighted mean or sum, their largest or
// smallest.
//
// A kernel takes one row of elements from each tile and one row of weights; where these lie in the tiles is the business of
// its caller, src/tiling. Sums are float64, are added in the order of the terms and are rounded once, so that results do not
// depend on the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "patchfold/tensor.hpp"

namespace patchfold::kernels {

/// What one tile gives to a row: elements side by side, each with the weight scale * weights[j].
struct BlendTerm {
  const std::byte* elements = nullptr;
  const double* weights = nullptr;
  double scale = 1;
  std::int64_t ahead = 0;  ///< bytes from an element to one that will be needed soon: its line is fetched
};

/// For begin <= j < end: dst[j] = the terms' elements [j] reduced to one, in the order of the terms; at least one term.
using BlendRow = void (*)(std::byte* dst, const BlendTerm* terms, std::int64_t terms_count, std::int64_t begin,
                          std::int64_t end);

/// Adds weight * element in float64 and rounds once, to nearest even; integers and types without infinity saturate, NaN is
/// the quiet one. With `keep_equal`, elements whose bits are the same in all terms stay as they are (widened where the
/// types differ). `to` is `from`, float32 or float64. For every type of numbers but 64-bit integers; complex numbers are
/// rows of twice as many real ones.
BlendRow weighted_row(DType from, DType to, bool keep_equal) noexcept;

/// The same for rows of whole lines that leave past the cache: dst is aligned to a line, and begin and end are too.
/// For float32 and float64 where vectors are long enough, otherwise null. finish_stores() has to follow.
BlendRow weighted_lines(DType dtype, bool keep_equal) noexcept;

enum class Integers64 : std::uint8_t { mean, sum };
/// The same for int64 and uint64 without weights, in 128-bit integers.
BlendRow integer64_row(DType dtype, Integers64 what) noexcept;

/// The largest or the smallest: of equal ones the first; the first NaN if there is one. Real types.
BlendRow extreme_row(DType dtype, bool largest) noexcept;

}  // namespace patchfold::kernels
