// SPDX-License-Identifier: Apache-2.0
#include "system/memory.hpp"

#include "system/windows/handle.hpp"
// windows.h must come first.
#include <psapi.h>

namespace patchfold::system {

/// Returns nullptr, so that callers read the file instead of mapping it: Windows forbids to replace a mapped file.
const void* map_to_read(int, std::size_t) noexcept {
  return nullptr;
}

void* map_to_write(int descriptor, std::size_t bytes) noexcept {
  const HANDLE mapping = ::CreateFileMappingW(handle_of(descriptor), nullptr, PAGE_READWRITE, 0, 0, nullptr);
  if (mapping == nullptr) return nullptr;
  void* const view = ::MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, bytes);
  ::CloseHandle(mapping);  // the view keeps the mapping alive
  return view;
}

void unmap(const void* mapping, std::size_t) noexcept {
  ::UnmapViewOfFile(mapping);
}

void* allocate_pages(std::size_t bytes) noexcept {
  return ::VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

bool forbid_pages(void* pages, std::size_t bytes) noexcept {
  DWORD before = 0;
  return ::VirtualProtect(pages, bytes, PAGE_NOACCESS, &before) != 0;
}

std::size_t page_size() noexcept {
  SYSTEM_INFO info;
  ::GetSystemInfo(&info);
  return info.dwPageSize;
}

void free_pages(void* pages, std::size_t) noexcept {
  ::VirtualFree(pages, 0, MEM_RELEASE);
}

std::int64_t peak_memory() noexcept {
  PROCESS_MEMORY_COUNTERS counters{};
  ::GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof counters);
  return static_cast<std::int64_t>(counters.PeakWorkingSetSize);
}

std::int64_t machine_memory() noexcept {
  MEMORYSTATUSEX status;
  status.dwLength = sizeof status;
  return ::GlobalMemoryStatusEx(&status) != 0 ? static_cast<std::int64_t>(status.ullTotalPhys) : 0;
}

}  // namespace patchfold::system
