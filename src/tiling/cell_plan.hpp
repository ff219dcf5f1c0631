// SPDX-License-Identifier: Apache-2.0
// How the elements of one cell are made from those of its tiles.
#pragma once

#include <vector>

#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// The elements of one tile that lie in a cell.
struct Source {
  std::int64_t tile = 0;
  const std::byte* data = nullptr;  ///< the cell's first element
  Dims strides{};                   ///< bytes, for each axis of the result
};

/// Everything that is worked out once for a cell: how its elements are reduced, in which rows, and with which weights. Every
/// element of the output is written once, from all its contributions at the same time, so there is no accumulator.
///
/// A row is the longest stretch of the cell that has one step in the output and one in each source, and along which at most
/// one tiled axis runs: a call of a kernel makes a row, or a part of it, and threads share out the rows.
///
/// The Merger makes plans for the cells that a tile finishes, and, where tiles are copied, for the parts that have to wait.
/// A CellWriter writes the rows. A plan keeps pointers to the sources and to the output, so it lives no longer than one call
/// of Merger::add.
class CellPlan {
 public:
  /// Makes the elements of a cell. Sources are in ascending order of their tiles; without any, the cell is filled.
  CellPlan(const Rules& rules, const Dims& segments, std::vector<Source> sources, std::byte* output,
           const Dims& output_strides);
  /// Copies the elements of one tile that lie in a cell to `piece`, without gaps.
  CellPlan(const Rules& rules, const Dims& segments, const Source& source, std::byte* piece);

  std::int64_t rows() const noexcept { return rows_; }
  double bytes() const noexcept;
  /// Whether row i of this cell follows row i of the other one in the output. Such cells are made together, row by row, so
  /// that memory is visited in longer stretches.
  bool continues(const CellPlan& before) const noexcept;

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
    general  ///< weights are made for each row: some are 0, the mask leaves tiles out, or the window is not a product
  };

  /// Where a source lies.
  struct Place {
    Dims number{};  ///< of its tile among the tiles of the segment, along each tiled axis
    Dims inside{};  ///< where the cell begins in the tile's result
  };

  void lay_out(const Dims& output_strides, std::int64_t output_element);
  void place();
  void weigh();
  bool is_even() const noexcept;

  const Rules& rules_;
  Dims segments_;
  Dims extents_{};  ///< of the cell along the tiled axes
  std::vector<Source> sources_;
  std::byte* output_;
  Kind kind_ = Kind::copy;
  std::vector<Axis> outer_{};  ///< the last one runs fastest
  std::int64_t rows_ = 1;
  std::int64_t count_ = 1;   ///< elements of a row
  std::int64_t repeat_ = 1;  ///< elements of a row with the same coordinate along run_
  int run_ = -1;             ///< the tiled axis along the row
  std::int64_t step_ = 0;    ///< of the output along a row, in bytes
  std::vector<std::int64_t> source_steps_{};
  std::vector<Place> places_{};
  /// For each tiled axis the weights of its tiles within the segment, one tile after the other; along run_ repeated for each
  /// number of a row. Without run_, one list of ones for the row comes last.
  std::vector<std::vector<double>> along_{};
};

}  // namespace patchfold::tiling
