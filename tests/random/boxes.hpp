// SPDX-License-Identifier: Apache-2.0
// Random merges of whole outputs, and boxes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "patchfold/tiling.hpp"
#include "random.hpp"

namespace patchfold::testing {

using Bytes = std::vector<std::byte>;

/// Calls f(index) for all indices of a box, row-major.
template <class F>
void each_index(const Dims& extents, F f) {
  if (element_count(extents) == 0) return;
  Dims at = Dims::filled(extents.size(), 0);
  while (true) {
    f(at);
    int axis = extents.size() - 1;
    for (; axis >= 0 && ++at[axis] == extents[axis]; --axis) at[axis] = 0;
    if (axis < 0) return;
  }
}

inline std::int64_t offset_of(const Dims& at, const Dims& strides) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < at.size(); ++axis) offset += at[axis] * strides[axis];
  return offset;
}

/// A merge of the whole output, with the results of its tiles.
struct Whole {
  Tiling tiling;
  MergeSpec spec;
  Dims axes{};
  std::vector<Bytes> results{};  ///< of each tile, contiguous
  Dims shape{};                  ///< of the output
  std::size_t output_size = 0;
  Bytes output{};
};

/// Returns a merge, or nothing where what is drawn makes none.
std::optional<Whole> draw_whole(Random& random);
Box draw_box(Random& random, const Tiling& tiling);
std::string text_of(const Whole& whole, const Box& box);
/// Returns the number of elements of a box whose bits differ from those of the whole merge.
std::int64_t wrong_elements(Random& random, const Whole& whole, const BoxMerger& merger, const Box& box);

}  // namespace patchfold::testing
