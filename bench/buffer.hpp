// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

namespace patchfold::bench {

/// Memory on whole pages, touched, so that no page is fetched while the clock runs. It goes back to the system at once, so
/// that buffers of many sizes, one after another, need no more than the largest.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : used_((bytes / page + 1) * page) {
    mapped_ = ::mmap(nullptr, used_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    ::madvise(data(), used_, MADV_HUGEPAGE);
    std::fill_n(data(), used_, std::byte{1});
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { ::munmap(mapped_, used_ + page); }

  std::byte* data() const {
    const auto begin = reinterpret_cast<std::uintptr_t>(mapped_);
    return static_cast<std::byte*>(mapped_) + (page - begin % page) % page;
  }

 private:
  static constexpr std::size_t page = 1 << 21;
  std::size_t used_;
  void* mapped_ = nullptr;
};

}  // namespace patchfold::bench
