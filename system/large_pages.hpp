// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace patchfold::system {

/// Bytes of a large page, where the system has them.
inline constexpr std::size_t large_page = std::size_t{1} << 21;

/// Asks for large pages behind this memory, before it is touched for the first time: the system then provides and clears
/// 2 MB at a time. Only large pages that lie wholly in the memory are asked for. What the memory holds stays as it is.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace patchfold::system
