// SPDX-License-Identifier: Apache-2.0
// Replaces bytes by the entries of a table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::kernels {

/// One axis of a plane of bytes; strides are in bytes, of any sign, and 0 is allowed for the source.
struct PlaneAxis {
  std::int64_t count = 1;
  std::int64_t src_stride = 0;
  std::int64_t dst_stride = 0;
};

/// Writes entry src[..] of the table, which has 256 entries of `size` bytes (1, 2, 4, 8 or 16), for each byte of a plane.
/// Pointers need no alignment.
void look_up(std::byte* dst, const std::byte* src, const PlaneAxis& outer, const PlaneAxis& inner, const std::byte* table,
             std::int64_t size) noexcept;

}  // namespace patchfold::kernels
