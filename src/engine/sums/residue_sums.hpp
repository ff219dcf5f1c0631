// SPDX-License-Identifier: Apache-2.0
// Sums in scratch memory whose image is sorted by residue.
//
// Coordinate y of a window of stride s stands at residue y % s, place y / s. So the positions that meet a tap are neighbours
// in the image as they are in the columns, and each tap adds whole rows, whatever stride, dilation and kernel are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/scratch_copy.hpp"
#include "engine/walk.hpp"
#include "kernels/mean.hpp"

namespace patchfold::engine {

class ResidueSums {
 public:
  /// `problem` describes packed columns: one dim (elements that are summed side by side if it is the nearest axis, otherwise
  /// one after the other) and windows. Of the first window the image has `problem.windows[0].extent` coordinates, and
  /// columns come for one tap at a time; of the others, all positions and taps.
  ResidueSums(const Problem& problem, bool dim_is_nearest);

  /// Whether the image is not much larger than the part of it that is wanted.
  bool fits() const noexcept { return fits_; }
  std::int64_t image_bytes() const noexcept { return count_ * problem_.element_size; }
  std::int64_t sums_bytes() const noexcept;

  /// For means the counts of the first window's coordinates follow the sums.
  void clear(std::byte* sums) const noexcept;
  /// Adds the columns of one tap of the first window; its `positions` begin at this coordinate.
  void add(std::byte* sums, const std::byte* columns, std::int64_t coordinate, std::int64_t positions) const noexcept;
  /// Turns sums into elements, in place. Returns false if some of them are means that need care.
  bool finish(std::byte* sums, const kernels::FillLine& fill) const noexcept;

  /// A box of the sorted image: where it begins, and for every axis its length, its stride there, and along which window's
  /// coordinates (-1: the dim) it runs, in steps of so many.
  struct Axis {
    std::int64_t length = 0, stride = 0;
    int window = -1;
    std::int64_t step = 1;
  };
  struct Box {
    std::int64_t from = 0;                            ///< bytes in the sorted image
    std::array<std::int64_t, max_rank> coordinate{};  ///< of each window, where it begins
    std::vector<Axis> axes{};
  };
  std::vector<Box> boxes() const;

 private:
  /// How one window's coordinates stand in the sorted image; counted in elements.
  struct Sorted {
    std::int64_t shift = 0;   ///< added to coordinates before they are divided by the stride
    std::int64_t first = 0;   ///< place of the image's first coordinate
    std::int64_t places = 0;  ///< for each residue
    std::int64_t step = 0;    ///< from place to place
    std::int64_t place(std::int64_t coordinate, std::int64_t stride) const noexcept {
      return coordinate % stride * places + coordinate / stride;
    }
    std::int64_t at(std::int64_t coordinate, std::int64_t stride) const noexcept { return place(coordinate, stride) * step; }
  };

  std::int64_t counts_at() const noexcept { return whole_lines(count_ * accumulator_); }
  void count_all();
  bool divide(std::byte* sums, const kernels::FillLine& fill) const noexcept;

  Problem problem_;
  std::int64_t accumulator_;  // bytes
  std::array<Sorted, max_rank> sorted_{};
  /// How many taps meet at the sorted coordinates of each window but the first. Those of the last window stand once for each
  /// number of a row.
  std::array<std::vector<double>, max_rank> met_{};
  std::int64_t repeats_ = 1;  // numbers of a row with the same coordinate
  std::int64_t dim_step_ = 1;
  std::int64_t count_ = 0;
  bool dim_is_nearest_;
  bool fits_ = false;
};

}  // namespace patchfold::engine
