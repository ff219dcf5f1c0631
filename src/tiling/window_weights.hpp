// SPDX-License-Identifier: Apache-2.0
// The weights that a WeightWindow gives the elements of a tile's result.
#pragma once

#include <cstdint>
#include <vector>

#include "patchfold/tiling.hpp"

namespace patchfold::tiling {

/// A number of about 106 bits: the sum of two float64, of which `high` is the sum rounded to float64. Products of a few weights,
/// and sums of such products, stay so exact that rounding them to float64 gives the correctly rounded result.
struct Pair {
  double high = 0;
  double low = 0;
};
Pair operator*(Pair a, double b) noexcept;
Pair operator+(Pair a, Pair b) noexcept;
/// Returns a / b rounded once to float64; b must not be 0.
double quotient(Pair a, Pair b) noexcept;

/// A window sampled over the result of a whole tile: one list for each tiled axis, whose product is the weight, or one array. The
/// elements of a shorter tile have the first weights of the window, so slopes are the same in all tiles. The weights are not
/// normalised, since their sum depends on the cell (AxisWeights, GivenWriter, PairWriter normalise them). Weights never change.
class Weights {
 public:
  /// Throws Error(value, length) for weights that are negative, not finite, too many or too few.
  Weights(const Tiling& tiling, const WeightWindow& window);

  bool is_separable() const noexcept { return array_.empty(); }
  bool has_zero() const noexcept { return has_zero_; }
  bool is_ones() const noexcept { return is_ones_; }
  /// Returns whether each weight is 0 or 1.
  bool are_flags() const noexcept { return are_flags_; }
  /// Returns the list along tiled axis i of a separable window.
  const std::vector<double>& axis(int i) const { return axes_[static_cast<std::size_t>(i)]; }
  /// Returns the address, in the array of a window that is not separable, of the weight of the element at `begin`. Writes the
  /// strides of the array to `strides`, at the tiled axes `axes` of a result.
  const double* place(const Dims& begin, const Dims& axes, Dims& strides) const noexcept;
  /// Returns the weight of the element at `begin` + `at` of a whole result.
  Pair at(const Dims& begin, const Dims& at) const noexcept;

 private:
  std::vector<std::vector<double>> axes_{};
  std::vector<double> array_{};  ///< row-major over the extents of a whole result
  Dims result_{};
  bool has_zero_ = false;
  bool is_ones_ = true;
  bool are_flags_ = true;
};

}  // namespace patchfold::tiling
