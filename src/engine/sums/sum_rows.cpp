// SPDX-License-Identifier: Apache-2.0
// The strategy "sum rows": any sum, row by row of the image. A row of image elements is summed in scratch memory and written once.
// For each tap, in ascending order, the column elements that point into the row are added. Along the window of the row's own axis a
// tap points at every stride-th element. So accumulators are sorted by residue modulo the stride, which makes the accumulators to
// which one tap adds neighbours.
#include <algorithm>
#include <array>
#include <cstring>

#include "engine/rows.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/sums/means.hpp"
#include "engine/sums/sums.hpp"
#include "engine/window.hpp"

namespace patchfold::engine {
namespace {

/// The most accumulators of a row (arbitrary: 32 KiB of float32; a common L1 cache has 32 to 48 KiB).
constexpr std::int64_t row_elements = 4096;
/// The most elements of a row that does not run along the innermost axis.
constexpr std::int64_t strided_chunk = 256;
/// If the stride is more than `sparse` times as long as a row, so that most taps miss the row, each element becomes a row of
/// its own.
constexpr std::int64_t sparse = 8;

RowPlan plan_sum(const Problem& problem) {
  return plan_rows(image_axes(problem), problem.element_size, row_elements, strided_chunk);
}

RowPlan plan_elements(const Problem& problem) {
  AxisList axes = image_axes(problem);
  axes.push_back({});  // the row: one element
  return plan_rows(axes, row_bytes, 1, 1);
}

/// The accumulators of one row: element y of the row has slot (y % residues) * depth + y / residues.
struct Slots {
  std::int64_t residues = 1;
  std::int64_t depth = 1;
};

/// A plan of the strategy. The plan has no tables, so it fits every sum: taps are computed during the run.
class SumRows final : public Compiled {
 public:
  SumRows(const Problem& problem, const RowPlan& plan) : Compiled(problem), plan_(plan), means_(problem_) {
    for (int i = 0; i < problem.windows.size(); ++i) solvers_[static_cast<std::size_t>(i)] = TapSolver(problem.windows[i]);
    rows_ = plan_.rows;
    accumulator_size_ = accumulator_size(problem);
    const Slots slots = slots_of(std::min(plan_.chunk, plan_.row.extent));
    scratch_per_piece_ = whole_lines(slots.residues * slots.depth * accumulator_size_);
    if (is_mean(problem)) {
      is_careful_ = !few_meet(problem);
      counts_at_ = scratch_per_piece_;
      scratch_per_piece_ +=
          whole_lines(slots.residues * slots.depth * parts_of(problem.dtype) * static_cast<std::int64_t>(sizeof(double)));
    }
    double taps = 1;
    for (const Window& w : problem.windows)
      taps *= std::max(
          1.0, std::min(static_cast<double>(w.kernel) * static_cast<double>(w.dilation) / static_cast<double>(w.stride),
                        static_cast<double>(w.positions)));
    bytes_ = static_cast<double>(plan_.rows * std::min(plan_.chunk, plan_.row.extent) * problem.element_size) * (1 + taps);
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    std::int64_t counted = -1;  // the first coordinate of the row whose counts are in scratch memory
    Odometer odometer(plan_.counted, first);
    for (std::int64_t row = first; row < last; ++row, odometer.next()) run_row(src, dst, odometer, scratch, counted);
  }

 private:
  /// The taps along one window that point into the row, in ascending order, `step` bytes apart. Along the row's own window
  /// the offset of a tap depends on the beginning of the row, so `step` is not used.
  struct Loop {
    Taps taps{};
    std::int64_t first_tap = 0;  // for the row's own window
  };
  using Loops = std::array<Loop, max_axes>;
  using Add = decltype(kernels::SumKernel::add);

  Slots slots_of(std::int64_t count) const noexcept {
    if (plan_.row.window < 0) return {1, count};
    const std::int64_t residues = std::min(problem_.windows[plan_.row.window].stride, count);
    return {residues, ceil_div(count, residues)};
  }

  void run_row(const std::byte* src, std::byte* dst, const Odometer<AxisList>& odometer, std::byte* scratch,
               std::int64_t& counted) const noexcept {
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

    if (is_mean(problem_)) return make_means(src, dst, odometer, src_at, dst_at, begin, count, loops, scratch, counted);
    const kernels::SumKernel& kernel = kernels::sum_kernel(problem_.dtype);
    const Slots slots = slots_of(count);
    std::memset(scratch, 0, static_cast<std::size_t>(slots.residues * slots.depth * accumulator_size_));
    add_taps(kernel.add, src, src_at, begin, count, slots, loops, scratch);
    const auto store = problem_.accumulate ? kernel.store_add : kernel.store;
    for (std::int64_t residue = 0; residue < slots.residues; ++residue)
      store(dst + dst_at + residue * plan_.row.dst_stride, slots.residues * plan_.row.dst_stride,
            scratch + residue * slots.depth * accumulator_size_, (count - residue - 1) / slots.residues + 1);
  }

  void make_means(const std::byte* src, std::byte* dst, const Odometer<AxisList>& odometer, std::int64_t src_at,
                  std::int64_t dst_at, std::int64_t begin, std::int64_t count, const Loops& loops, std::byte* scratch,
                  std::int64_t& counted) const noexcept {
    const auto care = [&] {
      Box box;
      for (int i = 0; i < plan_.counted.size(); ++i)
        if (i != plan_.chunk_axis) box.push_back(box_axis(plan_.counted[i], odometer[i], 1));
      box.push_back(box_axis(plan_.row, begin, count));
      means_.care(src + problem_.src_offset, dst + problem_.dst_offset, box, is_careful_);
    };
    if (is_careful_) return care();
    const kernels::MeanKernel& kernel = kernels::mean_kernel(problem_.dtype);
    const Slots slots = slots_of(count);
    kernel.clear(scratch, slots.residues * slots.depth);
    add_taps(kernel.add, src, src_at, begin, count, slots, loops, scratch);
    auto* met = reinterpret_cast<double*>(scratch + counts_at_);
    const std::int64_t parts = parts_of(problem_.dtype);
    if (counted != begin) count_row(begin, count, slots, loops, met);
    counted = begin;
    kernels::MeanRow counts{met, 1, &means_.fill()};
    for (int i = 0; i < problem_.windows.size(); ++i)
      if (i != plan_.row.window) counts.others *= static_cast<double>(loops[static_cast<std::size_t>(i)].taps.count);
    bool certain = true;
    for (std::int64_t residue = 0; residue < slots.residues; ++residue) {
      counts.met = met + residue * slots.depth * parts;
      certain &= kernel.store(dst + dst_at + residue * plan_.row.dst_stride, slots.residues * plan_.row.dst_stride,
                              scratch + residue * slots.depth * accumulator_size_,
                              (count - residue - 1) / slots.residues + 1, counts);
    }
    if (!certain) care();
  }

  /// Counts the taps of the row's own window that point at each element, by slot.
  void count_row(std::int64_t begin, std::int64_t count, const Slots& slots, const Loops& loops,
                 double* met) const noexcept {
    const std::int64_t parts = parts_of(problem_.dtype);
    const int own = plan_.row.window;
    std::fill_n(met, slots.residues * slots.depth * parts, own < 0 ? 1 : 0);
    if (own < 0) return;
    const Loop& loop = loops[static_cast<std::size_t>(own)];
    for (std::int64_t tap = loop.first_tap; tap < loop.first_tap + loop.taps.count; ++tap) {
      const Met found = meet(tap, begin, count, slots);
      for (std::int64_t i = 0; i < found.positions * parts; ++i) ++met[found.slot * parts + i];
    }
  }

  static BoxAxis box_axis(const Axis& axis, std::int64_t begin, std::int64_t extent) noexcept {
    return {axis.window, extent, begin, 1, axis.src_stride, axis.dst_stride};
  }

  /// If the row runs along a window, returns the taps of this window that can point into the elements [begin, begin + count).
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

  /// Adds the columns of all tuples of taps, the taps of the last window fastest, which is the order of the sum.
  void add_taps(Add add, const std::byte* src, std::int64_t src_at, std::int64_t begin, std::int64_t count,
                const Slots& slots, const Loops& loops, std::byte* scratch) const noexcept {
    const int windows = problem_.windows.size();
    for (int i = 0; i < windows; ++i) {
      const Loop& loop = loops[static_cast<std::size_t>(i)];
      if (loop.taps.count == 0) return;
      src_at += loop.taps.offset;
    }
    std::array<std::int64_t, max_axes> index{};
    while (true) {
      if (plan_.row.window < 0) {
        add(scratch, src + src_at, plan_.row.src_stride, count);
      } else {
        const auto own = static_cast<std::size_t>(plan_.row.window);
        add_tap(add, src + src_at, loops[own].first_tap + index[own], begin, count, slots, scratch);
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

  /// The positions at which a tap points into a row: the first position, their number, and the slot of the first position's
  /// element.
  struct Met {
    std::int64_t first = 0, positions = 0, slot = 0;
  };
  Met meet(std::int64_t tap, std::int64_t begin, std::int64_t count, const Slots& slots) const noexcept {
    const Window& w = problem_.windows[plan_.row.window];
    const std::int64_t origin = tap * w.dilation - w.pad_begin - begin;  // element to which the tap points at position 0
    const std::int64_t low = std::max<std::int64_t>(0, ceil_div(-origin, w.stride));
    const std::int64_t high = std::min(w.positions, ceil_div(count - origin, w.stride));
    if (low >= high) return {};
    const std::int64_t element = origin + low * w.stride;
    // If the stride exceeds the row, every element has a residue of its own.
    return {low, high - low, element % slots.residues * slots.depth + element / slots.residues};
  }

  /// Adds the elements of one tap of the row's own window. `src` points at the window's tap 0 and position 0.
  void add_tap(Add add, const std::byte* src, std::int64_t tap, std::int64_t begin, std::int64_t count, const Slots& slots,
               std::byte* scratch) const noexcept {
    const Window& w = problem_.windows[plan_.row.window];
    const auto [low, positions, slot] = meet(tap, begin, count, slots);
    if (positions == 0) return;
    add(scratch + slot * accumulator_size_, src + tap * w.tap_stride + low * w.position_stride, w.position_stride,
        positions);
  }

  RowPlan plan_;
  std::array<TapSolver, max_axes> solvers_{};
  Means means_;
  std::int64_t accumulator_size_ = 1;
  std::int64_t counts_at_ = 0;  // offset in scratch memory, behind the accumulators
  bool is_careful_ = false;     // careful_mean() makes every mean
};

}  // namespace

std::unique_ptr<Compiled> make_sum_rows(const Problem& problem) {
  if (!adds(problem)) return nullptr;
  const RowPlan plan = plan_sum(problem);
  const bool is_sparse =
      plan.row.window >= 0 && problem.windows[plan.row.window].stride / sparse > std::min(plan.chunk, plan.row.extent);
  const bool by_element = is_sparse || (is_mean(problem) && !few_meet(problem));
  return std::make_unique<SumRows>(problem, by_element ? plan_elements(problem) : plan);
}

}  // namespace patchfold::engine
