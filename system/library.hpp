// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are loaded while the program runs.
#pragma once

#include <string>

namespace patchfold::system {

/// Loads a library, which stays loaded until the process ends. Returns null, and the system's message in `why`, if it cannot be
/// loaded.
void* load_library(const char* name, std::string& why);
/// Returns the address of a function of the library; null if there is none.
void* function_of(void* library, const char* name) noexcept;

}  // namespace patchfold::system
