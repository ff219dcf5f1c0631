// SPDX-License-Identifier: Apache-2.0
// Tilings and merges made of bytes: mostly valid, and small.
#pragma once

#include <cstddef>

#include "patchfold/tiling.hpp"
#include "problem.hpp"

namespace patchfold::fuzz {

TilingSpec draw_tiling(testing::Random& random);
/// Returns a merge of tiles of that element type.
MergeSpec draw_merge(testing::Random& random, const Tiling& tiling, DType dtype, std::size_t size);

/// Returns whether arrays can be cut and merged with little memory and time.
bool is_small(const Tiling& tiling);

}  // namespace patchfold::fuzz
