// SPDX-License-Identifier: Apache-2.0
// A checked MergeSpec, and the facts that it determines for all cells of a merge.
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
#include "tiling/window_weights.hpp"

namespace patchfold::tiling {

/// The large parts of a spec: the sampled window, with a weight for each element of a tile's result, and the mask, with an entry
/// for each tile. TileFacts do not depend on the box and never change, so a BoxMerger makes them once for all its merges.
struct TileFacts {
  /// Checks and samples the window. Throws Error(value, length).
  TileFacts(const Tiling& tiling, const MergeSpec& spec);

  Weights weights;
  std::vector<std::uint8_t> mask;
};

/// A MergeSpec that is checked against its tiling, with the facts that both determine: cells, sampled window, kernels for the
/// element type, and the fill as bytes. Merger, BoxMerger, merge_memory and check_merge all begin by making Rules, so each mistake
/// in a spec has one error. Rules never change.
///
/// Three reductions are others with a rule more. The NaN-aware ones are mean, max and min in which NaNs have the weight 0
/// (`find_nans`). Argmax is a mean of which no row is stored, but the number of the class with the largest mean (`classes`).
struct Rules {
  /// Checks the spec for a merge of the whole output. Throws Error(value, dtype, ..), also for elements without a contributing tile
  /// if there is no fill.
  Rules(const Tiling& tiling, const MergeSpec& spec, bool to_sink);
  /// Checks the spec for a merge of a box of the output; each band but the last ends at a multiple of `rows`. Window and mask come
  /// from the facts, not from the spec.
  Rules(const Tiling& tiling, const MergeSpec& spec, std::shared_ptr<const TileFacts> facts, const Box& box,
        std::int64_t rows = 1);
  /// Throws Error(value) if there is no fill and all weights of an element of the box are 0. Examines every element if the mask
  /// leaves out tiles, or if the window is an array.
  void check_weights() const;

  std::shared_ptr<const TileFacts> facts;
  Reduce reduce;                ///< without the rules below: mean for nanmean and argmax, max for nanmax, min for nanmin
  std::int64_t classes;         ///< the extent of the results' first axis, which the output lacks, for argmax; else 0
  kernels::FindNans find_nans;  ///< finds the elements that take no part; null if all do
  const Weights& weights;
  Cells cells;
  Dims channels;
  DType dtype;
  DType output_dtype;
  std::int64_t element;            ///< bytes of a tile's element
  std::int64_t output_element;     ///< bytes of an element of the output
  std::int64_t made_element;       ///< bytes of an element that `blend` makes: of the output, or for argmax of a score
  int parts = 1;                   ///< numbers in an element: 2 if it is complex, else 1
  bool is_weighted = false;        ///< elements are multiplied by weights
  bool is_selecting = false;       ///< one tile gives each element: first, last, center
  bool counts_alike = false;       ///< weights must be 0 or 1: median, vote
  bool has_rough_weights = false;  ///< kernels get the weights in float32 too
  /// The bytes of the lower part of a running sum: a cell's tiles are added up in the output, unless the mask leaves one out. 4
  /// for float64, 2 for float48, 0 if there are no running sums.
  std::int64_t low_bytes = 0;
  kernels::Blend blend{};          ///< the kernel that reduces elements of several tiles; null if one tile is selected
  kernels::Blend lines{};          ///< as `blend`, but for whole cache lines that are written past the cache; may be null
  kernels::Rank rank{};            ///< for argmax: compares scores
  bool has_fill = false;
  std::array<std::byte, 16> fill{};
  kernels::Store store = kernels::Store::plain;  ///< how the output is written

  /// The tiled axes, as axes of a result and of the output.
  Dims axes;
  /// Returns the number of an axis of the result among the tiled axes; -1 if it is not tiled.
  int tiled(int axis) const noexcept;
  /// Returns where a cell begins in the output, along each tiled axis.
  Dims first_of(const Dims& segments) const;
  /// Returns where a cell begins in a tile's result, along each tiled axis.
  Dims inside_tile(std::int64_t tile, const Dims& segments) const;
  /// Returns the distance between two elements of the same channel, whose indices along the tiled axes are `from` and `to`.
  /// `strides` are the strides along all axes of a result; the distance has their unit.
  std::int64_t offset(const Dims& from, const Dims& to, const Dims& strides) const noexcept;
  /// Returns the shape with these extents along the tiled axes, and the channels along the other axes.
  Dims box(const Dims& tiled_extents) const { return interleaved(axes, channels, tiled_extents); }
  /// Returns the shape of the output with these extents along the tiled axes, with the axes of a result: the axis of classes
  /// has one element.
  Dims output_box(const Dims& tiled_extents) const;
  /// Returns the shape, or the strides, of the output from those with the axes of a result.
  Dims without_classes(const Dims& dims) const { return dims.slice(classes > 0 ? 1 : 0, dims.size()); }

 private:
  void check_bytes() const;
  void check_holes() const;
  bool is_covered_along_axes(const Dims& segments) const;
  bool allows_short_sums() const noexcept;
};

/// Returns the number of classes for argmax, and 0 for other reductions. Throws Error(value, limit) unless the first axis of
/// results can hold them.
std::int64_t classes_of(const Tiling& tiling, const MergeSpec& spec);
/// Returns the element type of the output. Throws Error(dtype) for argmax if the type of the spec cannot hold the classes.
DType output_dtype_of(const MergeSpec& spec, std::int64_t classes);

/// Returns the sizes for the Ledger of a merge with these rules.
Sizes sizes_of(const Rules& rules, bool copy, bool to_sink);

}  // namespace patchfold::tiling
