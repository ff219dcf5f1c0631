// SPDX-License-Identifier: Apache-2.0
#include "system/memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace patchfold::system {
namespace {

void* or_null(void* mapping) noexcept {
  return mapping == MAP_FAILED ? nullptr : mapping;
}

}  // namespace

const void* map_to_read(int descriptor, std::size_t bytes) noexcept {
  return or_null(::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0));
}

void* map_to_write(int descriptor, std::size_t bytes) noexcept {
  return or_null(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
}

void unmap(const void* mapping, std::size_t bytes) noexcept {
  ::munmap(const_cast<void*>(mapping), bytes);
}

void* allocate_pages(std::size_t bytes) noexcept {
  return or_null(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

bool forbid_pages(void* pages, std::size_t bytes) noexcept {
  return ::mprotect(pages, bytes, PROT_NONE) == 0;
}

std::size_t page_size() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void free_pages(void* pages, std::size_t bytes) noexcept {
  ::munmap(pages, bytes);
}

std::int64_t peak_memory() noexcept {
#ifdef __APPLE__
  constexpr std::int64_t unit = 1;
#else
  constexpr std::int64_t unit = 1024;
#endif
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * unit;
}

std::int64_t machine_memory() noexcept {
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : 0;
}

}  // namespace patchfold::system
