// SPDX-License-Identifier: Apache-2.0
// The plan of one cell: which elements form its rows, and how they are made from those of its tiles.
#pragma once

#include <variant>
#include <vector>

#include "tiling/axis_weights.hpp"
#include "tiling/own_weights.hpp"
#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// The tiles that a cell is made from, in ascending order. Each has the address of the cell's first element, a stride in
/// bytes for each axis of the result, and perhaps weights of its own. Strides of all tiles lie in one list: a plan is made
/// for every cell, and a list for each tile would be an allocation more.
class Sources {
 public:
  explicit Sources(int rank = 0, std::size_t most = 0) : rank_(static_cast<std::size_t>(rank)) {
    all_.reserve(most);
    strides_.reserve(most * rank_);
  }
  void push_back(std::int64_t tile, const std::byte* data, const Dims& strides, const Factors& factors = {}) {
    all_.push_back({tile, data, factors});
    has_factors_ |= factors.first != nullptr;
    has_zeros_ |= factors.first != nullptr && factors.of->has_zero;
    for (std::size_t axis = 0; axis < rank_; ++axis) strides_.push_back(strides[static_cast<int>(axis)]);
  }
  std::size_t size() const noexcept { return all_.size(); }
  std::int64_t tile(std::size_t i) const noexcept { return all_[i].tile; }
  const std::byte* data(std::size_t i) const noexcept { return all_[i].data; }
  const Factors& factors(std::size_t i) const noexcept { return all_[i].factors; }
  /// Returns whether any tile has weights of its own.
  bool has_factors() const noexcept { return has_factors_; }
  /// Returns whether any of these weights is 0.
  bool has_zeros() const noexcept { return has_zeros_; }
  /// Returns the bytes from an element of tile i to the next one along an axis of the result.
  std::int64_t stride(std::size_t i, int axis) const noexcept {
    return strides_[i * rank_ + static_cast<std::size_t>(axis)];
  }

 private:
  struct One {
    std::int64_t tile;
    const std::byte* data;
    Factors factors;
  };
  std::size_t rank_;
  bool has_factors_ = false;
  bool has_zeros_ = false;
  std::vector<One> all_{};
  std::vector<std::int64_t> strides_{};
};

/// A cell as rows. A row is the longest stretch of the cell that has one step in the output and one in each source, and
/// along which at most one tiled axis runs. Long rows are cut into pieces, so that threads can share one row.
struct CellRows {
  struct Axis {
    std::int64_t extent = 1;
    std::int64_t stride = 0;  ///< of the output, in bytes
    int tiled = -1;           ///< the tiled axis that it is, or -1
    int axis = 0;             ///< of the result
  };
  /// From an element of a row to the next, in one source.
  struct Step {
    std::int64_t bytes = 0;
    std::int64_t weights = 0;  ///< numbers, in the tile's own weights, while the coordinate along `run` stays
  };

  std::vector<Axis> outer{};     ///< from row to row: each has two elements or more, and the last one runs fastest
  std::int64_t number = 1;       ///< of rows
  std::int64_t count = 1;        ///< elements of a row
  std::int64_t pieces = 1;       ///< of a row
  std::int64_t piece_count = 1;  ///< elements of a piece, but for the last one of a row
  int run = -1;                  ///< the tiled axis along the row, or -1
  std::int64_t repeat = 1;       ///< elements of a row with the same coordinate along `run`; without it all are
  std::int64_t step = 0;         ///< bytes from an element of a row to the next, in the output
  std::vector<Step> steps{};     ///< for each source
};

/// The ways to make the elements of a cell. Each holds what its writer needs beside the rows.
/// No tile contributes: elements are the fill.
struct Fill {};
/// One tile contributes, and its values stay.
struct Copy {};
/// Several tiles, whose values have no weights.
struct Unweighted {};
/// Weights are products of one number for each tiled axis, normalised along each axis beforehand. Every combination of the
/// segments' tiles is a source.
struct ProductWeights {
  struct Row {
    const double* weights;  ///< for each number of the row's elements; 1 where no tiled axis runs along rows
    const float* rough;     ///< the same in float32, or null
  };
  std::vector<Row> rows{};  ///< for each source
  std::vector<const double*>
      along{};           ///< for each source, and in it each tiled axis but `run`: a weight for each coordinate
  int factor = -1;       ///< the tiled axis from row to row, if its weight is the last one that a row's are multiplied by
  bool is_late = false;  ///< axes after `run` have to be multiplied after it, so that bits are the same for every layout
};
/// Weights are those of one array for each source: that of the window, or the tile's own where the window is ones.
struct GivenWeights {
  struct Source {
    const double* first = nullptr;  ///< the weight of the cell's first element
    Dims strides{};                 ///< in numbers, along the axes of the result
  };
  std::vector<Source> sources{};
};
/// Weights are worked out for each element as Pairs: some are 0, or the mask leaves out tiles, or a tile has weights of its
/// own beside the window's.
struct PairWeights {
  std::vector<Dims> insides{};  ///< for each source, where the cell begins in the tile's result
};

/// Everything that is worked out once for a cell. It is made whole by plan_cell or plan_copy and never changes; a CellWriter
/// writes its rows. Every element of the output is written once, from all its contributions at the same time, so there is
/// no accumulator.
///
/// A plan points to the sources, the weights and the output, so it lives no longer than one call of Merger::add or
/// BoxMerger::merge.
struct CellPlan {
  const Rules& rules;
  Dims segments;
  Dims extents;  ///< along the tiled axes
  Sources sources;
  std::byte* output;  ///< the cell's first element
  CellRows rows{};
  bool has_zeros = false;  ///< some weights are 0
  using Way = std::variant<Fill, Copy, Unweighted, ProductWeights, GivenWeights, PairWeights>;
  Way way{};

  /// Returns the number of pieces of all rows.
  std::int64_t pieces() const noexcept { return rows.number * rows.pieces; }
  /// Returns the bytes that are read and written.
  double bytes() const noexcept;
  /// Returns the bytes of a row of the output.
  std::int64_t row_bytes() const noexcept { return rows.count * rules.output_element; }
  /// Returns whether row i of this cell follows row i of the other one in the output. Such cells are made together, a few
  /// rows at a time, so that memory is visited in longer stretches.
  bool continues(const CellPlan& before) const noexcept;
};

/// Plans to make the elements of a cell. Without sources the cell is filled.
CellPlan plan_cell(const Rules& rules, AxisWeights& weights, const Dims& segments, Sources sources, std::byte* output,
                   const Dims& output_strides);

/// Plans to copy the elements of one tile that lie in a cell to `piece`, without gaps.
CellPlan plan_copy(const Rules& rules, const Dims& segments, Sources source, std::byte* piece);

/// Finds an element to which weights of 0 leave no tile; `at` gets its place in the output. Returns false if there is none.
/// Looks at every element if tiles have weights of their own that are 0.
bool find_uncovered(const CellPlan& plan, Dims& at);

}  // namespace patchfold::tiling
