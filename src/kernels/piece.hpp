// SPDX-License-Identifier: Apache-2.0
// Copies a few bytes without a function call, as two halves of a constant size that may overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace patchfold::kernels {

/// Copies `bytes` bytes, which must be at least `half` and at most 2 * `half`.
template <std::size_t half>
inline void copy_overlapping(std::byte* dst, const std::byte* src, std::size_t bytes) noexcept {
  std::byte front[half], back[half];
  std::memcpy(front, src, half);
  std::memcpy(back, src + bytes - half, half);
  std::memcpy(dst, front, half);
  std::memcpy(dst + bytes - half, back, half);
}

/// Copies any number of bytes; reads and writes only these bytes.
inline void copy_piece(std::byte* dst, const std::byte* src, std::int64_t size) noexcept {
  const auto bytes = static_cast<std::size_t>(size);
  if (bytes >= 16) {
    if (bytes <= 32) return copy_overlapping<16>(dst, src, bytes);
    if (bytes <= 64) return copy_overlapping<32>(dst, src, bytes);
    std::size_t i = 0;
    for (; i + 64 <= bytes; i += 64) std::memcpy(dst + i, src + i, 64);
    std::memcpy(dst + bytes - 64, src + bytes - 64, 64);
    return;
  }
  if (bytes >= 8) return copy_overlapping<8>(dst, src, bytes);
  if (bytes >= 4) return copy_overlapping<4>(dst, src, bytes);
  for (std::size_t i = 0; i < bytes; ++i) dst[i] = src[i];
}

}  // namespace patchfold::kernels
