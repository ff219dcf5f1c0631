// SPDX-License-Identifier: Apache-2.0
#include "engine/residue_sums.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/sum.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {

ResidueSums::ResidueSums(const Problem& problem, bool dim_is_nearest) : problem_(problem), dim_is_nearest_(dim_is_nearest) {
  const std::int64_t dim = problem.dims[0].extent;
  std::int64_t step = dim_is_nearest ? dim : 1;
  double elements = static_cast<double>(dim), wanted = elements;
  for (int i = problem.windows.size() - 1; i >= 0; --i) {
    const Window& w = problem.windows[i];
    Sorted& sorted = sorted_[static_cast<std::size_t>(i)];
    sorted.step = step;
    if (i == 0) {
      sorted.places = ceil_div(w.extent, w.stride);
    } else {
      // The image's first coordinate gets residue 0.
      const std::int64_t first = ceil_div(w.pad_begin, w.stride), before = std::min<std::int64_t>(0, first);
      sorted.first = first - before;
      sorted.shift = sorted.first * w.stride - w.pad_begin;
      const std::int64_t reach = (w.positions - 1) * w.stride + (w.kernel - 1) * w.dilation + sorted.shift;
      sorted.places = std::max(reach / w.stride, sorted.first + (w.extent - 1) / w.stride) + 1;
    }
    elements *= static_cast<double>(sorted.places) * static_cast<double>(w.stride);
    wanted *= static_cast<double>(w.extent + w.stride + w.kernel * w.dilation);
    if (elements > 1e9) return;
    step *= sorted.places * w.stride;
  }
  dim_step_ = dim_is_nearest ? 1 : step;
  count_ = dim_is_nearest ? step : step * dim;
  fits_ = elements <= 4 * wanted;
}

std::int64_t ResidueSums::sums_bytes() const noexcept {
  return count_ * kernels::sum_kernel(problem_.dtype).accumulator_size;
}

void ResidueSums::clear(std::byte* sums) const noexcept {
  std::memset(sums, 0, static_cast<std::size_t>(sums_bytes()));
}

void ResidueSums::add(std::byte* sums, const std::byte* columns, std::int64_t coordinate,
                      std::int64_t positions) const noexcept {
  const kernels::SumKernel& kernel = kernels::sum_kernel(problem_.dtype);
  const std::int64_t accumulator = kernel.accumulator_size;
  const int last = problem_.windows.size() - 1;
  const Dim& dim = problem_.dims[0];
  // Taps in ascending order, the last window's fastest: the order of the sum. Of the positions those of the last window, and
  // the dim where it is nearest, are one row.
  DimList taps, rows;
  for (int i = 1; i <= last; ++i) taps.push_back({problem_.windows[i].kernel, problem_.windows[i].tap_stride, 0});
  for (int i = 0; i < last; ++i)
    rows.push_back({i == 0 ? positions : problem_.windows[i].positions, problem_.windows[i].position_stride,
                    sorted_[static_cast<std::size_t>(i)].step * accumulator});
  if (!dim_is_nearest_) rows.push_back({dim.extent, dim.src_stride, dim_step_ * accumulator});
  const std::int64_t row = (last == 0 ? positions : problem_.windows[last].positions) * (dim_is_nearest_ ? dim.extent : 1);
  const std::int64_t first = sorted_[0].at(coordinate, problem_.windows[0].stride);
  const std::int64_t all_taps = count_tuples(taps), all_rows = count_tuples(rows);
  std::array<std::int64_t, max_rank> tap{};
  for (std::int64_t k = 0; k < all_taps; ++k) {
    std::int64_t from = 0, to = first;
    for (int i = 1; i <= last; ++i) {
      const Window& w = problem_.windows[i];
      const Sorted& sorted = sorted_[static_cast<std::size_t>(i)];
      from += tap[static_cast<std::size_t>(i)] * w.tap_stride;
      to += sorted.at(tap[static_cast<std::size_t>(i)] * w.dilation + sorted.shift, w.stride);
    }
    Counter counter(rows, 0);
    for (std::int64_t r = 0; r < all_rows; ++r, counter.next())
      kernel.add(sums + to * accumulator + counter.dst, columns + from + counter.src, problem_.element_size, row);
    for (int i = last; i >= 1 && ++tap[static_cast<std::size_t>(i)] == problem_.windows[i].kernel; --i)
      tap[static_cast<std::size_t>(i)] = 0;
  }
}

void ResidueSums::finish(std::byte* sums) const noexcept {
  const kernels::SumKernel& kernel = kernels::sum_kernel(problem_.dtype);
  // An element is not wider than its sum, so none is written over a sum that is still to be read.
  if (kernel.accumulator_size != problem_.element_size) kernel.store(sums, problem_.element_size, sums, count_);
}

std::vector<ResidueSums::Box> ResidueSums::boxes() const {
  const std::int64_t element = problem_.element_size;
  Box whole;
  whole.axes.push_back({problem_.dims[0].extent, dim_step_ * element});
  std::vector<Box> boxes = {whole};
  for (int i = 0; i < problem_.windows.size(); ++i) {
    const Window& w = problem_.windows[i];
    const Sorted& sorted = sorted_[static_cast<std::size_t>(i)];
    const std::int64_t places = w.extent / w.stride, rest = w.extent % w.stride, step = sorted.step * element;
    std::vector<Box> next;
    for (const Box& box : boxes) {
      const auto add = [&](std::int64_t place, std::int64_t count, std::int64_t residues) {
        if (count == 0 || residues == 0) return;
        Box part = box;
        part.from += (sorted.first + place) * step;
        part.coordinate[static_cast<std::size_t>(i)] = place * w.stride;
        part.axes.push_back({count, step, i, w.stride});
        part.axes.push_back({residues, sorted.places * step, i, 1});
        next.push_back(part);
      };
      add(0, places, w.stride);
      add(places, 1, rest);
    }
    boxes = next;
  }
  return boxes;
}

}  // namespace patchfold::engine
