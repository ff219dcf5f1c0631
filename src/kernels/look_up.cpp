// SPDX-License-Identifier: Apache-2.0
// Plain loops: an entry costs one load, and no instruction set loads entries from several places faster.
#include "kernels/look_up.hpp"

#include <cstring>

namespace patchfold::kernels {
namespace {

/// Reads one entry.
template <std::size_t size>
struct Entry {
  std::byte bytes[size];
  Entry(const std::byte* table, const std::byte* index) noexcept {
    std::memcpy(bytes, table + std::to_integer<std::size_t>(*index) * size, size);
  }
};

template <std::size_t size>
void look_up_sized(std::byte* dst, const std::byte* src, const PlaneAxis& outer, const PlaneAxis& inner,
                   const std::byte* table) noexcept {
  const std::int64_t step = inner.src_stride;
  for (std::int64_t i = 0; i < outer.count; ++i) {
    std::byte* to = dst + i * outer.dst_stride;
    const std::byte* from = src + i * outer.src_stride;
    std::int64_t k = 0;
    if (inner.dst_stride == static_cast<std::int64_t>(size)) {
      // All loads of a group come before its stores, which could change the table as far as the compiler knows.
      for (; k + 4 <= inner.count; k += 4, from += 4 * step, to += 4 * size) {
        const Entry<size> entries[4] = {
            {table, from}, {table, from + step}, {table, from + 2 * step}, {table, from + 3 * step}};
        for (std::size_t e = 0; e < 4; ++e) std::memcpy(to + e * size, entries[e].bytes, size);
      }
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
