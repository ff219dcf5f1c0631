// SPDX-License-Identifier: Apache-2.0
// Running plans on GPUs, with the bits that plans give on the CPU. The functions are in the library patchfold_device, beside
// patchfold. The library needs no GPU, no driver and no toolkit to be built, linked or loaded: a driver is loaded by the
// first call that needs it.
#pragma once

#include <cstdint>

#include "patchfold/plan.hpp"

namespace patchfold {

/// The interface of a device's driver, with the numbers of pf_device_kind in the C ABI.
///   host    no device: the kernels for devices run on the calling thread, in memory of the host; for tests
///   cuda    CUDA's driver interface
///   opencl  OpenCL 1.2 and later
enum class DeviceKind : std::uint8_t { host = 0, cuda = 1, opencl = 2 };

/// Where a plan runs. `stream` belongs to the caller:
///   host    ignored
///   cuda    a CUstream (or cudaStream_t) of the tensors' device; null: the default stream of the calling thread's current
///           context, or of the device's primary context if the current one is of another device
///   opencl  a cl_command_queue, in order or not
struct Device {
  DeviceKind kind = DeviceKind::host;
  void* stream = nullptr;
};

/// Where the element with index 0 on every axis lies: `offset` bytes behind `base`, which is an address (host, cuda) or a
/// cl_mem (opencl).
struct ConstDeviceData {
  const void* base = nullptr;
  std::int64_t offset = 0;
};
struct DeviceData {
  void* base = nullptr;
  std::int64_t offset = 0;
};

/// Enqueues a plan on the device's stream and returns without waiting. Nothing is allocated for the run, except 4 KB for
/// each run in OpenCL; the first run of a kernel in a context loads or compiles the kernel. `src` is ignored if the operator
/// has no data input. The tensors must live until the stream has run the plan. Results have the bits of Plan::run, but for
/// the bits of NaNs in sums. Throws Error(null_data, overlap), and Error(executor) if there is no driver, if memory is not
/// of the stream's device or is of another context, or if the driver reports an error.
PATCHFOLD_API void run_on(const Device& device, const Plan& plan, ConstDeviceData src, DeviceData dst);

}  // namespace patchfold
