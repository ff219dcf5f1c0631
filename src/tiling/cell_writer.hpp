// SPDX-License-Identifier: Apache-2.0
// Writes the rows of a cell.
#pragma once

#include <memory>

#include "tiling/cell_plan.hpp"

namespace patchfold::tiling {

/// Writes rows of a cell, one after the other, as its plan says. It holds the position and the memory that one thread needs:
/// each thread has a writer of its own for the rows that it takes. Nothing here throws, since threads of an executor run it.
class CellWriter {
 public:
  explicit CellWriter(const CellPlan& plan) noexcept;
  /// Goes to a piece of a row. Returns false if memory runs out.
  bool seek(std::int64_t piece) noexcept;
  /// Writes so many pieces and goes to the next.
  void make(std::int64_t pieces) noexcept;

 private:
  bool reserve() noexcept;
  void place_row() noexcept;
  void advance_by(std::int64_t rows) noexcept;
  std::int64_t rows_together(std::int64_t most) const noexcept;
  void weigh() noexcept;
  void weigh_late(std::int64_t begin, std::int64_t count) noexcept;
  void write_rows(std::int64_t rows) noexcept;
  void write_piece(std::int64_t begin, std::int64_t count) noexcept;
  void copy(std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept;
  void make_part(std::int64_t begin, std::int64_t count) noexcept;
  void weigh_general(std::int64_t begin, std::int64_t count) noexcept;
  void weigh_given(kernels::BlendTerm* terms, std::int64_t rows, std::int64_t begin, std::int64_t count) noexcept;
  const double* given_row(std::size_t source, std::int64_t begin, std::int64_t count) noexcept;
  void make_stretches(std::byte* dst, std::int64_t count) noexcept;
  double own_weight(std::size_t source, std::int64_t j) const noexcept;
  void reduce(std::byte* dst, std::int64_t count, std::size_t terms_count) noexcept;
  /// Whether the weight of an element of a part is above 0.
  bool takes_part(std::size_t source, std::int64_t j) const noexcept {
    return plan_.kind_ == CellPlan::Kind::given ? raw_[source].from[j * plan_.rules_.parts] != 0
                                                : pairs_[source * part_ + static_cast<std::size_t>(j)].high != 0;
  }
  /// Bytes from a row to the next, in a source and in the output.
  std::int64_t pitch(std::size_t source) const noexcept {
    return plan_.outer_.empty() ? 0 : plan_.sources_.stride(source, plan_.outer_.back().axis);
  }
  std::int64_t pitch() const noexcept { return plan_.outer_.empty() ? 0 : plan_.outer_.back().stride; }

  const CellPlan& plan_;
  const bool is_late_;          ///< weights of a row cannot be a factor and a list
  bool is_even_ = true;         ///< elements of a row lie side by side in the output and in all sources
  bool is_staged_ = false;      ///< rows are made in the first cache and leave past it, some at a time
  bool in_parts_ = false;       ///< rows are made part by part, in memory of the writer's own
  bool is_beside_ = false;      ///< Kind::given: the weights of a row lie side by side
  std::int64_t most_rows_ = 0;  ///< of Kind::given that are made together; 0: none are
  Dims outer_{};                ///< extents of the plan's outer axes
  Dims at_{};                   ///< the row: an index along the outer axes
  Dims tiled_at_{};             ///< along the tiled axes, within the cell; 0 along the row
  std::int64_t piece_ = 0;      ///< of the row
  int factor_ = -1;  ///< Kind::sums: the tiled axis that the next row is along, if it is the last factor of a row's scale
  std::byte* dst_ = nullptr;
  std::size_t part_ = 0;  ///< elements that are made at a time
  bool streams_ = false;  ///< parts of the output are made in the first cache and leave past it

  // All of one allocation: entries for each source, or parts of rows.
  std::unique_ptr<std::byte[]> memory_{};
  const std::byte** src_ = nullptr;      ///< the row
  kernels::BlendTerm* terms_ = nullptr;  ///< of the row
  kernels::BlendTerm* part_terms_ = nullptr;
  kernels::BlendTerm* chosen_ = nullptr;      ///< those whose weight is not 0
  std::int64_t* tiles_ = nullptr;             ///< the same: their tiles
  Pair* pairs_ = nullptr;                     ///< weights before they are normalised
  kernels::RawWeights::Term* raw_ = nullptr;  ///< Kind::given: the same, of the next rows or of a part
  double* gathered_ = nullptr;                ///< Kind::given: those that do not lie side by side
  double* weights_ = nullptr;                 ///< for each number
  std::byte* elements_ = nullptr;             ///< without gaps
  std::byte* made_ = nullptr;                 ///< a part of the output without gaps
};

}  // namespace patchfold::tiling
