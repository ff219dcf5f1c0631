// SPDX-License-Identifier: Apache-2.0
// PNG's filters: what a row holds besides what its neighbours tell.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::formats {

/// Writes 1 + `bytes` bytes to `dst`: the filter (PNG specification, section 9) whose bytes, as signed numbers, have the
/// smallest sum of absolute values, or none unless that sum is a tenth smaller than the row's own, and the row filtered by
/// it. `pixel` is the size of a pixel in bytes; that many zeros stand before `row` and before `above`, the row above, which
/// is all zeros for the first row.
void filter_png_row(const std::uint8_t* row, const std::uint8_t* above, std::size_t bytes, std::size_t pixel,
                    std::uint8_t* dst) noexcept;

}  // namespace patchfold::formats
