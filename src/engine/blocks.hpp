// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

/// Movements without windows, such as the block operators. Each is null where it does not fit.

/// Small elements that lie together in the source and go to a few streams.
std::unique_ptr<Compiled> make_split(const Problem& problem);
/// The inverse: a few streams are interleaved. Also sums of one term each, which are copies but for zeros and NaNs.
std::unique_ptr<Compiled> make_join(const Problem& problem);
/// Matrices of small elements.
std::unique_ptr<Compiled> make_transpose(const Problem& problem);
/// Pieces of any size, written in the order of the destination.
std::unique_ptr<Compiled> make_gather(const Problem& problem);

}  // namespace patchfold::engine
