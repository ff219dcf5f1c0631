// SPDX-License-Identifier: Apache-2.0
// What the interfaces to drivers share.
#pragma once

#include <initializer_list>
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

/// Loads the first of these libraries that the system has. Throws Error(executor) with the reason for each if it has none.
inline void* load_driver(std::string_view driver, std::string_view rule, std::initializer_list<const char*> names) {
  std::string reasons, why;
  for (const char* const name : names) {
    if (void* const library = system::load_library(name, why)) return library;
    reasons += (reasons.empty() ? "" : ", ") + why;
  }
  refuse(driver, rule, reasons);
}

/// Finds functions of a library: Status (*init)(unsigned) = find("cuInit").
class Finder {
 public:
  struct Found {
    void* at;
    template <class F>
    operator F*() const noexcept {
      return reinterpret_cast<F*>(at);
    }
  };

  explicit Finder(void* library) noexcept : library_(library) {}
  Found operator()(const char* name) noexcept {
    void* const at = library_ != nullptr ? system::function_of(library_, name) : nullptr;
    found_all_ = found_all_ && at != nullptr;
    return {at};
  }
  bool found_all() const noexcept { return found_all_; }

 private:
  void* library_;
  bool found_all_ = true;
};

}  // namespace patchfold::device
