// SPDX-License-Identifier: Apache-2.0
#include "system/library.hpp"

#include <windows.h>

namespace patchfold::system {

void* load_library(const char* name, std::string& why) {
  void* const library = reinterpret_cast<void*>(LoadLibraryA(name));
  if (library == nullptr) why = std::string(name) + ": error " + std::to_string(GetLastError());
  return library;
}

void* function_of(void* library, const char* name) noexcept {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

}  // namespace patchfold::system
