// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace patchfold::bench {

/// Memory on whole pages, touched, so that no page is fetched while the clock runs.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(static_cast<std::byte*>(std::aligned_alloc(page, (bytes / page + 1) * page))) {
    if (!bytes_) throw std::bad_alloc();
    ::madvise(bytes_.get(), (bytes / page + 1) * page, MADV_HUGEPAGE);
    std::fill_n(bytes_.get(), (bytes / page + 1) * page, std::byte{1});
  }
  std::byte* data() const { return bytes_.get(); }

 private:
  static constexpr std::size_t page = 1 << 21;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
};

}  // namespace patchfold::bench
