// SPDX-License-Identifier: Apache-2.0
// Planes: copies of units along two axes with any strides.
//
// Columns run along the axis with the smallest stride in the destination. If another axis has the smallest stride in the source,
// rows run along that axis, and rows and columns are exchanged in registers. Columns in reverse order, or two units apart, are put
// in order in registers. Rows and columns may each run along several dims, one after the other, so that short dims fill a register
// too. The strategy "strided" (engine/copies/strided.cpp) cuts every copy into planes that stay in the cache.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>

namespace patchfold::kernels {

/// The places of the units along one axis of a plane, in the source or in the destination. Strides are in bytes and may have any
/// sign.
struct PlaneSide {
  const std::int64_t* offsets = nullptr;  ///< bytes from the first unit to each unit
  std::int64_t stride = 0;                ///< bytes from unit to unit if they lie in equal steps, otherwise 0
};

/// A copy of units: dst[dst_rows[r] + dst_columns[c]] = src[src_rows[r] + src_columns[c]].
struct Plane {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  PlaneSide dst_rows{};
  PlaneSide dst_columns{};
  PlaneSide src_rows{};
  PlaneSide src_columns{};
  const std::byte* src_end = nullptr;  ///< end of the readable memory
  bool repeats = false;                ///< all columns of a row are one unit of the source
};

using MovePlane = void (*)(std::byte* dst, const std::byte* src, std::int64_t unit, const Plane& plane);

/// Returns the kernel for planes like `plane`, with units of `unit` bytes, on the instruction set in use.
MovePlane plane_kernel(std::int64_t unit, const Plane& plane) noexcept;

/// The abilities of the instruction set's registers, for units of one size.
struct PlaneVectors {
  std::int64_t lanes = 1;  ///< units in a register; 1: units are moved one by one
  bool spreads = false;    ///< units can be stored at every second place
  /// Units along a side of the largest block whose rows and columns are exchanged: for rows one unit apart, and for rows two units
  /// apart.
  std::int64_t block = 1, block_apart = 1;
};
PlaneVectors plane_vectors(std::int64_t unit) noexcept;

/// The ways in which a kernel moves a plane.
enum class PlaneWay : std::uint8_t {
  units,       ///< one by one
  join,        ///< a few columns become neighbours in a row
  split,       ///< the inverse of join
  exchange,    ///< rows become columns, in blocks
  straighten,  ///< columns that lie backwards, or at every second place of the source, are put in order
  spread,      ///< columns go to every second place of the destination
  repeat,      ///< columns are the same unit
};

/// The steps of a plane from unit to unit, in bytes. A step of 0 means that the steps along this axis differ.
struct PlaneSteps {
  std::int64_t dst_rows = 0, dst_columns = 0, src_rows = 0, src_columns = 0;
  bool repeats = false;  ///< Plane::repeats
};
constexpr PlaneWay plane_way(std::int64_t unit, PlaneVectors vectors, std::int64_t rows, std::int64_t columns,
                             const PlaneSteps& steps) noexcept {
  const auto size = [](std::int64_t value) { return value < 0 ? -value : value; };
  const auto is_few = [&](std::int64_t ways) {
    return ways == 2 || ways == 3 || ways == 4 || (ways == 8 && vectors.lanes > 8);
  };
  const std::int64_t lanes = vectors.lanes;
  if (lanes == 1) return PlaneWay::units;
  if (steps.repeats && steps.dst_columns == unit) return PlaneWay::repeat;
  if (steps.dst_columns == 2 * unit && steps.src_columns == unit && vectors.spreads && columns >= 4) return PlaneWay::spread;
  if (steps.dst_columns != unit) return PlaneWay::units;
  if (size(steps.src_rows) == unit) {
    if (steps.dst_rows == columns * unit && rows >= lanes && is_few(columns)) return PlaneWay::join;
    if ((steps.src_rows > 0 || steps.src_columns < 0) && size(steps.src_columns) == rows * unit && columns >= lanes &&
        is_few(rows))
      return PlaneWay::split;
  }
  if (size(steps.src_rows) == unit || size(steps.src_rows) == 2 * unit) {
    constexpr std::int64_t little = 8;
    if (std::min(rows, columns) >= 2 && rows * columns >= little) return PlaneWay::exchange;
  }
  if ((steps.src_columns == -unit || size(steps.src_columns) == 2 * unit) && columns >= 4) return PlaneWay::straighten;
  return PlaneWay::units;
}

/// Returns the number of lines, `step` bytes apart, that a first-level cache holds. Lines whose distance is a multiple of a large
/// power of two fall into few sets of the cache.
constexpr std::int64_t lines_near(std::int64_t step) noexcept {
  constexpr std::int64_t sets = 64, ways = 8, line = 64;
  return ways * sets / std::gcd(step != 0 && step % line == 0 ? step / line : 1, sets);
}

/// The blocks in which rows are exchanged with columns: `side` rows and columns. With a side of 1 units are exchanged one by one:
/// if there are too few rows or columns, or if 16 bytes hold only one unit of rows that lie two units apart.
struct Blocks {
  std::int64_t side = 1;
  double cycles = 0;  ///< a rough estimate for the plane
};

/// Returns the cheapest blocks for rows that lie `step` units apart in the source. The last block overlaps the block before it if
/// blocks do not fit evenly.
constexpr Blocks blocks_of(PlaneVectors vectors, std::int64_t rows, std::int64_t columns, std::int64_t step) noexcept {
  const auto parts = [](std::int64_t length, std::int64_t side) { return (length + side - 1) / side; };
  Blocks best{1, 0.9 * static_cast<double>(rows * columns)};
  const std::int64_t fewest = std::min<std::int64_t>(4, vectors.block_apart),
                     most = step == 1 ? vectors.block : vectors.block_apart;
  for (std::int64_t side = most; side >= std::max(fewest, 2 * step); side /= 2) {
    if (side > std::min(rows, columns)) continue;
    const auto shuffles = static_cast<double>(side * (std::bit_width(static_cast<std::uint64_t>(side)) - 1));
    const double cycles = static_cast<double>(parts(rows, side) * parts(columns, side)) * (2 + shuffles / 2);
    if (best.side == 1 || cycles < best.cycles) best = {side, cycles};
  }
  return best;
}

}  // namespace patchfold::kernels
