// SPDX-License-Identifier: Apache-2.0
#include "system/library.hpp"

#include <dlfcn.h>

namespace patchfold::system {

void* load_library(const char* name, std::string& why) {
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) why = dlerror();
  return library;
}

void* function_of(void* library, const char* name) noexcept {
  return dlsym(library, name);
}

}  // namespace patchfold::system
