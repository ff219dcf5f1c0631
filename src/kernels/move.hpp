// SPDX-License-Identifier: Apache-2.0
// Copies and fills rows of units. A unit has any number of bytes, which are copied unchanged. Pointers need no alignment. Strides
// are in bytes and may be negative; strides of the source may be 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::kernels {

/// Copies `count` units of `unit` bytes; `count` must be at least 1.
void copy_row(std::byte* dst, std::int64_t dst_stride, const std::byte* src, std::int64_t src_stride, std::int64_t count,
              std::int64_t unit) noexcept;

/// Fills `count` units of `unit` bytes with copies of one element; `unit` must be a multiple of `element_size`. If the
/// element has more than 16 bytes, the units become zeros.
void fill_row(std::byte* dst, std::int64_t dst_stride, const std::byte* element, std::int64_t element_size,
              std::int64_t count, std::int64_t unit) noexcept;

}  // namespace patchfold::kernels
