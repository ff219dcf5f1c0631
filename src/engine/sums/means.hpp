// SPDX-License-Identifier: Apache-2.0
// Helps the strategies for sums to make means: kernels, the value of elements without terms, and a second computation of
// elements that need care.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/problem.hpp"
#include "engine/window.hpp"
#include "kernels/mean.hpp"
#include "kernels/sum.hpp"

namespace patchfold::engine {

/// Returns whether a problem adds: a sum, or a mean, which is a sum divided afterwards.
inline bool adds(const Problem& problem) noexcept {
  return problem.verb == Verb::combine_sum || problem.verb == Verb::combine_mean;
}
inline bool is_mean(const Problem& problem) noexcept {
  return problem.verb == Verb::combine_mean;
}

/// Returns the number of bytes of an element's accumulator.
inline std::int64_t accumulator_size(const Problem& problem) noexcept {
  return is_mean(problem) ? kernels::mean_kernel(problem.dtype).accumulator_size
                          : kernels::sum_kernel(problem.dtype).accumulator_size;
}

/// Returns the number of real numbers in an element: 2 if it is complex.
inline std::int64_t parts_of(DType dtype) noexcept {
  return visit(dtype, []<class T>(std::type_identity<T>) { return ComplexNumber<T> ? 2 : 1; });
}

/// Returns whether the kernels of mean.hpp and sum_map.hpp can make every mean of a problem. If a mean has so many elements that
/// their sum is not exact any more, careful_mean() makes every mean.
inline bool few_meet(const Problem& problem) noexcept {
  std::int64_t most = 1;
  for (const Window& w : problem.windows) {
    const std::int64_t met = w.dilation == 0 ? w.kernel : std::min(w.kernel, w.positions);
    if (met > kernels::most_met / most) return false;
    most *= std::max<std::int64_t>(1, met);
  }
  return true;
}

/// An axis of a box of the image: elements in equal steps along a dim, or coordinates of a window.
struct BoxAxis {
  int window = -1;  ///< number of the window; -1 for a dim
  std::int64_t extent = 1;
  std::int64_t begin = 0;  ///< first coordinate
  std::int64_t step = 1;   ///< coordinates from element to element
  std::int64_t src_stride = 0;
  std::int64_t dst_stride = 0;  ///< bytes from element to element of the dim, or from coordinate to coordinate of the window
};
using Box = FixedList<BoxAxis, 2 * max_axes + 1>;

/// Finishes the means of a problem: holds the fill, and computes elements again from all their terms if their sum is not finite
/// (kernels/mean.hpp). Strategies divide every sum first and then repair the few such elements, since checking each term would cost
/// more than the sums.
class Means {
 public:
  /// Keeps a reference to the problem, which must live as long as this object.
  explicit Means(const Problem& problem) : problem_(problem) {
    if (!is_mean(problem)) return;
    const auto size = static_cast<std::size_t>(problem.element_size);
    for (std::size_t i = 0; i < fill_.size(); ++i) fill_[i] = problem.fill[i % size];
    for (int i = 0; i < problem.windows.size(); ++i) solvers_[static_cast<std::size_t>(i)] = TapSolver(problem.windows[i]);
  }

  const kernels::FillLine& fill() const noexcept { return fill_; }

  /// Computes those elements of a box again whose sum is not finite, or all elements if `all`. `src` and `dst` point where every
  /// index of the box and every coordinate is 0.
  void care(const std::byte* src, std::byte* dst, const Box& box, bool all = false) const noexcept {
    std::array<std::int64_t, 2 * max_axes + 1> index{};
    for (const BoxAxis& axis : box)
      if (axis.extent == 0) return;
    while (true) {
      const std::byte* from = src;
      std::byte* to = dst;
      std::array<std::int64_t, max_axes> coordinates{};
      for (int i = 0; i < box.size(); ++i) {
        const BoxAxis& axis = box[i];
        const std::int64_t at = axis.begin + index[static_cast<std::size_t>(i)] * axis.step;
        from += axis.window < 0 ? at * axis.src_stride : 0;
        to += at * axis.dst_stride;
        if (axis.window >= 0) coordinates[static_cast<std::size_t>(axis.window)] = at;
      }
      if (all || kernels::needs_care(problem_.dtype, to)) make(from, to, coordinates);
      int i = box.size() - 1;
      for (; i >= 0 && ++index[static_cast<std::size_t>(i)] == box[i].extent; --i) index[static_cast<std::size_t>(i)] = 0;
      if (i < 0) return;
    }
  }

 private:
  void make(const std::byte* src, std::byte* dst, const std::array<std::int64_t, max_axes>& coordinates) const noexcept {
    std::array<kernels::MetTaps, max_axes> taps;
    const auto windows = static_cast<std::size_t>(problem_.windows.size());
    for (std::size_t i = 0; i < windows; ++i) {
      const Taps met = solvers_[i].at(coordinates[i]);
      taps[i] = {met.count, met.step};
      src += met.offset;
    }
    kernels::careful_mean(problem_.dtype, dst, src, {taps.data(), windows}, fill_);
  }

  const Problem& problem_;
  kernels::FillLine fill_{};
  std::array<TapSolver, max_axes> solvers_{};
};

}  // namespace patchfold::engine
