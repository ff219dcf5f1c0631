// SPDX-License-Identifier: Apache-2.0
// Adds rows of bytes, each times a weight in fixed point: one step of a resize.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::kernels {

/// Writes dst[i] = (half + sum of weights[k] * src[k * pitch + i]) >> bits, clipped to 0 .. 255, for i < count, where half
/// is 2^(bits - 1). Sums wrap in 32 bits. `bits` is 1 to 30.
void weigh(std::byte* dst, const std::byte* src, std::int64_t pitch, std::int64_t count, const std::int32_t* weights,
           std::int64_t taps, int bits) noexcept;

}  // namespace patchfold::kernels
