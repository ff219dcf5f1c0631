// SPDX-License-Identifier: Apache-2.0
// The weights that are given with one tile, for the elements of its result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tiling/rules.hpp"

namespace patchfold::tiling {

/// A checked copy of TileWeights, since the tile may wait longer than the caller's array lives. A merge multiplies the window's
/// weights by the tile's own weights, which never change.
struct OwnWeights {
  std::vector<double> values{};
  Dims strides{};         ///< in elements, for each axis of the result; 0 along an axis where all weights are equal
  bool has_zero = false;  ///< at least one weight is 0

  /// Returns the bytes that count as waiting; 0 for a single number, which needs no extra memory.
  std::int64_t bytes() const noexcept {
    return values.size() > 1 ? static_cast<std::int64_t>(values.size() * sizeof(double)) : 0;
  }
};

/// Returns a checked copy of the weights of a tile whose result has the given shape; null if the weights change nothing: all
/// are 1, or the merge uses no weights and none is 0. `tile` names the tile in errors. Throws Error(value, dtype, shape,
/// ..).
std::unique_ptr<const OwnWeights> own_weights(const Rules& rules, const TileWeights& given, const Dims& shape,
                                              const std::string& tile);

/// The part of a tile's own weights for one cell. It points to the tile's OwnWeights, which must live longer.
struct Factors {
  const double* first = nullptr;  ///< the weight of the cell's first element; null: all weights are 1
  const OwnWeights* of = nullptr;
  std::int64_t stride(int axis) const noexcept { return of->strides[axis]; }
};

}  // namespace patchfold::tiling
