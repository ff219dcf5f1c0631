// SPDX-License-Identifier: Apache-2.0
// The rows of the strategy table that copy. The strategy "NAME" lives in copies/NAME.cpp.
#pragma once

#include <memory>

#include "engine/compiled.hpp"

namespace patchfold::engine {

// Each make_ function returns the plan of a problem in normal form, or null if the strategy does not fit the problem. The comments
// list the problems that fit. The table (engine/table.cpp) asks the _pay functions whether a strategy is worth its planning.

/// Problems without destination elements.
std::unique_ptr<Compiled> make_nothing(const Problem& problem);
/// Copies of one contiguous run of bytes.
std::unique_ptr<Compiled> make_memcpy(const Problem& problem);

// Copies without windows, such as those of the block operators.

/// Copies of small elements that lie together on one side and form a few streams on the other side. Also sums that join
/// streams and have one term for each element; such sums differ from copies only for zeros and NaNs.
std::unique_ptr<Compiled> make_streams(const Problem& problem);
bool streams_pay(const Problem& problem);
/// Copies with any strides on both sides; also extracts whose windows overlap but lie inside the image, and sums of one term each.
std::unique_ptr<Compiled> make_strided(const Problem& problem);

// Other copies.

/// Extracts whose columns have no gaps and run along positions, from images of one channel that stay in the cache.
std::unique_ptr<Compiled> make_extract_maps(const Problem& problem);
bool extract_maps_pay(const Problem& problem);
/// Extracts through scratch memory, band by band, in the order of the destination and with the borders filled in.
std::unique_ptr<Compiled> make_bands(const Problem& problem);
bool bands_pay(const Problem& problem);
/// Problems that consist of parts without windows: extracts whose windows mostly lie inside the image, and inverses of block
/// operators whose outermost blocks lie only partly in the image.
std::unique_ptr<Compiled> make_parts(const Problem& problem);
bool parts_pay(const Problem& problem);
/// Any extract or combine_copy, row by row.
std::unique_ptr<Compiled> make_move(const Problem& problem);

/// Returns whether a problem has no destination elements.
bool is_nothing(const Problem& problem) noexcept;

}  // namespace patchfold::engine
