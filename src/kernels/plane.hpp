// SPDX-License-Identifier: Apache-2.0
// Planes: copies of units along two axes with any strides.
//
// Where the axis that is nearest in the destination (columns) is not the one that is nearest in the source (rows), blocks
// are transposed in registers. Where it is the same and its elements lie backwards or at every second place, they are put in
// order in registers. Either axis may be several dims, one after the other, so that short ones fill a register too. The
// strategy "strided" (engine/strategies/strided.cpp) cuts every copy into planes that stay in the cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::kernels {

/// One side of an axis: where its units lie. Strides are in bytes and may have any sign.
struct PlaneSide {
  const std::int64_t* offsets = nullptr;  ///< of every unit, from the first
  std::int64_t stride = 0;                ///< if the units lie in equal steps, otherwise 0
};

/// dst[dst_rows[r] + dst_columns[c]] = src[src_rows[r] + src_columns[c]], each a unit of bytes.
struct Plane {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  PlaneSide dst_rows{};
  PlaneSide dst_columns{};
  PlaneSide src_rows{};
  PlaneSide src_columns{};
  const std::byte* src_end = nullptr;  ///< up to where memory may be read
  std::int64_t src_ahead = 0;          ///< bytes from what is read to what will be read soon; 0: nothing is fetched
  std::int64_t dst_ahead = 0;          ///< the same of what is written
};

using MovePlane = void (*)(std::byte* dst, const std::byte* src, std::int64_t unit, const Plane& plane);

/// The kernel for units of so many bytes, on the instruction set in use.
MovePlane plane_kernel(std::int64_t unit) noexcept;

/// Whether rows of this stride in the source can be exchanged with columns, or columns put in order, in registers.
bool plane_has_vectors(std::int64_t unit, std::int64_t src_stride) noexcept;

}  // namespace patchfold::kernels
