// SPDX-License-Identifier: Apache-2.0
// Plain loops: an entry costs one load, and no instruction set loads entries from several places faster.
#include "kernels/look_up.hpp"

#include <cstring>

namespace patchfold::kernels {
namespace {

/// Looks up `count` entries that lie side by side in the destination. All loads come before the stores, which could change
/// the table as far as the compiler knows.
template <std::int64_t count, std::size_t size>
void look_up_group(std::byte*& dst, const std::byte*& src, std::int64_t step, const std::byte* table) noexcept {
  std::byte entries[count][size];
  for (auto& entry : entries) {
    std::memcpy(entry, table + std::to_integer<std::size_t>(*src) * size, size);
    src += step;
  }
  std::memcpy(dst, entries, sizeof entries);
  dst += sizeof entries;
}

template <std::size_t size>
void look_up_sized(std::byte* dst, const std::byte* src, const PlaneAxis& outer, const PlaneAxis& inner,
                   const std::byte* table) noexcept {
  const std::int64_t step = inner.src_stride;
  for (std::int64_t i = 0; i < outer.count; ++i) {
    std::byte* to = dst + i * outer.dst_stride;
    const std::byte* from = src + i * outer.src_stride;
    std::int64_t k = 0;
    if (inner.dst_stride == static_cast<std::int64_t>(size)) {
      for (; k + 8 <= inner.count; k += 8) look_up_group<8, size>(to, from, step, table);
      for (; k + 2 <= inner.count; k += 2) look_up_group<2, size>(to, from, step, table);
    }
    for (; k < inner.count; ++k, to += inner.dst_stride, from += step)
      std::memcpy(to, table + std::to_integer<std::size_t>(*from) * size, size);
  }
}

}  // namespace

void look_up(std::byte* dst, const std::byte* src, const PlaneAxis& outer, const PlaneAxis& inner, const std::byte* table,
             std::int64_t size) noexcept {
  switch (size) {
    case 1: return look_up_sized<1>(dst, src, outer, inner, table);
    case 2: return look_up_sized<2>(dst, src, outer, inner, table);
    case 4: return look_up_sized<4>(dst, src, outer, inner, table);
    case 8: return look_up_sized<8>(dst, src, outer, inner, table);
    default: return look_up_sized<16>(dst, src, outer, inner, table);
  }
}

}  // namespace patchfold::kernels
