// SPDX-License-Identifier: Apache-2.0
// Tests sums and means of given contributions, on images of several ranks.
#pragma once

#include "vectors/support.hpp"

namespace patchfold::vectors {

/// For each geometry in the table below: folds columns that add the contributions to every pixel, in the given order, and
/// expects `expected` in every pixel. What falls into the pads is dropped.
template <class T>
void expect_folded(FoldReduce reduce, DType dtype, const std::vector<T>& contributions, T expected) {
  const auto taps = static_cast<std::int64_t>(contributions.size());
  const struct {
    Dims image, kernel, padding;
  } geometries[] = {{{1}, {taps}, {taps - 1}},
                    {{67}, {taps}, {taps - 1}},
                    {{5, 33}, {1, taps}, {0, taps - 1}},
                    {{5, 33}, {taps, 1}, {taps - 1, 0}},
                    {{40, 130}, {taps, 1}, {taps - 1, 0}},
                    {{2, 3, 17}, {1, taps, 1}, {0, taps - 1, 0}},
                    {{2, 3, 2, 5}, {1, 1, taps, 1}, {0, 0, taps - 1, 0}}};
  for (const auto& [image, kernel, padding] : geometries)
    for (const Layout layout : {Layout::channels_first, Layout::channels_last}) {
      PadsList pads;
      std::int64_t positions = 1;
      for (int i = 0; i < image.size(); ++i) {
        pads.push_back({padding[i], padding[i]});
        positions *= image[i] + 2 * padding[i] - kernel[i] + 1;
      }
      const std::int64_t channels = 3;
      const bool last = layout == Layout::channels_last;
      std::vector<T> columns;
      for (std::int64_t i = 0; i < channels * positions; ++i)
        for (const auto value : contributions) columns.push_back(value);
      std::vector<T> first;
      for (std::int64_t c = 0; c < channels; ++c)
        for (const auto value : contributions) first.insert(first.end(), static_cast<std::size_t>(positions), value);
      Dims out = {1};
      if (!last) out.push_back(channels);
      out.append(image);
      if (last) out.push_back(channels);
      const Fold op = {.output_size = image, .kernel_size = kernel, .padding = pads, .layout = layout, .reduce = reduce};
      SCOPED_TRACE(to_string(image) + (last ? " channels last" : ""));
      expect_same(op, dtype, last ? Dims{1, positions, channels * taps} : Dims{1, channels * taps, positions},
                  last ? columns : first, out, std::vector<T>(static_cast<std::size_t>(element_count(out)), expected));
    }
}

}  // namespace patchfold::vectors
