// SPDX-License-Identifier: Apache-2.0
// Memory of the operating system: mapped files, and whole pages. Functions that return memory return nullptr if there is
// none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace patchfold::system {

/// Maps a whole file to read. Nobody may shorten the file while it is mapped.
const void* map_to_read(int descriptor, std::size_t bytes) noexcept;
/// Maps a file to write: bytes written to the memory are written to the file.
void* map_to_write(int descriptor, std::size_t bytes) noexcept;
void unmap(const void* mapping, std::size_t bytes) noexcept;

/// Returns memory that is all zeros, on pages of its own.
void* allocate_pages(std::size_t bytes) noexcept;
/// Forbids every access to the pages, a part of memory from allocate_pages: an access raises a signal.
bool forbid_pages(void* pages, std::size_t bytes) noexcept;
/// Returns the bytes of a page.
std::size_t page_size() noexcept;
void free_pages(void* pages, std::size_t bytes) noexcept;

/// Returns the largest number of bytes of memory that the process has had at one time.
std::int64_t peak_memory() noexcept;
/// Returns the bytes of the machine's memory; 0 if unknown.
std::int64_t machine_memory() noexcept;

}  // namespace patchfold::system
