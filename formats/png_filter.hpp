// SPDX-License-Identifier: Apache-2.0
// PNG's filters. A filter replaces the bytes of a row by their differences from neighbouring bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::formats {

/// Writes 1 + `bytes` bytes to `dst`: a filter (PNG specification, section 9) and the row filtered by it. The chosen filter gives
/// the smallest sum of the absolute values of its bytes as signed numbers; unless this sum is a tenth below the sum of the row
/// itself, the filter is none. `pixel` is the size of a pixel in bytes. `row` and `above`, the row above, need `pixel` zeros before
/// them; for the first row `above` is all zeros.
void filter_png_row(const std::uint8_t* row, const std::uint8_t* above, std::size_t bytes, std::size_t pixel,
                    std::uint8_t* dst) noexcept;

}  // namespace patchfold::formats
