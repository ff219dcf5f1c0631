// SPDX-License-Identifier: Apache-2.0
// How the elements of one cell are made from those of its tiles.
#pragma once

#include <vector>

#include "tiling/axis_weights.hpp"
#include "tiling/rules.hpp"
#include "tiling/tile_weights.hpp"

namespace patchfold::tiling {

/// The tiles of a cell, in ascending order: for each the cell's first element, the strides, and weights of its own.
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
  /// Whether any of them has weights of its own, and whether any of these is 0.
  bool has_factors() const noexcept { return has_factors_; }
  bool has_zeros() const noexcept { return has_zeros_; }
  /// In bytes, along an axis of the result.
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

/// Everything that is worked out once for a cell: how its elements are reduced, in which rows, and with which weights. Every
/// element of the output is written once, from all its contributions at the same time, so there is no accumulator.
///
/// A row is the longest stretch of the cell that has one step in the output and one in each source, and along which at most
/// one tiled axis runs: a call of a kernel makes some rows, or a part of one. Threads share out the rows; long rows are cut
/// into pieces for that.
///
/// The Merger makes plans for the cells that a tile finishes, and, where tiles are copied, for the parts that have to wait.
/// A CellWriter writes the rows. A plan keeps pointers to the sources, the weights and the output, so it lives no longer
/// than one call of Merger::add.
class CellPlan {
 public:
  /// Makes the elements of a cell. Without sources the cell is filled.
  CellPlan(const Rules& rules, AxisWeights& weights, const Dims& segments, Sources sources, std::byte* output,
           const Dims& output_strides);
  /// Copies the elements of one tile that lie in a cell to `piece`, without gaps.
  CellPlan(const Rules& rules, const Dims& segments, Sources source, std::byte* piece);

  /// Pieces of all rows.
  std::int64_t pieces() const noexcept { return rows_ * row_pieces_; }
  double bytes() const noexcept;
  /// Bytes of a row of the output.
  std::int64_t row_bytes() const noexcept { return count_ * rules_.output_element; }
  /// Whether row i of this cell follows row i of the other one in the output. Such cells are made together, a few rows at a
  /// time, so that memory is visited in longer stretches.
  bool continues(const CellPlan& before) const noexcept;
  /// Finds an element to which weights of 0 leave no tile; `at` gets its place in the output. It looks at every element if
  /// tiles have weights of their own that are 0.
  bool find_uncovered(Dims& at) const;

 private:
  struct Axis {
    std::int64_t extent = 1;
    std::int64_t stride = 0;  ///< of the output, in bytes
    int tiled = -1;           ///< the tiled axis that it is, or -1
    int axis = 0;             ///< of the result
  };
  friend class CellWriter;
  /// How elements are made.
  enum class Kind : std::uint8_t {
    fill,    ///< no tile contributes
    copy,    ///< one tile contributes, and its values stay
    plain,   ///< several tiles, without weights
    sums,    ///< weights are a product of one list for each tiled axis, normalised beforehand
    given,   ///< weights are those of an array for each source: of the window, or the tile's own
    general  ///< weights are products that are made for each element: some are 0, or the mask leaves tiles out, or a tile
             ///< has weights of its own beside the window's
  };
  /// The weights of a source of Kind::given: that of the cell's first element, and the strides along the axes of the
  /// result, in numbers.
  struct Given {
    const double* first = nullptr;
    Dims strides{};
  };

  void lay_out(const Dims& output_strides, std::int64_t output_element);
  void weigh(AxisWeights& weights);
  void take_given();
  /// Whether the weights of Kind::given lie side by side along a row.
  bool are_beside() const noexcept;
  bool is_even() const noexcept;
  /// Which of the segment's tiles along a tiled axis a source of Kind::sums is: all combinations are there, in order.
  std::int64_t number(std::size_t source, int axis) const noexcept {
    return numbers_[source * static_cast<std::size_t>(segments_.size()) + static_cast<std::size_t>(axis)];
  }
  /// The weights of a source of Kind::sums along a tiled axis that does not run along the row.
  const double* weights_along(std::size_t source, int axis) const noexcept {
    return along_[static_cast<std::size_t>(axis)]->weights.data() + number(source, axis) * extents_[axis];
  }

  const Rules& rules_;
  Dims segments_;
  Dims extents_{};  ///< of the cell along the tiled axes
  Sources sources_;
  std::byte* output_;
  Kind kind_ = Kind::copy;
  std::vector<Axis> outer_{};  ///< the last one runs fastest
  std::int64_t rows_ = 1;
  std::int64_t count_ = 1;        ///< elements of a row
  std::int64_t row_pieces_ = 1;   ///< pieces of a row
  std::int64_t piece_count_ = 1;  ///< elements of a piece, but for the last one of a row
  std::int64_t repeat_ = 1;       ///< elements of a row with the same coordinate along run_
  int run_ = -1;                  ///< the tiled axis along the row
  std::int64_t step_ = 0;         ///< of the output along a row, in bytes
  std::vector<std::int64_t> source_steps_{};
  std::vector<std::int64_t> factor_steps_{};  ///< the same of tiles' own weights, where no tiled axis moves; in elements
  std::vector<Dims> insides_{};               ///< Kind::given and general: where the cell begins in the results of the tiles
  std::vector<Given> given_{};                ///< Kind::given
  bool has_zeros_ = false;                    ///< some weights are 0
  std::vector<std::int64_t> numbers_{};       ///< Kind::sums
  /// Kind::sums: the weights along each tiled axis; along run_ one for each number of a row. Without run_, weights of 1 for
  /// the row come last.
  std::vector<const AxisWeights::List*> along_{};
};

}  // namespace patchfold::tiling
