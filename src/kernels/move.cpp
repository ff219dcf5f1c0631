// SPDX-License-Identifier: Apache-2.0
#include "kernels/move.hpp"

#include <cstring>

namespace patchfold::kernels {
namespace {

using Copy = void (*)(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::int64_t, std::int64_t) noexcept;

/// Copies units of a constant size: the compiler turns memcpy into one load and one store.
template <std::size_t size>
void copy_sized(std::byte* dst, std::int64_t dst_stride, const std::byte* src, std::int64_t src_stride, std::int64_t count,
                std::int64_t) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(dst, src, size);
    dst += dst_stride;
    src += src_stride;
  }
}

void copy_any(std::byte* dst, std::int64_t dst_stride, const std::byte* src, std::int64_t src_stride, std::int64_t count,
              std::int64_t unit) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(dst, src, static_cast<std::size_t>(unit));
    dst += dst_stride;
    src += src_stride;
  }
}

Copy copy_of(std::int64_t unit) noexcept {
  switch (unit) {
    case 1: return copy_sized<1>;
    case 2: return copy_sized<2>;
    case 3: return copy_sized<3>;
    case 4: return copy_sized<4>;
    case 6: return copy_sized<6>;
    case 8: return copy_sized<8>;
    case 12: return copy_sized<12>;
    case 16: return copy_sized<16>;
    case 24: return copy_sized<24>;
    case 32: return copy_sized<32>;
    case 64: return copy_sized<64>;
    default: return copy_any;
  }
}

}  // namespace

void copy_row(std::byte* dst, std::int64_t dst_stride, const std::byte* src, std::int64_t src_stride, std::int64_t count,
              std::int64_t unit) noexcept {
  if (count == 1 || (dst_stride == unit && src_stride == unit)) {
    std::memcpy(dst, src, static_cast<std::size_t>(count * unit));
    return;
  }
  copy_of(unit)(dst, dst_stride, src, src_stride, count, unit);
}

void fill_row(std::byte* dst, std::int64_t dst_stride, const std::byte* element, std::int64_t element_size,
              std::int64_t count, std::int64_t unit) noexcept {
  bool zero = element_size > 16;
  if (!zero) {
    zero = true;
    for (std::int64_t i = 0; i < element_size; ++i) zero &= element[i] == std::byte{0};
  }
  if (zero) {
    if (dst_stride == unit) {
      std::memset(dst, 0, static_cast<std::size_t>(count * unit));
    } else {
      for (std::int64_t i = 0; i < count; ++i, dst += dst_stride) std::memset(dst, 0, static_cast<std::size_t>(unit));
    }
    return;
  }
  if (dst_stride == unit) {
    count *= unit / element_size;
    unit = dst_stride = element_size;
  }
  if (unit == element_size) return copy_of(unit)(dst, dst_stride, element, 0, count, unit);
  for (std::int64_t i = 0; i < count; ++i, dst += dst_stride)
    copy_of(element_size)(dst, element_size, element, 0, unit / element_size, element_size);
}

}  // namespace patchfold::kernels
