// SPDX-License-Identifier: Apache-2.0
// The weights of the result of one tile, which are added with the tile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// Checked copies of TileWeights, since the tile may wait longer than the caller's array lives. A merge multiplies the window's
/// weights by a tile's own weights, which never change.
struct OwnWeights {
  std::vector<double> values{};
  Dims strides{};         ///< in elements, for each axis of the result; 0 if one weight holds along the axis
  bool has_zero = false;  ///< at least one element contributes nothing

  /// Returns the bytes that count as waiting; 0 for a single number, which needs no extra memory.
  std::int64_t bytes() const noexcept {
    return values.size() > 1 ? static_cast<std::int64_t>(values.size() * sizeof(double)) : 0;
  }
};

/// Returns checked copies of the weights of a tile whose result has the given shape; null if all weights are 1. `tile` names the
/// tile in errors. Throws Error(value, dtype, shape, ..).
std::unique_ptr<const OwnWeights> own_weights(const Rules& rules, const TileWeights& given, const Dims& shape,
                                              const std::string& tile);

/// The part of a tile's own weights for a cell. Factors point to the tile's OwnWeights, which must live longer.
struct Factors {
  const double* first = nullptr;  ///< the weight of the cell's first element; null: all weights are 1
  const OwnWeights* of = nullptr;
  std::int64_t stride(int axis) const noexcept { return of->strides[axis]; }
};

}  // namespace patchfold::tiling
