// SPDX-License-Identifier: Apache-2.0
// The strategy "counts", for coverage. Coverage is a sum of ones, but nothing is added. The result of an image element is the
// product, over all windows, of the number of taps that point at its coordinate. For the window along the row, the taps are counted
// once for all rows that begin at one coordinate.
#include <algorithm>

#include "engine/rows.hpp"
#include "engine/sums/sums.hpp"
#include "engine/window.hpp"
#include "kernels/sum.hpp"

namespace patchfold::engine {
namespace {

/// The most elements of a row (arbitrary: their counts of taps fit into a common L1 cache).
constexpr std::int64_t chunk_elements = 1024;

/// A plan of the strategy. The time of a run does not depend on the number of taps and positions that point at an element.
class Counts final : public Compiled {
 public:
  Counts(const Problem& problem, const RowPlan& plan) : Compiled(problem), plan_(plan) {
    for (int i = 0; i < problem.windows.size(); ++i) solvers_[static_cast<std::size_t>(i)] = TapSolver(problem.windows[i]);
    rows_ = plan_.rows;
    const std::int64_t count = std::min(plan_.chunk, plan_.row.extent);
    numbers_bytes_ = ceil_div(count * static_cast<std::int64_t>(sizeof(std::int64_t)), 64) * 64;
    scratch_per_piece_ = numbers_bytes_ + ceil_div(count * kernels::sum_kernel(problem.dtype).accumulator_size, 64) * 64;
    bytes_ = static_cast<double>(rows_ * count * problem.element_size);
  }

  void run_rows(const std::byte*, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    const kernels::SumKernel& kernel = kernels::sum_kernel(problem_.dtype);
    auto* numbers = reinterpret_cast<std::int64_t*>(scratch);
    std::byte* accumulators = scratch + numbers_bytes_;
    std::int64_t solved = -1;
    Odometer odometer(plan_.counted, first);
    for (std::int64_t row = first; row < last; ++row, odometer.next()) {
      const std::int64_t begin = plan_.row_begin(odometer);
      const std::int64_t count = plan_.row_count(begin);
      if (begin != solved) {
        for (std::int64_t i = 0; i < count; ++i) numbers[i] = taps_at(plan_.row, begin + i);
        solved = begin;
      }
      std::int64_t at = problem_.dst_offset + begin * plan_.row.dst_stride;
      std::int64_t others = 1;
      for (int i = 0; i < plan_.counted.size(); ++i) {
        at += odometer[i] * plan_.counted[i].dst_stride;
        others *= taps_at(plan_.counted[i], odometer[i]);
      }
      kernel.count(accumulators, numbers, others, count);
      kernel.store(dst + at, plan_.row.dst_stride, accumulators, count);
    }
  }

 private:
  std::int64_t taps_at(const Axis& axis, std::int64_t coordinate) const noexcept {
    return axis.window < 0 ? 1 : solvers_[static_cast<std::size_t>(axis.window)].at(coordinate).count;
  }

  RowPlan plan_;
  std::array<TapSolver, max_axes> solvers_{};
  std::int64_t numbers_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Compiled> make_counts(const Problem& problem) {
  if (problem.verb != Verb::combine_sum || problem.own_source == nullptr) return nullptr;
  RowPlan plan = plan_rows(image_axes(problem), problem.element_size, chunk_elements, chunk_elements);
  // The chunk axis becomes the outermost axis, so that rows that begin at one coordinate follow one another and share their counts
  // of taps.
  std::rotate(plan.counted.begin(), plan.counted.begin() + plan.chunk_axis, plan.counted.begin() + plan.chunk_axis + 1);
  plan.chunk_axis = 0;
  return std::make_unique<Counts>(problem, plan);
}

}  // namespace patchfold::engine
