// SPDX-License-Identifier: Apache-2.0
#include "tiling/cell_writer.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace patchfold::tiling {

CellWriter::CellWriter(const CellPlan& plan, std::int64_t piece)
    : plan_(plan),
      part_(plan.rows.count),
      src_(plan.sources.size()),
      tiled_at_(Dims::filled(plan.extents.size(), 0)),
      piece_(piece % plan.rows.pieces) {
  for (const CellRows::Axis& axis : plan.rows.outer) outer_.push_back(axis.extent);
  at_ = index_at(piece / plan.rows.pieces, outer_);
  place_row();
}

void CellWriter::place_row() noexcept {
  dst_ = plan_.output;
  low_ = plan_.folding ? plan_.folding->low : nullptr;
  for (std::size_t s = 0; s < sources(); ++s) src_[s] = plan_.sources.data(s);
  for (int i = 0; i < at_.size(); ++i) {
    const CellRows::Axis& axis = plan_.rows.outer[static_cast<std::size_t>(i)];
    dst_ += at_[i] * axis.stride;
    if (low_ != nullptr) low_ += at_[i] * plan_.folding->strides[axis.axis];
    for (std::size_t s = 0; s < sources(); ++s) src_[s] += at_[i] * plan_.sources.stride(s, axis.axis);
    if (axis.tiled >= 0) tiled_at_[axis.tiled] = at_[i];
  }
}

void CellWriter::advance_by(std::int64_t rows) noexcept {
  if (at_.empty()) return;
  at_.back() += rows - 1;
  advance(at_, outer_);
  if (at_.back() == 0) return place_row();  // outer axes have two elements or more, so another axis has advanced
  dst_ += rows * pitch();
  low_ += rows * low_pitch();
  for (std::size_t s = 0; s < sources(); ++s) src_[s] += rows * pitch(s);
  if (const int tiled = plan_.rows.outer.back().tiled; tiled >= 0) tiled_at_[tiled] += rows;
}

void CellWriter::make(std::int64_t pieces) noexcept {
  const CellRows& rows = plan_.rows;
  while (pieces > 0) {
    const bool is_single = rows.pieces > 1 || at_.empty();
    const std::int64_t together = is_single ? 1 : std::min({pieces, most_rows_, outer_.back() - at_.back()});
    const std::int64_t begin = piece_ * rows.piece_count;
    const std::int64_t end = std::min(begin + rows.piece_count, rows.count);
    for (std::int64_t part = begin; part < end; part += part_) write(together, part, std::min(part_, end - part));
    pieces -= together;
    if (++piece_ < rows.pieces) continue;
    piece_ = 0;
    advance_by(together);
  }
}

std::int64_t CellWriter::row_offset(const Dims& strides) const noexcept {
  std::int64_t offset = class_ * strides[0];
  for (int i = 0; i < at_.size(); ++i) offset += at_[i] * strides[plan_.rows.outer[static_cast<std::size_t>(i)].axis];
  return offset;
}

}  // namespace patchfold::tiling
