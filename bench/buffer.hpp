// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "system/large_pages.hpp"
#include "system/memory.hpp"

namespace patchfold::bench {

/// Memory on whole pages. The constructor writes to every page, so that the system need not provide pages while the clock
/// runs. The destructor returns the memory to the system, so buffers that follow one another need no more memory than the
/// largest buffer.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : used_((bytes / page + 1) * page) {
    mapped_ = system::allocate_pages(used_ + page);
    if (mapped_ == nullptr) throw std::bad_alloc();
    system::prefer_large_pages(data(), used_);
    std::fill_n(data(), used_, std::byte{1});
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { system::free_pages(mapped_, used_ + page); }

  std::byte* data() const {
    const auto begin = reinterpret_cast<std::uintptr_t>(mapped_);
    return static_cast<std::byte*>(mapped_) + (page - begin % page) % page;
  }

 private:
  static constexpr std::size_t page = system::large_page;
  std::size_t used_;
  void* mapped_ = nullptr;
};

}  // namespace patchfold::bench
