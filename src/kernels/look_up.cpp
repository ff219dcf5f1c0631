// SPDX-License-Identifier: Apache-2.0
// Plain loops: an entry costs one load, and no instruction set loads entries from several places faster.
#include "kernels/look_up.hpp"

#include <cstring>

namespace patchfold::kernels {
namespace {

template <std::size_t size>
void look_up_sized(std::byte* dst, const std::byte* src, const PlaneAxis& outer, const PlaneAxis& inner,
                   const std::byte* table) noexcept {
  for (std::int64_t i = 0; i < outer.count; ++i) {
    std::byte* to = dst + i * outer.dst_stride;
    const std::byte* from = src + i * outer.src_stride;
    if (inner.src_stride == 1 && inner.dst_stride == static_cast<std::int64_t>(size)) {
      // With constant strides the compiler unrolls the loop.
      for (std::int64_t k = 0; k < inner.count; ++k)
        std::memcpy(to + k * std::int64_t{size}, table + std::to_integer<std::size_t>(from[k]) * size, size);
      continue;
    }
    for (std::int64_t k = 0; k < inner.count; ++k, to += inner.dst_stride, from += inner.src_stride)
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
