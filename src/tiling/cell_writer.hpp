// SPDX-License-Identifier: Apache-2.0
// Writes the rows of a cell.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "tiling/cell_plan.hpp"

namespace patchfold::tiling {

/// Goes through the rows of a cell. A derived class for each way of a CellPlan writes several rows, or a part of one row, at a
/// time. A writer holds the position and the memory of one thread, so each thread has a writer of its own. Only the constructor
/// allocates and throws, since threads of an executor run the writer.
class CellWriter {
 public:
  virtual ~CellWriter() = default;
  CellWriter(const CellWriter&) = delete;
  CellWriter& operator=(const CellWriter&) = delete;
  /// Writes the next `pieces` pieces of rows, and moves the position beyond them.
  void make(std::int64_t pieces) noexcept;

 protected:
  static constexpr std::int64_t any_rows = std::numeric_limits<std::int64_t>::max();

  /// Makes a writer whose first piece is `piece`, counted over all rows.
  CellWriter(const CellPlan& plan, std::int64_t piece);
  /// Writes elements [begin, begin + count) of the next `rows` rows. With several rows, this range is a whole row.
  virtual void write(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept = 0;

  std::size_t sources() const noexcept { return src_.size(); }
  /// Returns the bytes from a row to the next in a source.
  std::int64_t pitch(std::size_t source) const noexcept {
    return plan_.rows.outer.empty() ? 0 : plan_.sources.stride(source, plan_.rows.outer.back().axis);
  }
  /// Returns the bytes from a row to the next in the output.
  std::int64_t pitch() const noexcept { return plan_.rows.outer.empty() ? 0 : plan_.rows.outer.back().stride; }
  /// Returns the bytes from a row to the next one in the lower parts of sums.
  std::int64_t low_pitch() const noexcept {
    return low_ == nullptr || plan_.rows.outer.empty() ? 0 : plan_.folding->strides[plan_.rows.outer.back().axis];
  }
  /// Returns the offset of the weight of the next row's first element, of class class_, from the weight of the cell's first
  /// element. `strides` are the strides of the weights along the axes of the result.
  std::int64_t row_offset(const Dims& strides) const noexcept;
  /// Returns the index of the next row along a tiled axis, within the cell; 0 for the axis along rows.
  std::int64_t tiled_at(int axis) const noexcept { return tiled_at_[axis]; }

  const CellPlan& plan_;
  std::int64_t most_rows_ = 1;    ///< the most rows in one call of write()
  std::int64_t part_;             ///< the most elements of a row in one call; a whole row where a call may have several rows
  std::byte* dst_ = nullptr;      ///< place of the next row
  std::byte* low_ = nullptr;      ///< the lower parts of the next row's sums; null without a folding, or if the step needs none
  std::vector<const std::byte*> src_;
  std::int64_t class_ = 0;  ///< for argmax: the class whose scores are made

 private:
  void place_row() noexcept;
  void advance_by(std::int64_t rows) noexcept;

  Dims outer_{};  ///< extents of the plan's outer axes
  Dims at_{};     ///< index of the next row along the outer axes
  Dims tiled_at_{};
  std::int64_t piece_;  ///< the piece of the next row at which writing goes on
};

/// Returns the writer for the way of a plan; the writer begins with piece `piece`. Throws std::bad_alloc.
std::unique_ptr<CellWriter> writer_of(const CellPlan& plan, std::int64_t piece);

}  // namespace patchfold::tiling
