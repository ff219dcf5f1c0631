// SPDX-License-Identifier: Apache-2.0
#include "engine/sums/residue_sums.hpp"

#include <algorithm>
#include <cstring>

#include "engine/sums/means.hpp"
#include "kernels/sum.hpp"
#include "tensor/checked.hpp"

namespace patchfold::engine {

ResidueSums::ResidueSums(const Problem& problem, bool dim_is_nearest)
    : problem_(problem), accumulator_(accumulator_size(problem)), dim_is_nearest_(dim_is_nearest) {
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
  if (fits_ && is_mean(problem)) count_all();
}

void ResidueSums::count_all() {
  repeats_ = (dim_is_nearest_ ? problem_.dims[0].extent : 1) * parts_of(problem_.dtype);
  const int last = problem_.windows.size() - 1;
  for (int i = 1; i <= last; ++i) {
    const Window& w = problem_.windows[i];
    const Sorted& sorted = sorted_[static_cast<std::size_t>(i)];
    const std::int64_t repeats = i == last ? repeats_ : 1;
    std::vector<double>& met = met_[static_cast<std::size_t>(i)];
    met.resize(static_cast<std::size_t>(sorted.places * w.stride * repeats));
    for (std::int64_t tap = 0; tap < w.kernel; ++tap) {
      const std::int64_t first = sorted.place(tap * w.dilation + sorted.shift, w.stride) * repeats;
      for (std::int64_t k = 0; k < w.positions * repeats; ++k) ++met[static_cast<std::size_t>(first + k)];
    }
  }
}

std::int64_t ResidueSums::sums_bytes() const noexcept {
  if (!is_mean(problem_)) return count_ * accumulator_;
  const std::int64_t repeats = problem_.windows.size() == 1 ? repeats_ : 1;
  return counts_at() + sorted_[0].places * problem_.windows[0].stride * repeats * static_cast<std::int64_t>(sizeof(double));
}

void ResidueSums::clear(std::byte* sums) const noexcept {
  const std::int64_t zeros_at = is_mean(problem_) ? counts_at() : 0;
  std::memset(sums + zeros_at, 0, static_cast<std::size_t>(sums_bytes() - zeros_at));
  if (is_mean(problem_)) kernels::mean_kernel(problem_.dtype).clear(sums, count_);
}

void ResidueSums::add(std::byte* sums, const std::byte* columns, std::int64_t coordinate,
                      std::int64_t positions) const noexcept {
  const auto add_row =
      is_mean(problem_) ? kernels::mean_kernel(problem_.dtype).add : kernels::sum_kernel(problem_.dtype).add;
  const std::int64_t accumulator = accumulator_;
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
  if (is_mean(problem_)) {
    const std::int64_t repeats = last == 0 ? repeats_ : 1;
    auto* met =
        reinterpret_cast<double*>(sums + counts_at()) + sorted_[0].place(coordinate, problem_.windows[0].stride) * repeats;
    for (std::int64_t k = 0; k < positions * repeats; ++k) ++met[k];
  }
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
      add_row(sums + to * accumulator + counter.dst, columns + from + counter.src, problem_.element_size, row);
    for (int i = last; i >= 1 && ++tap[static_cast<std::size_t>(i)] == problem_.windows[i].kernel; --i)
      tap[static_cast<std::size_t>(i)] = 0;
  }
}

bool ResidueSums::finish(std::byte* sums, const kernels::FillLine& fill) const noexcept {
  if (is_mean(problem_)) return divide(sums, fill);
  const kernels::SumKernel& kernel = kernels::sum_kernel(problem_.dtype);
  // An element is not wider than its sum, so none is written over a sum that is still to be read.
  if (kernel.accumulator_size != problem_.element_size) kernel.store(sums, problem_.element_size, sums, count_);
  return true;
}

/// Row by row: the sorted coordinates of the last window, and of the dim where it is nearest. The others number the rows.
bool ResidueSums::divide(std::byte* sums, const kernels::FillLine& fill) const noexcept {
  const kernels::MeanKernel& kernel = kernels::mean_kernel(problem_.dtype);
  const auto* first = reinterpret_cast<const double*>(sums + counts_at());
  const auto last = static_cast<std::size_t>(problem_.windows.size() - 1);
  const auto coordinates = [&](std::size_t i) { return sorted_[i].places * problem_.windows[static_cast<int>(i)].stride; };
  const std::int64_t row = coordinates(last) * (dim_is_nearest_ ? problem_.dims[0].extent : 1);
  kernels::MeanRow counts{last == 0 ? first : met_[last].data(), 1, &fill};
  std::array<std::int64_t, max_rank> index{};
  bool certain = true;
  for (std::int64_t done = 0; done < count_; done += row) {
    counts.others = 1;
    for (std::size_t i = 0; i < last; ++i) counts.others *= (i == 0 ? first : met_[i].data())[index[i]];
    certain &=
        kernel.store(sums + done * problem_.element_size, problem_.element_size, sums + done * accumulator_, row, counts);
    for (std::size_t i = last; i > 0 && ++index[i - 1] == coordinates(i - 1); --i) index[i - 1] = 0;
  }
  return certain;
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
