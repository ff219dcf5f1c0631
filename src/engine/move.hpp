// SPDX-License-Identifier: Apache-2.0
// Strategies that copy: extract and the inverses of block operators.
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// One contiguous run of bytes on both sides.
bool is_memcpy(const Problem& problem);
std::unique_ptr<Compiled> make_memcpy(const Problem& problem);

/// Any extract or combine_copy, row by row.
bool is_move(const Problem& problem);
std::unique_ptr<Compiled> make_move(const Problem& problem);

}  // namespace patchfold::engine
