// SPDX-License-Identifier: Apache-2.0
// Writes the rows of a cell.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "tiling/cell_plan.hpp"

namespace patchfold::tiling {

/// Goes through the rows of a cell and has them written, a few or a part of one at a time, by the class that knows how:
/// there is one for each way of a CellPlan. A writer holds the position and the memory of one thread, so each thread has its
/// own for the rows that it takes. Everything is allocated when it is made; after that nothing throws, since threads of an
/// executor run it.
class CellWriter {
 public:
  virtual ~CellWriter() = default;
  CellWriter(const CellWriter&) = delete;
  CellWriter& operator=(const CellWriter&) = delete;
  /// Writes the next pieces of rows, so many, and goes on to those behind them.
  void make(std::int64_t pieces) noexcept;

 protected:
  static constexpr std::int64_t any_rows = std::numeric_limits<std::int64_t>::max();

  /// Begins with a piece, counted over all rows.
  CellWriter(const CellPlan& plan, std::int64_t piece);
  /// Writes elements [begin, begin + count) of the next rows. Of several rows it writes all elements.
  virtual void write(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept = 0;

  std::size_t sources() const noexcept { return src_.size(); }
  /// Returns the bytes from a row to the next in a source.
  std::int64_t pitch(std::size_t source) const noexcept {
    return plan_.rows.outer.empty() ? 0 : plan_.sources.stride(source, plan_.rows.outer.back().axis);
  }
  /// Returns the bytes from a row to the next in the output.
  std::int64_t pitch() const noexcept { return plan_.rows.outer.empty() ? 0 : plan_.rows.outer.back().stride; }
  /// Returns where the weight of the next row's first element stands, counted from that of the cell's first element: in
  /// weights with these strides along the axes of the result.
  std::int64_t row_offset(const Dims& strides) const noexcept;
  /// Returns the index of the next row along a tiled axis, within the cell; 0 for the axis along rows.
  std::int64_t tiled_at(int axis) const noexcept { return tiled_at_[axis]; }

  const CellPlan& plan_;
  std::int64_t most_rows_ = 1;  ///< of one call of write()
  std::int64_t part_;           ///< the most elements of a row of one call; all of them if there may be several rows
  std::byte* dst_ = nullptr;    ///< the next row
  std::vector<const std::byte*> src_;

 private:
  void place_row() noexcept;
  void advance_by(std::int64_t rows) noexcept;

  Dims outer_{};  ///< extents of the plan's outer axes
  Dims at_{};     ///< the next row: an index along the outer axes
  Dims tiled_at_{};
  std::int64_t piece_;  ///< of the next row
};

/// Makes the writer for the way of a plan, which begins with a piece. Throws std::bad_alloc.
std::unique_ptr<CellWriter> writer_of(const CellPlan& plan, std::int64_t piece);

}  // namespace patchfold::tiling
