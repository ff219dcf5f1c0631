// SPDX-License-Identifier: Apache-2.0
// A WeightWindow as numbers: the weights of a tile's elements.
#pragma once

#include <cstdint>
#include <vector>

#include "patchfold/tiling.hpp"

namespace patchfold::tiling {

/// A number of about 106 bits, as the sum of two of float64. Products of a few weights and sums of such products are so
/// exact that rounding them to float64 gives what exact numbers would give.
struct Pair {
  double high = 0;
  double low = 0;
};
Pair operator*(Pair a, double b) noexcept;
Pair operator+(Pair a, Pair b) noexcept;
/// Rounded once; b is not 0.
double quotient(Pair a, Pair b) noexcept;

/// A window sampled over the result of a whole tile: a product of one list for each tiled axis, or one array. The elements
/// of a shorter tile have the first weights of the window, so slopes are the same in all tiles. These are the weights as
/// given; CellPlan and CellWriter normalise them over the tiles that contribute to an element.
class Weights {
 public:
  /// Throws Error(value, length) for weights that are negative, not finite, too many or too few.
  Weights(const Tiling& tiling, const WeightWindow& window);

  bool is_separable() const noexcept { return array_.empty(); }
  bool has_zero() const noexcept { return has_zero_; }
  bool is_ones() const noexcept { return is_ones_; }
  /// Along tiled axis i; for separable windows.
  const std::vector<double>& axis(int i) const { return axes_[static_cast<std::size_t>(i)]; }
  /// Where the weight of the element at `begin` stands, for windows that are not separable; the strides of `axes`, the tiled
  /// axes of a result, become those of the array.
  const double* place(const Dims& begin, const Dims& axes, Dims& strides) const noexcept;
  /// The weight of the element at begin + at of a whole result.
  Pair at(const Dims& begin, const Dims& at) const noexcept;

 private:
  std::vector<std::vector<double>> axes_{};
  std::vector<double> array_{};  ///< row-major over the extents of a whole result
  Dims result_{};
  bool has_zero_ = false;
  bool is_ones_ = true;
};

}  // namespace patchfold::tiling
