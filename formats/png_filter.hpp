// SPDX-License-Identifier: Apache-2.0
// PNG's filters: each replaces the bytes of a row by their differences from their neighbours.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::formats {

/// Writes 1 + `bytes` bytes to `dst`: a filter (PNG specification, section 9) and the row filtered by it. It is the filter
/// whose bytes, as signed numbers, have the smallest sum of absolute values, or none unless that sum is a tenth below the
/// row's own. `pixel` is the size of a pixel in bytes. That many zeros stand before `row` and before `above`, the row
/// above; for the first row `above` is all zeros.
void filter_png_row(const std::uint8_t* row, const std::uint8_t* above, std::size_t bytes, std::size_t pixel,
                    std::uint8_t* dst) noexcept;

}  // namespace patchfold::formats
