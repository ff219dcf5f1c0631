// SPDX-License-Identifier: Apache-2.0
// Blending by loops over single elements: the types that blend.cpp has no vectors for, and every type without vectors.
#pragma once

#include "kernels/blend.hpp"

namespace patchfold::kernels {

/// weighted_row() for every type.
BlendRow weighted_row_scalar(DType from, DType to, bool keep_equal) noexcept;

}  // namespace patchfold::kernels
