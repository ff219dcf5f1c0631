// SPDX-License-Identifier: Apache-2.0
// Blends in loops over single elements: for types that blend.cpp has no vectors for, for rows shorter than a vector, and for
// processors without vectors.
#pragma once

#include <cstring>

#include "kernels/blend.hpp"

namespace patchfold::kernels {

template <class T>
T load(const std::byte* row, std::int64_t j) {
  T value;
  std::memcpy(&value, row + j * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void save(std::byte* row, std::int64_t j, T value) {
  std::memcpy(row + j * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Calls f(dst, elements_of, row, j) for each element, where elements_of(i) is the row of term i.
template <class F>
void each_element(const BlendRows& b, F f) {
  for (std::int64_t r = 0; r < b.rows; ++r) {
    const auto elements_of = [&b, r](std::int64_t i) { return b.terms[i].elements + r * b.terms[i].pitch; };
    for (std::int64_t j = 0; j < b.count; ++j) f(b.dst + r * b.pitch, elements_of, r, j);
  }
}

/// Returns weighted_rows() in plain loops, for every type.
Blend weighted_rows_scalar(DType from, DType to, bool keep_equal) noexcept;

/// Computes one element of folding_rows().
void fold_one(Fold step, bool is_short, const BlendRows& rows, std::int64_t row, std::int64_t j) noexcept;
/// Returns folding_rows() in plain loops.
Blend folding_rows_scalar(Fold step, bool is_short = false) noexcept;

/// Computes one number of normalise().
void normalise_one(const RawWeights& weights, std::int64_t row, std::int64_t j) noexcept;

}  // namespace patchfold::kernels
