// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace patchfold::system {

/// The bytes of a large page, if the system has large pages.
inline constexpr std::size_t large_page = std::size_t{1} << 21;

/// Asks for large pages for memory that has not been touched yet: the system then provides and clears 2 MB at a time. Only
/// large pages that lie wholly in the memory are used. The content of the memory does not change.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace patchfold::system
