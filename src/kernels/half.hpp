// SPDX-License-Identifier: Apache-2.0
// The conversions of half.h, for processors.
#pragma once

#include <bit>
#include <cstdint>

namespace patchfold::kernels {
namespace half {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
inline float as_float(u32 bits) noexcept {
  return std::bit_cast<float>(bits);
}
inline u32 as_uint(float value) noexcept {
  return std::bit_cast<u32>(value);
}
#define HALF_FUNCTION inline
#include "kernels/half.h"
#undef HALF_FUNCTION

}  // namespace half

using half::bfloat16_to_float;
using half::float16_to_float;
using half::float_to_bfloat16;
using half::float_to_float16;

}  // namespace patchfold::kernels
