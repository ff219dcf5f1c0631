// SPDX-License-Identifier: Apache-2.0
// The plan of one cell: its elements as rows, and the way to make them from the elements of its tiles.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "tiling/axis_weights.hpp"
#include "tiling/own_weights.hpp"
#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// The tiles from which a cell is made, in ascending order. Each tile has the address of its first element in the cell, a
/// stride in bytes for each axis of the result, and perhaps weights of its own. The strides of all tiles lie in one list: a
/// list for each tile would cost one more allocation for every tile of every cell.
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
  /// Returns whether any of the tiles' own weights is 0.
  bool has_zeros() const noexcept { return has_zeros_; }
  /// Returns the bytes from an element of tile i to the next element along an axis of the result.
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

/// A cell as rows. A row is the longest run of elements with one step in the output and one step in each source; at most one tiled
/// axis runs along it. Long rows are cut into pieces, so that threads can share one row.
struct CellRows {
  struct Axis {
    std::int64_t extent = 1;
    std::int64_t stride = 0;  ///< in the output, in bytes
    int tiled = -1;           ///< the axis's number among the tiled axes; -1: not tiled
    int axis = 0;             ///< the axis's number in the result
  };
  /// The step from an element of a row to the next one, in one source.
  struct Step {
    std::int64_t bytes = 0;
    std::int64_t weights = 0;  ///< in the tile's own weights, in numbers, between elements with one coordinate along `run`
  };

  std::vector<Axis> outer{};     ///< the axes from row to row, each of two elements or more; the last one runs fastest
  std::int64_t number = 1;       ///< number of rows
  std::int64_t count = 1;        ///< elements of a row
  std::int64_t pieces = 1;       ///< pieces of a row
  std::int64_t piece_count = 1;  ///< elements of a piece; the last piece of a row may have fewer
  int run = -1;                  ///< the tiled axis along the row, or -1
  std::int64_t repeat = 1;       ///< elements of a row, side by side, that share a coordinate along `run`; without `run` all
  std::int64_t step = 0;         ///< bytes from an element of a row to the next one, in the output
  std::vector<Step> steps{};     ///< for each source
};

/// The plan of a cell without tiles, whose elements are the fill. The other types of plans below hold what their writers need in
/// addition to the rows.
struct Fill {};
/// The plan of a cell with one tile, whose elements are copied.
struct Copy {};
/// The plan of a cell with several tiles, whose elements are reduced without weights.
struct Unweighted {};
/// The plan of a cell whose weights are products of one number for each tiled axis, normalised along each axis beforehand. Its
/// sources are all combinations of the tiles of its segments.
struct ProductWeights {
  struct Row {
    const double* weights;  ///< for each number of the row's elements; all 1 if no tiled axis runs along rows
    const float* rough;     ///< the weights in float32, or null
  };
  std::vector<Row> rows{};             ///< for each source
  std::vector<const double*> along{};  ///< for each source and each tiled axis but `run`: a weight for each coordinate
  int factor = -1;       ///< the tiled axis that advances from row to row, if its weight is multiplied last; else -1
  bool is_late = false;  ///< weights along `run` are multiplied by those of later axes, for equal bits in every layout
};
/// The plan of a cell whose weights come from one array for each source: the window's array, or, if the window is ones, the tile's
/// own array.
struct GivenWeights {
  struct Source {
    const double* first = nullptr;  ///< weight of the cell's first element
    Dims strides{};                 ///< in numbers, along the axes of the result
  };
  /// For each source; with Folding::inverse one more entry, for the inverse numbers. The last step of a short sum has entries for
  /// all tiles of the cell behind them, since it divides by the sum of their weights.
  std::vector<Source> sources{};
};
/// The plan of a cell whose weights are computed as Pairs (window_weights.hpp), element by element. Such a cell has weights
/// of 0, NaNs that take no part, a mask that leaves out some of its tiles, or a tile with weights of its own besides the window's.
struct PairWeights {
  std::vector<Dims> insides{};  ///< for each source, the cell's first element within the tile's result
};

/// One step of a cell whose tiles are added up in the output; the sources are the tiles of this step. Between steps the
/// output holds the upper halves of the sums, and `low` holds the lower parts, without gaps and with the axes nested as in
/// the output.
struct Folding {
  kernels::Fold step{};
  std::byte* low = nullptr;
  const double* inverse = nullptr;  ///< for each element, 1 / the sum of all tiles' weights; null: weights are normalised
                                    ///< beforehand, and those of short sums not at all
  std::int64_t first = 0;           ///< the number of the first source among the cell's tiles
  Dims strides{};                   ///< of `low`, in bytes, along the axes of the result; set by plan_cell
};

/// Everything that is computed once for a cell; a CellWriter writes the cell's rows. plan_cell or plan_copy makes a complete plan,
/// which never changes. Without a Folding, every element of the output is written once, from all its contributions together.
///
/// A plan points to the sources, the weights and the output, so it is destroyed at the end of the call of Merger::add or
/// BoxMerger::merge that made it.
struct CellPlan {
  const Rules& rules;
  Dims segments;
  Dims extents;  ///< along the tiled axes
  Sources sources;
  std::byte* output;  ///< the cell's first element
  CellRows rows{};
  bool has_zeros = false;  ///< some weights may be 0, or NaNs take no part
  std::optional<Folding> folding{};
  using Way = std::variant<Fill, Copy, Unweighted, ProductWeights, GivenWeights, PairWeights>;
  Way way{};

  /// Returns the number of pieces in all rows together.
  std::int64_t pieces() const noexcept { return rows.number * rows.pieces; }
  /// Returns the number of bytes that are read and written to make the cell.
  double bytes() const noexcept;
  /// Returns the bytes of the elements of a row of the output.
  std::int64_t row_bytes() const noexcept { return rows.count * rules.output_element; }
  /// Returns whether row i of this cell follows row i of `before` in the output, for each i. Such cells are made together, a few
  /// rows at a time, so that memory is read and written in longer runs.
  bool continues(const CellPlan& before) const noexcept;
};

/// Writes, for each element of a cell along the tiled axes, 1 / the sum of all tiles' weights; row-major.
void write_inverse(const Rules& rules, const Dims& segments, double* to);

/// Returns the plan to make the elements of a cell; a cell without sources gets the fill. With a folding, the plan makes one step
/// of the cell's sums.
///   output_strides  for the axes of a result, as in Rules::output_box
CellPlan plan_cell(const Rules& rules, AxisWeights& weights, const Dims& segments, Sources sources, std::byte* output,
                   const Dims& output_strides, const std::optional<Folding>& folding = {});

/// Returns the plan to copy the elements that one tile has in a cell to `piece`, without gaps.
CellPlan plan_copy(const Rules& rules, const Dims& segments, Sources source, std::byte* piece);

/// Makes the elements of all cells; the rows are divided among threads. Throws Error(out_of_memory, executor), and
/// std::bad_alloc.
void run_cells(const std::vector<CellPlan>& work, Executor& executor);

/// Finds an element of the cell whose weights are all 0; `at` gets its index in the output. Returns false if every element has a
/// weight above 0. Examines every element if tiles have own weights that are 0.
bool find_uncovered(const CellPlan& plan, Dims& at);

}  // namespace patchfold::tiling
