// SPDX-License-Identifier: Apache-2.0
// Strategies that copy: extract and the inverses of block operators.
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// One contiguous run of bytes on both sides; null for anything else.
std::unique_ptr<Compiled> make_memcpy(const Problem& problem);

/// Any extract or combine_copy, row by row; null for sums.
std::unique_ptr<Compiled> make_move(const Problem& problem);

}  // namespace patchfold::engine
