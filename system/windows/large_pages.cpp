// SPDX-License-Identifier: Apache-2.0
#include "system/large_pages.hpp"

namespace patchfold::system {

/// Does nothing: large pages need a right that few users have.
void prefer_large_pages(void*, std::size_t) noexcept {}

}  // namespace patchfold::system
