// SPDX-License-Identifier: Apache-2.0
// A checked MergeSpec: what holds for all cells of a merge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/blend.hpp"
#include "kernels/stream.hpp"
#include "tiling/cells.hpp"
#include "tiling/ledger.hpp"
#include "tiling/names.hpp"
#include "tiling/weights.hpp"

namespace patchfold::tiling {

/// What a spec holds for whole tiles and for all of them: the sampled window, and the mask. It is as large as a tile, and as
/// there are tiles, so the merges of all boxes share it.
struct TileFacts {
  /// Checks the window. Throws Error(value, length).
  TileFacts(const Tiling& tiling, const MergeSpec& spec);

  Weights weights;
  std::vector<std::uint8_t> mask;
};

/// A MergeSpec that has been checked against its tiling, with what follows from both: the cells, the sampled window, the
/// kernels for the element type, and the fill as bytes. Every way to merge begins with it (Merger, BoxMerger, merge_memory,
/// check_merge), so each mistake in a spec has one error. It never changes.
struct Rules {
  /// Checks the spec for a merge of the whole output. Throws Error(value, dtype, ..), also for elements that no tile gives
  /// where there is no fill.
  Rules(const Tiling& tiling, const MergeSpec& spec, bool to_sink);
  /// The same for a box of the output, and bands of multiples of `rows`. What the facts hold is not read in the spec.
  Rules(const Tiling& tiling, const MergeSpec& spec, std::shared_ptr<const TileFacts> facts, const Box& box,
        std::int64_t rows = 1);
  /// Throws Error(value) for an element of the box all of whose weights are 0 where there is no fill. Where the mask leaves
  /// out tiles, or the window is an array, it looks at every element.
  void check_weights() const;

  std::shared_ptr<const TileFacts> facts;
  Reduce reduce;
  const Weights& weights;
  Cells cells;
  Dims channels;
  DType dtype;
  DType output_dtype;
  std::int64_t element;            ///< bytes of a tile's element
  std::int64_t output_element;     ///< bytes
  int parts = 1;                   ///< numbers in an element: 2 for complex ones
  bool is_weighted = false;        ///< values are multiplied by weights
  bool is_selecting = false;       ///< one tile gives each element: first, last, center
  bool has_rough_weights = false;  ///< kernels get weights in float32 too
  kernels::Blend blend{};          ///< the kernel that reduces several tiles; null if one tile is selected
  kernels::Blend lines{};          ///< the same for whole lines that are written past the cache; may be null
  bool has_fill = false;
  std::array<std::byte, 16> fill{};
  kernels::Store store = kernels::Store::plain;  ///< how elements of one tile are stored

  /// The tiled axes of a result, which are also those of the output.
  Dims axes;
  /// The tiled axis that an axis of the result is, or -1.
  int tiled(int axis) const noexcept;
  /// The first element of a cell along the tiled axes of the output.
  Dims first_of(const Dims& segments) const;
  /// Where a cell begins in the result of a tile.
  Dims inside_tile(std::int64_t tile, const Dims& segments) const;
  /// Returns how far it is from one element to another of the same channels, given by their places along the tiled axes: in
  /// the unit of the strides, which are those along all axes of a result.
  std::int64_t offset(const Dims& from, const Dims& to, const Dims& strides) const noexcept;
  /// Extents of a box of these extents along the tiled axes, with channels.
  Dims box(const Dims& tiled_extents) const;

 private:
  static int rank_of(const Dims& channels, const Tiling& tiling);
  void check_bytes() const;
  void check_holes() const;
  bool is_covered_along_axes(const Dims& segments) const;
};

/// What the Ledger of such a merge counts with.
Sizes sizes_of(const Rules& rules, bool copy, bool to_sink);

}  // namespace patchfold::tiling
