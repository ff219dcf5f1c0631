// SPDX-License-Identifier: Apache-2.0
// Weights that come with the result of one tile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// Holds TileWeights that have been checked and copied: the tile may wait longer than its caller's array lives. A merge
/// multiplies the weights of its window by them. Never changes.
struct OwnWeights {
  std::vector<double> values{};
  Dims strides{};         ///< in elements, for each axis of the result; 0 where one weight holds along the axis
  bool has_zero = false;  ///< at least one element contributes nothing

  /// Returns the bytes that count as waiting: none for a single number, which needs no more room than a tile's other facts.
  std::int64_t bytes() const noexcept {
    return values.size() > 1 ? static_cast<std::int64_t>(values.size() * sizeof(double)) : 0;
  }
};

/// Checks and copies the weights of a tile whose result has that shape. Returns null if they change nothing. `tile` names
/// the tile in errors. Throws Error(value, dtype, shape, ..).
std::unique_ptr<const OwnWeights> own_weights(const Rules& rules, const TileWeights& given, const Dims& shape,
                                              const std::string& tile);

/// The part of a tile's own weights that lies in a cell. Points to the tile's OwnWeights, which must live longer.
struct Factors {
  const double* first = nullptr;  ///< the weight of the cell's first element; null: all weights are 1
  const OwnWeights* of = nullptr;
  std::int64_t stride(int axis) const noexcept { return of->strides[axis]; }
};

}  // namespace patchfold::tiling
