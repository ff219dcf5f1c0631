// SPDX-License-Identifier: Apache-2.0
// Weights of one tile's result, as its giver says them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// TileWeights that have been checked and copied. A merge multiplies those of its window by them.
struct OwnWeights {
  std::vector<double> values{};
  Dims strides{};         ///< in elements, for each axis of the result; 0 where one weight holds along the axis
  bool has_zero = false;  ///< at least one element contributes nothing

  /// The bytes that are counted: a single number needs no more room than a tile's other facts.
  std::int64_t bytes() const noexcept {
    return values.size() > 1 ? static_cast<std::int64_t>(values.size() * sizeof(double)) : 0;
  }
};

/// Checks the weights of a tile whose result has that shape. Null if they change nothing. `tile` names the tile in errors.
/// Throws Error(value, dtype, shape, ..).
std::unique_ptr<const OwnWeights> own_weights(const Rules& rules, const TileWeights& given, const Dims& shape,
                                              const std::string& tile);

/// The weights of the elements of a cell: those of a tile from the cell's first element on.
struct Factors {
  const double* first = nullptr;  ///< null: all 1
  const OwnWeights* of = nullptr;
  std::int64_t stride(int axis) const noexcept { return of->strides[axis]; }
};

}  // namespace patchfold::tiling
