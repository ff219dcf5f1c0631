// SPDX-License-Identifier: Apache-2.0
// OpenCL, through the library libOpenCL that the system has. The declarations are those of OpenCL 1.2, as far as they are
// used.
#include <array>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "device/driver.hpp"
#include "tensor/lasting.hpp"

namespace patchfold::device {
namespace {

using Status = std::int32_t;
using Handle = void*;  // cl_context, cl_device_id, cl_command_queue, cl_program, cl_kernel, cl_mem

constexpr std::uint32_t queue_context = 0x1090, queue_device = 0x1091, build_log = 0x1183, double_config = 0x1032,
                        single_config = 0x101B;
constexpr std::uint64_t read_only_copy = 1 << 2 | 1 << 5, has_subnormals = 1 << 0;

/// The functions of OpenCL.
struct Functions {
  Finder find;
  Status (*queue_info)(Handle queue, std::uint32_t what, std::size_t size, void* value,
                       std::size_t* needed) = find("clGetCommandQueueInfo");
  Status (*device_info)(Handle device, std::uint32_t what, std::size_t size, void* value,
                        std::size_t* needed) = find("clGetDeviceInfo");
  Handle (*create_program)(Handle context, std::uint32_t count, const char** texts, const std::size_t* lengths,
                           Status* status) = find("clCreateProgramWithSource");
  Status (*build)(Handle program, std::uint32_t count, const Handle* devices, const char* options, void*,
                  void*) = find("clBuildProgram");
  Status (*build_info)(Handle program, Handle device, std::uint32_t what, std::size_t size, void* value,
                       std::size_t* needed) = find("clGetProgramBuildInfo");
  Status (*release_program)(Handle program) = find("clReleaseProgram");
  Handle (*create_kernel)(Handle program, const char* name, Status* status) = find("clCreateKernel");
  Status (*set_argument)(Handle kernel, std::uint32_t index, std::size_t size, const void* value) = find("clSetKernelArg");
  Status (*release_kernel)(Handle kernel) = find("clReleaseKernel");
  Handle (*create_buffer)(Handle context, std::uint64_t flags, std::size_t size, void* host,
                          Status* status) = find("clCreateBuffer");
  Status (*release_buffer)(Handle buffer) = find("clReleaseMemObject");
  Status (*enqueue)(Handle queue, Handle kernel, std::uint32_t dims, const std::size_t* offset, const std::size_t* global,
                    const std::size_t* local, std::uint32_t waits, const Handle* wait,
                    Handle* event) = find("clEnqueueNDRangeKernel");
  Status (*retain_context)(Handle context) = find("clRetainContext");
};

const Functions& functions() {
  return lasting([] {
    void* const library =
        load_driver("opencl", "the library of OpenCL must be installed", {"libOpenCL.so.1", "libOpenCL.so", "OpenCL.dll"});
    const Functions f{Finder(library)};
    if (!f.find.found_all()) refuse("opencl", "the library of OpenCL must have the functions of version 1.2", "");
    return f;
  });
}

void check(Status status, const char* function) {
  if (status != 0)
    refuse("opencl", "the driver must accept every call", std::string(function) + ": error " + std::to_string(status));
}

/// Frees an object of OpenCL at the end of the scope.
struct Owned {
  Handle handle;
  Status (*release)(Handle);
  ~Owned() {
    if (handle != nullptr) release(handle);
  }
};

Handle build(Handle context, Handle device, const Variant& variant) {
  const Functions& cl = functions();
  std::uint64_t single = 0, twice = 0;
  check(cl.device_info(device, single_config, sizeof single, &single, nullptr), "clGetDeviceInfo");
  cl.device_info(device, double_config, sizeof twice, &twice, nullptr);
  const bool is_mean = variant.kernel == Kernel::mean || variant.kernel == Kernel::count;
  if ((is_mean || (variant.kernel == Kernel::sum && variant.dtype == DType::float64)) && twice == 0)
    refuse("opencl", "the device must have float64, which means, coverage and sums of float64 need", "");
  // Subnormal numbers of bfloat16 are subnormal in float32, too; those of float16 are not. A mean's type is not known here.
  const bool may_be_subnormal = variant.dtype == DType::float32 || variant.dtype == DType::bfloat16;
  if ((variant.kernel == Kernel::mean || (variant.kernel == Kernel::sum && may_be_subnormal)) && (single & has_subnormals) == 0)
    refuse("opencl", "the device must have subnormal numbers, which means and sums of float32 and bfloat16 need", "");
  const std::string text = source_of(variant);
  const char* const texts[] = {text.c_str()};
  Status status = 0;
  Owned program{cl.create_program(context, 1, const_cast<const char**>(texts), nullptr, &status), cl.release_program};
  check(status, "clCreateProgramWithSource");
  status = cl.build(program.handle, 1, &device, "-cl-std=CL1.2", nullptr, nullptr);
  if (status == 0) return std::exchange(program.handle, nullptr);
  std::size_t length = 0;
  cl.build_info(program.handle, device, build_log, 0, nullptr, &length);
  std::string log(length, '\0');
  cl.build_info(program.handle, device, build_log, length, log.data(), nullptr);
  refuse("opencl", "the driver must compile the kernel " + variant.name(), log.c_str());
}

/// Returns the program of a kernel. Programs are kept, and with them their context.
Handle program_of(Handle context, Handle device, const Variant& variant) {
  using Key = std::tuple<Handle, Handle, std::string>;
  static std::mutex mutex;
  static Lasting<std::map<Key, Handle>> programs;
  const std::lock_guard lock(mutex);
  Handle& program = programs.value[{context, device, variant.name()}];
  if (program == nullptr) {
    program = build(context, device, variant);
    functions().retain_context(context);
  }
  return program;
}

}  // namespace

void run_on_opencl(const Launch& launch, void* queue, Memory src, Memory dst) {
  const Functions& cl = functions();
  if (queue == nullptr) refuse("opencl", "the stream must be a cl_command_queue", "NULL");
  Handle context = nullptr, device = nullptr;
  check(cl.queue_info(queue, queue_context, sizeof context, &context, nullptr), "clGetCommandQueueInfo");
  check(cl.queue_info(queue, queue_device, sizeof device, &device, nullptr), "clGetCommandQueueInfo");
  Status status = 0;
  const Owned kernel{cl.create_kernel(program_of(context, device, launch.variant), launch.variant.name().c_str(), &status),
                     cl.release_kernel};
  check(status, "clCreateKernel");
  // The driver keeps the buffer until the kernel has run.
  const Owned params{
      cl.create_buffer(context, read_only_copy, launch.size, const_cast<std::byte*>(launch.params.data()), &status),
      cl.release_buffer};
  check(status, "clCreateBuffer");
  const auto set = [&](std::uint32_t index, const auto& value) {
    check(cl.set_argument(kernel.handle, index, sizeof value, &value), "clSetKernelArg");
  };
  set(0, src.base);
  set(1, src.offset);
  set(2, dst.base);
  set(3, dst.offset);
  set(4, params.handle);
  const auto local = static_cast<std::size_t>(launch.threads);
  const std::size_t global = static_cast<std::size_t>(launch.groups) * local;
  check(cl.enqueue(queue, kernel.handle, 1, nullptr, &global, &local, 0, nullptr, nullptr), "clEnqueueNDRangeKernel");
}

}  // namespace patchfold::device
