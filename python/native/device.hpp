// SPDX-License-Identifier: Apache-2.0
// Where arrays lie, and runs of plans there. The library patchfold_device runs plans on CUDA devices; it is loaded when the first
// array on a device comes.
#pragma once

#include <string>
#include <string_view>

#include "patchfold/plan.hpp"
#include "python/native/errors.hpp"

namespace patchfold::python {

/// Where the memory of an array lies: in the processor's memory, or on a CUDA device.
struct Location {
  int cuda = -1;           ///< the number of the CUDA device; -1 for the processor's memory
  void* stream = nullptr;  ///< the CUstream on which work with the array is enqueued

  bool is_device() const { return cuda >= 0; }
};

/// Throws Error(type) unless a destination lies where the source `data` lies, and is used on the same stream.
void check_same_location(std::string_view op, std::string_view data, const Location& src, const Location& dst);

/// Runs a plan where its arrays lie. On a device the work is enqueued on the location's stream, and the function does not wait.
/// The calling thread holds the interpreter's lock, which is released meanwhile. Throws the library's errors, with the name `op`.
void run_plan(const Plan& plan, std::string_view op, const Location& location, const void* src, void* dst);

/// Enqueues a plan as run_plan does, on a thread that does not hold the interpreter's lock.
void run_on_device(const Plan& plan, std::string_view op, void* stream, const void* src, void* dst);
/// Returns whether plans run with the kernels for devices on the host, where a stream means nothing. Only tests choose this.
bool runs_on_host() noexcept;

void bind_device(nanobind::module_& module);

}  // namespace patchfold::python
