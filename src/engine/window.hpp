// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one window: the positions inside the image, and the taps that point at an image coordinate. Time and memory do
// not grow with a kernel, a stride or a pad.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "engine/problem.hpp"

namespace patchfold::engine {

/// The positions [from, end) of one window whose taps all lie inside the image.
struct Inside {
  std::int64_t from = 0;
  std::int64_t end = 0;
};
inline Inside inside_of(const Window& w) noexcept {
  const std::int64_t reach = (w.kernel - 1) * w.dilation;
  const std::int64_t from = std::max<std::int64_t>(0, ceil_div(w.pad_begin, w.stride));
  const std::int64_t end = std::min(w.positions, floor_div(w.extent - 1 - reach + w.pad_begin, w.stride) + 1);
  return {from, std::max(from, end)};
}

/// Returns whether every window has positions and elements and a dilation of at least 1, and numbers so small that the
/// arithmetic of bands cannot overflow.
inline bool are_near(const Problem& problem) noexcept {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  return std::ranges::all_of(problem.windows, [](const Window& w) {
    return w.kernel >= 1 && w.positions >= 1 && w.extent >= 1 && w.dilation >= 1 &&
           std::max({w.kernel, w.positions, w.extent, w.dilation, w.stride, std::abs(w.pad_begin)}) <= most;
  });
}

/// Returns the share, 0 to 1, of an extract's positions whose taps all lie inside the image; 0 for all problems that are not
/// extracts or not are_near().
inline double inside_share(const Problem& problem) noexcept {
  if (problem.verb != Verb::extract || !are_near(problem)) return 0;
  double share = 1;
  for (const Window& w : problem.windows) {
    const Inside inside = inside_of(w);
    share *= static_cast<double>(inside.end - inside.from) / static_cast<double>(w.positions);
  }
  return share;
}

/// The column elements along one window that point at one image coordinate: `count` of them, in equal steps, in ascending
/// order of the taps.
struct Taps {
  std::int64_t count = 0;
  std::int64_t offset = 0;  ///< bytes from the columns' origin to the first element
  std::int64_t step = 0;    ///< bytes from each element to the next
};

/// Finds the taps that point at a coordinate: solves coordinate = b * stride + q * dilation - pad_begin for (b, q). Finding the
/// taps of a coordinate takes constant time for every size of kernel.
class TapSolver {
 public:
  TapSolver() = default;
  explicit TapSolver(const Window& window) noexcept : window_(window) {
    const std::int64_t divisor = std::gcd(window.stride, window.dilation);  // gcd(s, 0) = s
    divisor_ = divisor;
    tap_step_ = window.dilation == 0 ? 1 : window.stride / divisor;
    position_step_ = window.dilation / divisor;
    inverse_ = inverse(position_step_ % tap_step_, tap_step_);
  }

  Taps at(std::int64_t coordinate) const noexcept {
    const Window& w = window_;
    const std::int64_t t = coordinate + w.pad_begin;
    if (w.positions == 0 || t % divisor_ != 0) return {};
    const std::int64_t reach = (w.positions - 1) * w.stride;
    if (w.dilation == 0) {
      if (t < 0 || t > reach) return {};
      return {w.kernel, t / w.stride * w.position_stride, w.tap_stride};
    }
    // low and high bound the taps whose positions exist; the first tap is the smallest one from low on with the right residue.
    const std::int64_t low = std::max<std::int64_t>(0, ceil_div(t - reach, w.dilation));
    const std::int64_t high = std::min(w.kernel - 1, floor_div(t, w.dilation));
    const auto residue =
        static_cast<std::int64_t>(static_cast<__int128>(floor_mod(t / divisor_, tap_step_)) * inverse_ % tap_step_);
    const std::int64_t to_residue = floor_mod(residue - low, tap_step_);
    if (low > high || to_residue > high - low) return {};
    const std::int64_t first = low + to_residue;
    const std::int64_t count = (high - first) / tap_step_ + 1;
    const std::int64_t position = (t - first * w.dilation) / w.stride;
    return {count, first * w.tap_stride + position * w.position_stride,
            count == 1 ? 0 : tap_step_ * w.tap_stride - position_step_ * w.position_stride};
  }

  std::int64_t divisor() const noexcept { return divisor_; }
  std::int64_t tap_step() const noexcept { return tap_step_; }
  std::int64_t position_step() const noexcept { return position_step_; }
  std::int64_t inverse() const noexcept { return inverse_; }

 private:
  /// Returns x with a * x = 1 (mod m), by Euclid's algorithm; 0 for m = 1.
  static std::int64_t inverse(std::int64_t a, std::int64_t m) noexcept {
    std::int64_t r0 = m, r1 = a, x0 = 0, x1 = 1;
    while (r1 != 0) {
      const std::int64_t quotient = r0 / r1;
      r0 = std::exchange(r1, r0 - quotient * r1);
      x0 = std::exchange(x1, x0 - quotient * x1);
    }
    return floor_mod(x0, m);
  }

  Window window_{};
  std::int64_t divisor_ = 1;        // gcd of stride and dilation, which divides coordinate + pad_begin if the coordinate has taps
  std::int64_t tap_step_ = 1;       // from one tap of a coordinate to the next
  std::int64_t position_step_ = 1;  // positions by which a step to the next tap goes back
  std::int64_t inverse_ = 0;        // inverse of position_step_ modulo tap_step_
};

/// Narrows a window to the coordinates [from, from + extent) and to the positions with a tap that points at one of them. Returns
/// the number of removed positions before the first position that remains.
inline std::int64_t narrow(Window& w, std::int64_t from, std::int64_t extent) noexcept {
  w.extent = std::min(extent, w.extent - from);
  const std::int64_t reach = from + w.pad_begin - (w.kernel - 1) * w.dilation;
  const std::int64_t first = std::clamp<std::int64_t>(ceil_div(reach, w.stride), 0, w.positions);
  const std::int64_t end = std::min(w.positions, floor_div(from + w.extent - 1 + w.pad_begin, w.stride) + 1);
  w.positions = std::max<std::int64_t>(0, end - first);
  w.pad_begin += from - first * w.stride;
  return first;
}

}  // namespace patchfold::engine
