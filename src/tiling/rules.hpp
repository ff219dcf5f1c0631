// SPDX-License-Identifier: Apache-2.0
// What holds for all cells of a merge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/blend.hpp"
#include "kernels/stream.hpp"
#include "tiling/cells.hpp"
#include "tiling/names.hpp"
#include "tiling/weights.hpp"

namespace patchfold::tiling {

struct Rules {
  /// Checks the spec. Throws Error(value, dtype, ..), also for elements that no tile gives without a fill.
  Rules(const Tiling& tiling, const MergeSpec& spec);

  Reduce reduce;
  Weights weights;
  Cells cells;
  Dims channels;
  DType dtype;
  DType output_dtype;
  std::int64_t element;         ///< bytes of a tile's element
  std::int64_t output_element;  ///< bytes
  int parts = 1;                ///< numbers in an element: 2 for complex ones
  bool is_weighted = false;     ///< weights change values
  kernels::BlendRow row{};      ///< reduces several tiles; null if one is selected
  kernels::BlendRow lines{};    ///< the same for whole lines past the cache; may be null
  bool has_fill = false;
  std::array<std::byte, 16> fill{};
  kernels::Store store = kernels::Store::plain;  ///< of elements that one tile gives

  /// Axes of a result and of the output that are tiled.
  Dims axes;
  /// The tiled axis that an axis of the result is, or -1.
  int tiled(int axis) const noexcept;
  /// Where a cell begins in the result of a tile.
  Dims inside_tile(std::int64_t tile, const Dims& segments) const;
  /// Extents of a box of these extents along the tiled axes, with channels.
  Dims box(const Dims& tiled_extents) const { return interleaved(cells.tiling(), channels, tiled_extents); }

 private:
  static int rank_of(const Dims& channels, const Tiling& tiling);
  void check_bytes() const;
  void check_holes() const;
};

}  // namespace patchfold::tiling
