// SPDX-License-Identifier: Apache-2.0
// The parameters of the kernels as the host sees them, for both widths of an index.
#pragma once

#include <cstdint>

namespace patchfold::device {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

namespace narrow {
using Index = std::int32_t;
using Stride = std::int32_t;
#include "device/kernels/params.h"
}  // namespace narrow

namespace wide {
using Index = std::int64_t;
using Stride = std::int64_t;
#include "device/kernels/params.h"
}  // namespace wide

}  // namespace patchfold::device
