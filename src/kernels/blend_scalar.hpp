// SPDX-License-Identifier: Apache-2.0
// What blend.cpp leaves to loops over single elements.
#pragma once

#include "kernels/blend.hpp"

namespace patchfold::kernels {

/// weighted_row() for every type.
BlendRow weighted_row_scalar(DType from, DType to, bool keep_equal) noexcept;

}  // namespace patchfold::kernels
