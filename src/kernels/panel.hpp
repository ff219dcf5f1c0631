// SPDX-License-Identifier: Apache-2.0
// Sums of overlapping columns, in registers.
//
// A panel is a block of accumulators, a few rows of a few vectors, that stays in registers while one term after another is
// added to it; then it is rounded and stored once. So each element of the output is written once, however many columns reach
// it, and each column is read in long runs. Accumulators begin as +0 and terms are added in the order given, as in
// kernels/sum.hpp, so that both give the same bits.
//
// The strategy "sum panels" (engine/sums/sum_panels.cpp) cuts the output of fold into panels and lists their terms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/mean.hpp"
#include "patchfold/tensor.hpp"

namespace patchfold::kernels {

/// The lanes of a term that count in the first and in the last vector of a row: [from, to). The others add nothing: a panel
/// may begin before its term and end after it. Where a row is one vector, a lane counts if both ranges hold it.
struct PanelMask {
  std::int16_t first_from = 0;
  std::int16_t first_to = 0;
  std::int16_t last_from = 0;
  std::int16_t last_to = 0;
};

/// What is added to a panel: a column, or a part of one, in rows as the panel's.
struct PanelTerm {
  std::int64_t offset = 0;  ///< bytes from Panel::src to its first row
  std::int64_t mask = 0;    ///< index into Panel::masks
};

/// The work of one call. `rows` may be more than registers hold: the kernel then takes a few rows at a time, all terms for
/// each.
struct Panel {
  const PanelTerm* terms = nullptr;
  std::int64_t count = 0;
  const PanelMask* masks = nullptr;
  const std::byte* src = nullptr;  ///< what offsets count from, for the panel's first row
  std::int64_t vectors = 1;        ///< in a row, 1 to PanelKernel::most_vectors
  std::int64_t rows = 1;
  std::int64_t src_pitch = 0;  ///< bytes from row to row, in each term
  std::byte* to = nullptr;     ///< elements, rounded; rows of whole vectors
  std::int64_t to_pitch = 0;
  std::int64_t prefetch = 0;  ///< bytes ahead in each term; 0: none
  /// A vector may read lanes that do not count from beyond its column, but nothing outside of [begin, end) is read.
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  std::int64_t low = 0;  ///< the least and the greatest offset
  std::int64_t high = 0;
  // Of means only.
  std::int64_t masks_count = 0;    ///< each of which belongs to as many terms as the others
  const FillLine* fill = nullptr;  ///< of lanes that no term counts for
  bool* certain = nullptr;         ///< becomes false if needs_care() may be true for an element
};

/// The kernel of one element type on one instruction set. It lives as long as the process.
struct PanelKernel {
  std::int64_t lanes = 1;      ///< in a vector of accumulators
  std::int64_t lane_size = 1;  ///< bytes of a lane in memory: of an element, or of half a complex number
  std::int64_t most_vectors = 1;
  void (*sum)(const Panel& panel) = nullptr;
  std::int64_t (*rows)(std::int64_t vectors) = nullptr;  ///< how many rows of that many vectors fit into registers
};

/// For a summable type, on the instruction set in use.
const PanelKernel& panel_kernel(DType dtype) noexcept;

/// The same for means of at most 2^15 terms, as kernels/mean.hpp says: elements whose terms have the same bits become that.
const PanelKernel& mean_panel_kernel(DType dtype) noexcept;

}  // namespace patchfold::kernels
