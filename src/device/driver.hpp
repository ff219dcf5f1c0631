// SPDX-License-Identifier: Apache-2.0
// What the interfaces to drivers share.
#pragma once

#include <string>
#include <string_view>

#include "device/launch.hpp"
#include "patchfold/error.hpp"
#include "system/library.hpp"

namespace patchfold::device {

/// Memory of a tensor, and the bytes from there to the pointer of the kernel.
struct Memory {
  void* base = nullptr;
  std::int64_t offset = 0;
};

/// Enqueues a launch on a stream. Throws Error(executor).
void run_on_cuda(const Launch& launch, void* stream, Memory src, Memory dst);
void run_on_opencl(const Launch& launch, void* stream, Memory src, Memory dst);

/// Returns the source text of one kernel, for OpenCL and NVRTC, with its macros: "#define PF_MOVE 4".
std::string source_of(const Variant& variant);

/// Throws Error(executor) that names a driver.
[[noreturn]] inline void refuse(std::string_view driver, std::string_view rule, std::string_view given) {
  throw Error({ErrorCode::executor, "device", std::string(driver), std::string(rule), std::string(given), ""});
}

/// Sets a pointer to a function of a library; returns whether the library has the function.
template <class F>
bool set_function(F*& function, void* library, const char* name) noexcept {
  function = reinterpret_cast<F*>(system::function_of(library, name));
  return function != nullptr;
}

}  // namespace patchfold::device
