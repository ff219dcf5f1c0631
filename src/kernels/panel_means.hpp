// SPDX-License-Identifier: Apache-2.0
// What panels of means share, and the loop over single elements: for instruction sets without vectors of float64, and for
// rows at the ends of a tensor, where vectors would read beyond it.
#pragma once

#include <cstdint>

#include "kernels/panel.hpp"

namespace patchfold::kernels {

/// Panel::masks_count of a mean at most.
inline constexpr std::int64_t most_masks = 1024;

/// Makes rows [first, last) of a panel whose vectors have so many lanes of type T, a real type. Nothing is read but lanes
/// that count.
template <class T>
void mean_rows(const Panel& panel, std::int64_t lanes, std::int64_t first, std::int64_t last);

/// The lanes of a mask that count in a vector, the first or the last of its row, or both.
struct LaneRange {
  std::int64_t from = 0, to = 0;
};
inline LaneRange range_of(const PanelMask& mask, bool is_first, bool is_last, std::int64_t lanes) noexcept {
  LaneRange range{0, lanes};
  if (is_first) range = {mask.first_from, mask.first_to};
  if (!is_last) return range;
  return {range.from > mask.last_from ? range.from : mask.last_from, range.to < mask.last_to ? range.to : mask.last_to};
}

}  // namespace patchfold::kernels
