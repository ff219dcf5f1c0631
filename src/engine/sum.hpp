// SPDX-License-Identifier: Apache-2.0
// Strategies that add: fold in gather form.
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// The row runs along an image axis whose taps each point at many of its elements; null where they do not.
std::unique_ptr<Compiled> make_sum_by_rows(const Problem& problem);

/// Any sum, one element at a time: for strides so long that a tap points at one element of a row at most.
std::unique_ptr<Compiled> make_sum_by_elements(const Problem& problem);

}  // namespace patchfold::engine
