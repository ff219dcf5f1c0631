// SPDX-License-Identifier: Apache-2.0
// Tilings and merges made of bytes: mostly valid, and small.
#pragma once

#include <cstddef>

#include "patchfold/tiling.hpp"
#include "problem.hpp"

namespace patchfold::fuzz {

TilingSpec draw_tiling(testing::Random& random);
/// A merge of tiles of that element type.
MergeSpec draw_merge(testing::Random& random, const Tiling& tiling, DType dtype, std::size_t size);

/// Whether so little memory and time is needed that arrays can be cut and merged.
bool is_small(const Tiling& tiling);

}  // namespace patchfold::fuzz
