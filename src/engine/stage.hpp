// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// Extracts whose windows overlap, leave the image or skip elements, with columns that run along positions. Null if the
/// problem is none of these, or its stage would not fit into the cache.
std::unique_ptr<Compiled> make_stage_by_positions(const Problem& problem);

/// The same with columns that run along the taps, such as patches of images with channels last.
std::unique_ptr<Compiled> make_stage_by_taps(const Problem& problem);

}  // namespace patchfold::engine
