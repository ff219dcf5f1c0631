// SPDX-License-Identifier: Apache-2.0
#include "allocations.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t largest = 0;

void* allocate(std::size_t size) noexcept {
  largest = std::max(largest, size);
  return std::malloc(std::max<std::size_t>(size, 1));
}
void* allocate_or_throw(std::size_t size) {
  void* memory = allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
/// Returns aligned memory with malloc's pointer in front of it, since some systems cannot free aligned memory.
void* allocate_aligned(std::size_t size, std::size_t alignment) {
  largest = std::max(largest, size);
  alignment = std::max(alignment, sizeof(void*));
  if (size > SIZE_MAX - 2 * alignment) throw std::bad_alloc();
  auto* const memory = static_cast<std::byte*>(std::malloc(size + 2 * alignment));
  if (memory == nullptr) throw std::bad_alloc();
  auto* const behind = memory + alignment;
  auto* const aligned = behind + (alignment - reinterpret_cast<std::uintptr_t>(behind) % alignment) % alignment;
  reinterpret_cast<void**>(aligned)[-1] = memory;
  return aligned;
}
void free_aligned(void* memory) noexcept {
  if (memory != nullptr) std::free(static_cast<void**>(memory)[-1]);
}

}  // namespace

namespace patchfold::limits {

std::size_t largest_allocation() noexcept {
  return largest;
}
void reset_allocations() noexcept {
  largest = 0;
}

}  // namespace patchfold::limits

// The other forms of new and delete in the standard library call these functions. delete is not inlined, since g++ 14 would warn of
// a mismatch with new.
void* operator new(std::size_t size) {
  return allocate_or_throw(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_aligned(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  free_aligned(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  free_aligned(memory);
}
// AddressSanitizer has its own forms for arrays and for nothrow, so these forms are replaced too.
void* operator new[](std::size_t size) {
  return allocate_or_throw(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
