// SPDX-License-Identifier: Apache-2.0
// Memory of the operating system: files as memory, and whole pages. Functions that return memory return nullptr where there
// is none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::system {

/// A whole file. Nobody may shorten it while it is mapped.
const void* map_to_read(int descriptor, std::size_t bytes) noexcept;
/// Maps the file; what is written there goes into the file.
void* map_to_write(int descriptor, std::size_t bytes) noexcept;
void unmap(const void* mapping, std::size_t bytes) noexcept;

/// Zeros on pages of their own.
void* allocate_pages(std::size_t bytes) noexcept;
/// From now on whoever touches these pages, which are a part of what allocate_pages gave, is stopped by a signal.
bool forbid_pages(void* pages, std::size_t bytes) noexcept;
/// Bytes of a page.
std::size_t page_size() noexcept;
void free_pages(void* pages, std::size_t bytes) noexcept;

/// Most bytes of memory that this process has had at once.
std::int64_t peak_memory() noexcept;
/// Bytes of the machine's memory; 0 where nobody knows.
std::int64_t machine_memory() noexcept;

}  // namespace patchfold::system
