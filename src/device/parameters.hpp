// SPDX-License-Identifier: Apache-2.0
// Fills in the parameters of kernels.
#pragma once

#include <bit>
#include <cstring>
#include <numeric>

#include "base/checked.hpp"
#include "device/launch.hpp"
#include "device/params.hpp"
#include "engine/window.hpp"

namespace patchfold::device {

/// The parameters for one width of an index.
struct Narrow {
  static constexpr bool is_wide = false;
  using Index = narrow::Index;
  using Stride = narrow::Stride;
  using Divisor = narrow::Divisor;
  using Walk = narrow::Walk;
  using Move = narrow::Move;
  using Side = narrow::Side;
  using Brick = narrow::Brick;
  using ImageAxis = narrow::ImageAxis;
  using Solver = narrow::Solver;
  using Combine = narrow::Combine;
};
struct Wide {
  static constexpr bool is_wide = true;
  using Index = wide::Index;
  using Stride = wide::Stride;
  using Divisor = wide::Divisor;
  using Walk = wide::Walk;
  using Move = wide::Move;
  using Side = wide::Side;
  using Brick = wide::Brick;
  using ImageAxis = wide::ImageAxis;
  using Solver = wide::Solver;
  using Combine = wide::Combine;
};

/// Returns a number that fits into T.
template <class T>
T narrowed_to(std::int64_t number) noexcept {
  return static_cast<T>(number);
}

/// Sets a divisor. For numbers below 2^31, (n * multiplier) >> shift is n / d: with 2^(l-1) < d <= 2^l, multiplier * d
/// exceeds 2^(31+l) by at most d, so n * multiplier exceeds n / d * 2^(31+l) by less than 2^(31+l) / d.
template <class Divisor>
void set(Divisor& divisor, std::int64_t d) noexcept {
  divisor.d = static_cast<decltype(divisor.d)>(d);
  if (d <= 0 || d >= std::int64_t{1} << 31) return;
  const int l = std::bit_width(static_cast<std::uint64_t>(d - 1));
  divisor.shift = static_cast<u32>(31 + l);
  divisor.multiplier = static_cast<u32>((std::uint64_t{1} << divisor.shift) / static_cast<std::uint64_t>(d) + 1);
}

/// Sets the solver of a window: the numbers of engine::TapSolver.
template <class Solver>
void set_solver(Solver& solver, const engine::Window& w) noexcept {
  using Index = decltype(solver.tap_count);
  using Stride = decltype(solver.step);
  const engine::TapSolver taps(w);
  set(solver.common, taps.divisor());
  set(solver.tap_step, taps.tap_step());
  set(solver.position_step, taps.position_step());
  solver.inverse = narrowed_to<Index>(taps.inverse());
  solver.tap_count = narrowed_to<Index>(w.kernel);
  solver.positions = narrowed_to<Index>(w.positions);
  solver.pad = narrowed_to<Index>(w.pad_begin);
  solver.tap = narrowed_to<Stride>(w.tap_stride);
  solver.position = narrowed_to<Stride>(w.position_stride);
  // The product may overflow only where no coordinate has two taps.
  solver.step = narrowed_to<Stride>(wrapping_mul(taps.tap_step(), w.tap_stride) -
                                    wrapping_mul(taps.position_step(), w.position_stride));
}

/// Returns the launch of one thread for each of `work` items.
template <class N, class Params>
Launch finish(Variant variant, const Params& params, std::int64_t work, const engine::Problem& problem) {
  static_assert(sizeof(Params) <= sizeof Launch{}.params);
  variant.is_wide = N::is_wide;
  Launch launch{.variant = variant,
                .groups = ceil_div(work, params.threads),
                .threads = params.threads,
                .src_offset = problem.src_offset,
                .dst_offset = problem.dst_offset,
                .size = sizeof(Params),
                .params = {}};
  std::memcpy(launch.params.data(), &params, sizeof params);
  return launch;
}

}  // namespace patchfold::device
