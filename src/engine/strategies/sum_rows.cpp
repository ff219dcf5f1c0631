// SPDX-License-Identifier: Apache-2.0
// Sums row by row of the image: a row of image elements is summed in scratch memory and written once. For each tap, taken in
// ascending order, the column elements that point into the row are added. Along the row's own window a tap points at every
// stride-th element, so accumulators are kept by residue: those that one tap meets are neighbours.
#include <algorithm>
#include <array>
#include <cstring>

#include "engine/rows.hpp"
#include "engine/strategy.hpp"
#include "engine/window.hpp"
#include "kernels/sum.hpp"

namespace patchfold::engine {
namespace {

/// Accumulators of a row at most (arbitrary: 32 KiB of float32, a common L1 cache is 32 to 48 KiB).
constexpr std::int64_t chunk_elements = 4096;
/// Elements of a row whose neighbours lie apart.
constexpr std::int64_t strided_chunk = 256;
/// "sum rows" does not fit where less than one in so many elements of a row meets a tap.
constexpr std::int64_t sparse = 8;

RowPlan plan_sum(const Problem& problem) {
  return plan_rows(image_axes(problem), problem.element_size, chunk_elements, strided_chunk);
}

RowPlan plan_elements(const Problem& problem) {
  AxisList axes = image_axes(problem);
  axes.push_back({});  // the row: one element
  return plan_rows(axes, row_bytes, 1, 1);
}

/// The accumulators of one row: element y of the row stands at slot (y % residues) * depth + y / residues.
struct Slots {
  std::int64_t residues = 1;
  std::int64_t depth = 1;
};

class SumRows final : public Compiled {
 public:
  SumRows(const Problem& problem, const RowPlan& plan) : Compiled(problem), plan_(plan) {
    for (int i = 0; i < problem.windows.size(); ++i) solvers_[static_cast<std::size_t>(i)] = TapSolver(problem.windows[i]);
    rows_ = plan_.rows;
    accumulator_size_ = kernels::sum_kernel(problem.dtype).accumulator_size;
    const Slots slots = slots_of(std::min(plan_.chunk, plan_.row.extent));
    scratch_per_piece_ = ceil_div(slots.residues * slots.depth * accumulator_size_, 64) * 64;
    double taps = 1;
    for (const Window& w : problem.windows)
      taps *= std::max(
          1.0, std::min(static_cast<double>(w.kernel) * static_cast<double>(w.dilation) / static_cast<double>(w.stride),
                        static_cast<double>(w.positions)));
    bytes_ = static_cast<double>(plan_.rows * std::min(plan_.chunk, plan_.row.extent) * problem.element_size) * (1 + taps);
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const kernels::SumKernel& kernel = kernels::sum_kernel(problem_.dtype);
    Odometer odometer(plan_.counted, first);
    for (std::int64_t row = first; row < last; ++row, odometer.next()) run_row(kernel, src, dst, odometer, scratch);
  }

 private:
  /// What points into the row along one window: the taps in ascending order, each `step` bytes after the one before.
  /// Along the row's own window the offset of a tap depends on where the row begins, so `step` is not used.
  struct Loop {
    Taps taps{};
    std::int64_t first_tap = 0;  // of the row's own window
  };
  using Loops = std::array<Loop, max_axes>;

  Slots slots_of(std::int64_t count) const noexcept {
    if (plan_.row.window < 0) return {1, count};
    const std::int64_t residues = std::min(problem_.windows[plan_.row.window].stride, count);
    return {residues, ceil_div(count, residues)};
  }

  void run_row(const kernels::SumKernel& kernel, const std::byte* src, std::byte* dst, const Odometer& odometer,
               std::byte* scratch) const noexcept {
    const std::int64_t begin = plan_.row_begin(odometer);
    const std::int64_t count = plan_.row_count(begin);
    std::int64_t src_at = problem_.src_offset;
    std::int64_t dst_at = problem_.dst_offset + begin * plan_.row.dst_stride;
    if (plan_.row.window < 0) src_at += begin * plan_.row.src_stride;
    Loops loops;
    for (int i = 0; i < plan_.counted.size(); ++i) {
      const Axis& axis = plan_.counted[i];
      dst_at += odometer[i] * axis.dst_stride;
      if (axis.window < 0)
        src_at += odometer[i] * axis.src_stride;
      else
        loops[static_cast<std::size_t>(axis.window)].taps = solvers_[static_cast<std::size_t>(axis.window)].at(odometer[i]);
    }
    if (plan_.row.window >= 0) loops[static_cast<std::size_t>(plan_.row.window)] = loop_along_row(begin, count);

    const Slots slots = slots_of(count);
    std::memset(scratch, 0, static_cast<std::size_t>(slots.residues * slots.depth * accumulator_size_));
    add_taps(kernel, src, src_at, begin, count, slots, loops, scratch);
    const auto store = problem_.accumulate ? kernel.store_add : kernel.store;
    for (std::int64_t residue = 0; residue < slots.residues; ++residue)
      store(dst + dst_at + residue * plan_.row.dst_stride, slots.residues * plan_.row.dst_stride,
            scratch + residue * slots.depth * accumulator_size_, (count - residue - 1) / slots.residues + 1);
  }

  /// The taps of the row's own window that can point into [begin, begin + count) at all.
  Loop loop_along_row(std::int64_t begin, std::int64_t count) const noexcept {
    const Window& w = problem_.windows[plan_.row.window];
    if (w.positions == 0) return {};
    std::int64_t low = 0;
    std::int64_t high = w.kernel - 1;
    if (w.dilation != 0) {
      low = std::max(low, ceil_div(begin + w.pad_begin - (w.positions - 1) * w.stride, w.dilation));
      high = std::min(high, floor_div(begin + count - 1 + w.pad_begin, w.dilation));
    }
    return {{std::max<std::int64_t>(0, high - low + 1), 0, 0}, low};
  }

  /// Runs through the tuples of taps of all windows, the last window's fastest: the order of the sum.
  void add_taps(const kernels::SumKernel& kernel, const std::byte* src, std::int64_t src_at, std::int64_t begin,
                std::int64_t count, const Slots& slots, const Loops& loops, std::byte* scratch) const noexcept {
    const int windows = problem_.windows.size();
    for (int i = 0; i < windows; ++i) {
      const Loop& loop = loops[static_cast<std::size_t>(i)];
      if (loop.taps.count == 0) return;
      src_at += loop.taps.offset;
    }
    std::array<std::int64_t, max_axes> index{};
    while (true) {
      if (plan_.row.window < 0) {
        kernel.add(scratch, src + src_at, plan_.row.src_stride, count);
      } else {
        const auto own = static_cast<std::size_t>(plan_.row.window);
        add_tap(kernel, src + src_at, loops[own].first_tap + index[own], begin, count, slots, scratch);
      }
      int i = windows - 1;
      for (; i >= 0; --i) {
        const auto at = static_cast<std::size_t>(i);
        const Taps& taps = loops[at].taps;
        if (++index[at] < taps.count) {
          src_at += taps.step;
          break;
        }
        src_at -= (taps.count - 1) * taps.step;
        index[at] = 0;
      }
      if (i < 0) return;
    }
  }

  /// Adds what one tap of the row's own window points at. `src` stands at the window's tap 0 and position 0.
  void add_tap(const kernels::SumKernel& kernel, const std::byte* src, std::int64_t tap, std::int64_t begin,
               std::int64_t count, const Slots& slots, std::byte* scratch) const noexcept {
    const Window& w = problem_.windows[plan_.row.window];
    const std::int64_t origin = tap * w.dilation - w.pad_begin - begin;  // element of the row at position 0
    const std::int64_t low = std::max<std::int64_t>(0, ceil_div(-origin, w.stride));
    const std::int64_t high = std::min(w.positions, ceil_div(count - origin, w.stride));
    if (low >= high) return;
    const std::int64_t element = origin + low * w.stride;
    // Where the stride exceeds the row, residues are elements and every element has a residue of its own.
    const std::int64_t slot = element % slots.residues * slots.depth + element / slots.residues;
    kernel.add(scratch + slot * accumulator_size_, src + tap * w.tap_stride + low * w.position_stride, w.position_stride,
               high - low);
  }

  RowPlan plan_;
  std::array<TapSolver, max_axes> solvers_{};
  std::int64_t accumulator_size_ = 1;
};

}  // namespace

std::unique_ptr<Compiled> make_sum_rows(const Problem& problem) {
  if (problem.verb != Verb::combine_sum) return nullptr;
  const RowPlan plan = plan_sum(problem);
  if (plan.row.window >= 0 && problem.windows[plan.row.window].stride / sparse > std::min(plan.chunk, plan.row.extent))
    return nullptr;
  return std::make_unique<SumRows>(problem, plan);
}

std::unique_ptr<Compiled> make_sum_elements(const Problem& problem) {
  return problem.verb == Verb::combine_sum ? std::make_unique<SumRows>(problem, plan_elements(problem)) : nullptr;
}

}  // namespace patchfold::engine
