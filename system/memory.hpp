// SPDX-License-Identifier: Apache-2.0
// Memory of the operating system: mapped files, and whole pages. Functions that return memory return nullptr if the system has
// none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::system {

/// Returns a whole file as memory to read. Nobody may shorten the file while it is mapped.
const void* map_to_read(int descriptor, std::size_t bytes) noexcept;
/// Returns a file as memory to write: what is written there is written to the file.
void* map_to_write(int descriptor, std::size_t bytes) noexcept;
void unmap(const void* mapping, std::size_t bytes) noexcept;

/// Returns memory of zeros that begins on a page of its own.
void* allocate_pages(std::size_t bytes) noexcept;
/// Makes every access to the pages, a part of memory from allocate_pages, raise a signal.
bool forbid_pages(void* pages, std::size_t bytes) noexcept;
/// Returns the bytes of a page.
std::size_t page_size() noexcept;
void free_pages(void* pages, std::size_t bytes) noexcept;

/// Returns the most bytes of memory that the process has had at one time.
std::int64_t peak_memory() noexcept;
/// Returns the bytes of memory in the machine; 0 if unknown.
std::int64_t machine_memory() noexcept;

}  // namespace patchfold::system
