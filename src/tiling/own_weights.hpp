// SPDX-License-Identifier: Apache-2.0
// The weights of the result of one tile, which come with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// Checked copies of TileWeights, since the tile may wait longer than the caller's array lives. A merge multiplies the
/// window's weights by them. They never change.
struct OwnWeights {
  std::vector<double> values{};
  Dims strides{};         ///< in elements, for each axis of the result; 0 if one weight holds along the axis
  bool has_zero = false;  ///< at least one element contributes nothing

  /// Returns the bytes that count as waiting; 0 for a single number, which takes no extra room.
  std::int64_t bytes() const noexcept {
    return values.size() > 1 ? static_cast<std::int64_t>(values.size() * sizeof(double)) : 0;
  }
};

/// Returns the weights of a tile whose result has that shape, checked and copied; null if all are 1. `tile` names the tile
/// in errors. Throws Error(value, dtype, shape, ..).
std::unique_ptr<const OwnWeights> own_weights(const Rules& rules, const TileWeights& given, const Dims& shape,
                                              const std::string& tile);

/// The part of a tile's own weights for a cell. It points to the tile's OwnWeights, which must live longer.
struct Factors {
  const double* first = nullptr;  ///< the weight of the cell's first element; null: all weights are 1
  const OwnWeights* of = nullptr;
  std::int64_t stride(int axis) const noexcept { return of->strides[axis]; }
};

}  // namespace patchfold::tiling
