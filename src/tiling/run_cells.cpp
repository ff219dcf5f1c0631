// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <new>

#include "engine/parallel_rows.hpp"
#include "tiling/cell_writer.hpp"

namespace patchfold::tiling {
namespace {

/// The most rows of neighbouring cells that are made at a time; fewer if so many rows of the longest cell have more than
/// `bytes_together` bytes. Single rows would cost a function call each; after too many rows, memory is evicted from the
/// cache before the next cell continues it.
constexpr std::int64_t rows_together = 8;
constexpr std::int64_t bytes_together = 8192;

}  // namespace

void run_cells(const std::vector<CellPlan>& work, Executor& executor) {
  // Cells whose rows follow one another in the output form a group, which is made a few rows at a time.
  std::vector<std::size_t> begins;
  std::vector<std::int64_t> piece_begins = {0};
  double bytes = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    bytes += work[i].bytes();
    if (i > 0 && work[i].continues(work[i - 1])) continue;
    begins.push_back(i);
    piece_begins.push_back(piece_begins.back() + work[i].pieces());
  }
  begins.push_back(work.size());
  std::atomic<bool> had_memory = true;
  const auto make_group = [&](std::size_t group, std::int64_t first, std::int64_t last) {
    std::vector<std::unique_ptr<CellWriter>> cells;
    cells.reserve(begins[group + 1] - begins[group]);
    std::int64_t row_bytes = 1;
    for (std::size_t i = begins[group]; i < begins[group + 1]; ++i) {
      cells.push_back(writer_of(work[i], first));
      row_bytes = std::max(row_bytes, work[i].row_bytes());
    }
    const std::int64_t together = std::clamp<std::int64_t>(bytes_together / row_bytes, 1, rows_together);
    for (; first < last; first += together)
      for (const auto& cell : cells) cell->make(std::min(together, last - first));
  };
  auto pieces_of_work = [&](std::int64_t first, std::int64_t last) noexcept {
    auto group =
        static_cast<std::size_t>(std::upper_bound(piece_begins.begin(), piece_begins.end(), first) - piece_begins.begin()) -
        1;
    try {
      for (; first < last; ++group) {
        const std::int64_t end = std::min(last, piece_begins[group + 1]);
        if (first < end) make_group(group, first - piece_begins[group], end - piece_begins[group]);
        first = end;
      }
    } catch (const std::bad_alloc&) {
      had_memory = false;
    }
    kernels::finish_stores();
  };
  throw_if_failed(engine::parallel_rows(piece_begins.back(), bytes, pieces_of_work, executor), op_merge);
  if (!had_memory) throw std::bad_alloc();
}

}  // namespace patchfold::tiling
