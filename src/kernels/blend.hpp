// SPDX-License-Identifier: Apache-2.0
// Rows of elements that several tiles of a picture give, made into one: their weighted mean or sum, their largest or
// smallest.
//
// A kernel takes some rows of elements from each tile and one row of weights; where these lie in the tiles is the business
// of its caller, src/tiling. Sums are float64, are added in the order of the terms and are rounded once, so that results do
// not depend on the instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "patchfold/tensor.hpp"

namespace patchfold::kernels {

/// The elements of one tile, rows of them side by side. Element j of row r has the weight scale * scales[r] * weights[j],
/// multiplied in this order, or scale * weights[j] without scales; `weights` begins weights_pitch later for each row.
struct BlendTerm {
  const std::byte* elements = nullptr;
  const double* weights = nullptr;
  double scale = 1;
  std::int64_t pitch = 0;          ///< bytes from row to row
  std::int64_t ahead = 0;          ///< bytes from an element to one that will be needed soon: its line is fetched
  const double* scales = nullptr;  ///< one for each row, or null
  /// The weights rounded to float32, or null. All terms have them or none. With them the weights of all terms of an element
  /// must add up to 1, but for the rounding of float64.
  const float* rough = nullptr;
  /// Numbers from the weights of a row to those of the next; 0 where all rows have the same. Weights with a pitch have no
  /// rough ones.
  std::int64_t weights_pitch = 0;
};

/// Rows that are made from the same tiles.
struct BlendRows {
  std::byte* dst = nullptr;
  std::int64_t pitch = 0;  ///< bytes from row to row of dst
  const BlendTerm* terms = nullptr;
  std::int64_t terms_count = 1;
  std::int64_t rows = 1;
  std::int64_t count = 0;  ///< elements of a row
};

/// Each element of dst becomes the terms' elements at the same place reduced to one, in the order of the terms; at least one
/// term.
using Blend = void (*)(const BlendRows& rows);

/// Adds weight * element in float64 and rounds once, to nearest even; integers and types without infinity saturate, NaN is
/// the quiet one. With `keep_equal`, elements whose bits are the same in all terms stay as they are (widened where the
/// types differ). `to` is `from`, float32 or float64. For every type of numbers but 64-bit integers; complex numbers are
/// rows of twice as many real ones.
Blend weighted_rows(DType from, DType to, bool keep_equal) noexcept;

/// Returns the kernel that writes weighted rows past the cache: dst and each row must be aligned to a line, and rows must be
/// whole lines. For float32 and float64 where vectors are long enough, otherwise null. finish_stores() has to follow.
Blend weighted_lines(DType dtype, bool keep_equal) noexcept;

/// Weights that are divided by the sum of their terms: those of some rows, `count` numbers each.
struct RawWeights {
  struct Term {
    const double* from = nullptr;
    std::int64_t pitch = 0;  ///< numbers from row to row
  };
  const Term* terms = nullptr;
  std::int64_t terms_count = 1;
  std::int64_t rows = 1;
  std::int64_t count = 0;
  double* to = nullptr;         ///< rows of the first term, side by side
  std::int64_t term_pitch = 0;  ///< numbers from term to term
};

/// Replaces each weight by weight * (1 / sum), with the sum of all terms in their order; if it is 0, they stay 0.
void normalise(const RawWeights& weights) noexcept;

enum class Integers64 : std::uint8_t { mean, sum };
/// Returns the kernel for int64 and uint64 without weights, which adds in 128-bit integers.
Blend integer64_rows(DType dtype, Integers64 what) noexcept;

/// Returns the kernel for the largest or the smallest: of equal ones the first; the first NaN if there is one. Real types.
Blend extreme_rows(DType dtype, bool largest) noexcept;

}  // namespace patchfold::kernels
