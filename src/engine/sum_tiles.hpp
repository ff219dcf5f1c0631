// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// Sums of columns whose positions, or whose elements within a position, are neighbours in memory on both sides. Null for
/// other layouts, for sums of 16-bit floats onto the output and for windows of very many taps.
std::unique_ptr<Compiled> make_sum_tiles(const Problem& problem);

}  // namespace patchfold::engine
