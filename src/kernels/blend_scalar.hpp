// SPDX-License-Identifier: Apache-2.0
// Blends in loops over single elements: for types that blend.cpp has no vectors for, for rows shorter than a vector, and for
// processors without vectors.
#pragma once

#include "kernels/blend.hpp"

namespace patchfold::kernels {

/// Returns weighted_rows() in plain loops, for every type.
Blend weighted_rows_scalar(DType from, DType to, bool keep_equal) noexcept;

/// Computes one element of folding_rows().
void fold_one(Fold step, const BlendRows& rows, std::int64_t row, std::int64_t j) noexcept;
/// Returns folding_rows() in plain loops.
Blend folding_rows_scalar(Fold step) noexcept;

/// Computes one number of normalise().
void normalise_one(const RawWeights& weights, std::int64_t row, std::int64_t j) noexcept;

}  // namespace patchfold::kernels
