// SPDX-License-Identifier: Apache-2.0
// Problems drawn at random.
#pragma once

#include <cstdint>

#include "bench/placed.hpp"

namespace patchfold::bench {

/// Returns problem `index` of the sequence of `seed`: the same problem on every machine, whatever else is drawn. Operator, kernel
/// (1 to 32), strides, dilations, pads, element type, shape (128 KB to 64 MB) and both layouts are random.
PlacedProblem draw(std::uint64_t seed, std::int64_t index);

}  // namespace patchfold::bench
