// SPDX-License-Identifier: Apache-2.0
// Reduces rows of elements from several tiles of a picture to one row: to the weighted mean or sum of the elements, the largest, the
// smallest, the middle one, or the most frequent one.
//
// A kernel takes some rows of elements from each tile, and weights for them; src/tiling finds the rows in the tiles.
// Weighted sums are float64, are added in the order of the terms and are rounded once, so that results do not depend on the
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "patchfold/tensor.hpp"

namespace patchfold::kernels {

/// Rows of one tile; the elements of a row lie side by side. Element j of row r has the weight scale * scales[r] * w, multiplied in
/// this order, or scale * w without scales, where w is weights[r * weights_pitch + j].
struct BlendTerm {
  const std::byte* elements = nullptr;
  const double* weights = nullptr;
  double scale = 1;
  std::int64_t pitch = 0;          ///< bytes from row to row
  std::int64_t ahead = 0;          ///< bytes from an element to one that is needed soon, whose line is prefetched
  const double* scales = nullptr;  ///< one for each row, or null
  /// The weights rounded to float32, or null. Either all terms have rough weights, or none has. The weights of terms with rough
  /// weights must add up to 1 in each element, except for the rounding of float64.
  const float* rough = nullptr;
  /// The distance from the weights of one row to the weights of the next, in numbers; 0 if all rows have equal weights. If
  /// it is not 0, `rough` must be null.
  std::int64_t weights_pitch = 0;
};

/// Rows that are made from the same tiles.
struct BlendRows {
  std::byte* dst = nullptr;
  std::int64_t pitch = 0;  ///< bytes from row to row of dst
  const BlendTerm* terms = nullptr;
  std::int64_t terms_count = 1;
  std::int64_t rows = 1;
  std::int64_t count = 0;     ///< elements of a row
  std::byte* low = nullptr;   ///< the lower parts of sums, for folding_rows(): numbers of 32 bits, or of 16 for short sums
  std::int64_t low_pitch = 0;  ///< bytes from row to row of `low`
  const double* inverse = nullptr;  ///< for short sums: what the last step multiplies each sum by; null: 1
  std::int64_t inverse_pitch = 0;   ///< numbers from row to row of `inverse`
  std::uint64_t* room = nullptr;  ///< for median_rows() and vote_rows(): memory for a number of each term
};

/// A function that makes each element of dst from the elements of all terms in the same row and column, in the order of the terms.
/// There must be at least one term.
using Blend = void (*)(const BlendRows& rows);

/// Returns the kernel that adds weight * element in float64 and rounds once, to nearest even. Integers and types without infinity
/// saturate; NaNs become the quiet NaN. With `keep_equal`, elements whose bits are equal in all terms are copied (widened if the
/// types differ). `to` must be `from`, float32 or float64. `from` may be any type of numbers except 64-bit integers; a row
/// of complex numbers is a row of twice as many real numbers.
Blend weighted_rows(DType from, DType to, bool keep_equal) noexcept;

/// Returns the kernel that writes weighted rows of whole aligned lines past the cache; call finish_stores() afterwards.
/// Returns null if vectors are too short, and for types other than float32 and float64.
Blend weighted_lines(DType dtype, bool keep_equal) noexcept;

/// The steps of a mean whose terms come in several calls. Between two calls the elements of dst hold the upper halves of the
/// float64 sums, and BlendRows::low holds the lower halves. So a sum needs no memory but the output and as much again, or half
/// as much for short sums. A short sum is rounded to the upper 48 bits of a float64 (37 significant bits), to nearest even, after
/// each addition but the last.
enum class Fold : std::uint8_t {
  begin,   ///< terms to sums
  add,     ///< sums and terms to sums
  finish,  ///< sums and terms to elements
  whole,   ///< terms to elements
};
constexpr bool makes_elements(Fold step) noexcept {
  return step == Fold::finish || step == Fold::whole;
}
/// Returns the kernel for one step of a mean of float32. The elements of a term may be those of dst. If the weights of all terms of
/// all steps add up to 1, but for the rounding of float64, the elements have the bits of weighted_rows(float32, float32, true) for
/// all terms at once. Short sums of up to 2^10 terms give equal elements too; their weights need not add up to 1 if `inverse` is 1
/// / their sum; the step `begin` takes at least two terms. The bits of an element do not depend on how its terms are divided
/// among calls.
Blend folding_rows(Fold step, bool is_short = false) noexcept;

/// Weights that are to be divided by their sum over all terms. Each term has the same number of rows of `count` weights.
struct RawWeights {
  struct Term {
    const double* from = nullptr;
    std::int64_t pitch = 0;  ///< numbers from row to row
  };
  const Term* terms = nullptr;
  std::int64_t terms_count = 1;
  std::int64_t rows = 1;
  std::int64_t count = 0;
  double* to = nullptr;         ///< rows of the first term, without gaps
  std::int64_t term_pitch = 0;  ///< numbers from term to term
};

/// Replaces each weight by weight * (1 / sum), where the sum adds the weights of all terms in their order. Where the sum is 0,
/// weights remain 0.
void normalise(const RawWeights& weights) noexcept;

enum class Integers64 : std::uint8_t { mean, sum };
/// Returns the kernel for int64 and uint64 without weights, which adds in 128-bit integers.
Blend integer64_rows(DType dtype, Integers64 what) noexcept;

/// Returns the kernel for the largest or the smallest element, for real types. The kernel gives the first NaN if there is one, and
/// the first of equal elements.
Blend extreme_rows(DType dtype, bool largest) noexcept;

/// Returns the kernel for the median of real numbers: the first NaN if there is one, else the middle element; of an even number of
/// elements, the mean of the two middle ones, rounded to nearest even. -0 lies before 0. `to` must be `from`, float32 or float64;
/// null for other types.
Blend median_rows(DType from, DType to) noexcept;

/// Returns the kernel for the most frequent element, of equally frequent ones the smallest; null for types other than integers and
/// booleans.
Blend vote_rows(DType dtype) noexcept;

/// A function that sets, for `count` elements that lie side by side, whether they are NaN; a complex number is NaN if one of its
/// parts is.
using FindNans = void (*)(const std::byte* elements, std::int64_t count, bool* are_nan);
/// Returns the function for a type; null if the type has no NaN.
FindNans find_nans(DType dtype) noexcept;

/// The largest scores of some elements so far, and the numbers of their classes.
struct Ranking {
  std::byte* best = nullptr;       ///< of the scores' type
  std::int32_t* labels = nullptr;  ///< -1: no score yet
};
/// A function that compares `count` scores of a class with the best of earlier classes, and keeps the larger ones; of equal scores,
/// the earlier. A NaN counts as the largest.
using Rank = void (*)(const Ranking& ranking, const std::byte* scores, std::int64_t count, std::int32_t label);
/// Returns the function for scores of float64, int64 or uint64.
Rank rank_scores(DType dtype) noexcept;

}  // namespace patchfold::kernels
