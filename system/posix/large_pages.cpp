// SPDX-License-Identifier: Apache-2.0
#include "system/large_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace patchfold::system {

void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  const std::size_t skipped = (large_page - reinterpret_cast<std::uintptr_t>(memory) % large_page) % large_page;
  if (bytes < skipped) return;
  const std::size_t whole = (bytes - skipped) / large_page * large_page;
  if (whole != 0) ::madvise(static_cast<std::byte*>(memory) + skipped, whole, MADV_HUGEPAGE);
#endif
}

}  // namespace patchfold::system
