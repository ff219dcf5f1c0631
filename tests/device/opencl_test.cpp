// SPDX-License-Identifier: Apache-2.0
// The kernels for devices on the first device of OpenCL: on Debian, the processor by pocl-opencl-icd. Without a device the
// tests are skipped; PATCHFOLD_NEEDS_OPENCL=1 makes that a failure.
//   PATCHFOLD_SEED    another seed           PATCHFOLD_CASES   a factor of the number of cases
#include <gtest/gtest.h>

#include <cstdlib>

#include "patchfold/device.hpp"
#include "problems.hpp"
#include "system/library.hpp"

namespace patchfold::testing {
namespace {

using Handle = void*;

/// The functions of OpenCL that a caller of the library uses itself.
struct OpenCl {
  std::int32_t (*platforms)(std::uint32_t, Handle*, std::uint32_t*);
  std::int32_t (*devices)(Handle, std::uint64_t, std::uint32_t, Handle*, std::uint32_t*);
  Handle (*context)(const std::intptr_t*, std::uint32_t, const Handle*, void*, void*, std::int32_t*);
  Handle (*queue)(Handle, Handle, std::uint64_t, std::int32_t*);
  Handle (*buffer)(Handle, std::uint64_t, std::size_t, void*, std::int32_t*);
  std::int32_t (*release)(Handle);
  std::int32_t (*read)(Handle, Handle, std::uint32_t, std::size_t, std::size_t, void*, std::uint32_t, const Handle*,
                       Handle*);
};

class DeviceOpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    void* const library = system::load_library("libOpenCL.so.1", why);
    if (library != nullptr && find(library)) return;
    if (std::getenv("PATCHFOLD_NEEDS_OPENCL") != nullptr) FAIL() << "no device of OpenCL: " << why;
    GTEST_SKIP() << "no device of OpenCL: " << why;
  }

  bool find(void* library) {
    const auto get = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(system::function_of(library, name));
    };
    get(cl_.platforms, "clGetPlatformIDs");
    get(cl_.devices, "clGetDeviceIDs");
    get(cl_.context, "clCreateContext");
    get(cl_.queue, "clCreateCommandQueue");
    get(cl_.buffer, "clCreateBuffer");
    get(cl_.release, "clReleaseMemObject");
    get(cl_.read, "clEnqueueReadBuffer");
    Handle platform = nullptr, device = nullptr;
    std::uint32_t count = 0;
    constexpr std::uint64_t every_device = 0xffffffff;
    if (cl_.platforms(1, &platform, &count) != 0 || count == 0) return false;
    if (cl_.devices(platform, every_device, 1, &device, &count) != 0 || count == 0) return false;
    context_ = cl_.context(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue_ = cl_.queue(context_, device, 0, nullptr);
    return queue_ != nullptr;
  }

  void run(const Case& made, std::vector<std::byte>& destination) {
    constexpr std::uint64_t read_write_copy = 1 << 0 | 1 << 5;
    auto source = made.source;
    const Handle src = cl_.buffer(context_, read_write_copy, source.size(), source.data(), nullptr);
    const Handle dst = cl_.buffer(context_, read_write_copy, destination.size(), destination.data(), nullptr);
    run_on({DeviceKind::opencl, queue_}, made.plan, {src, static_cast<std::int64_t>(made.src.origin)},
           {dst, static_cast<std::int64_t>(made.dst.origin)});
    EXPECT_EQ(cl_.read(queue_, dst, 1, 0, destination.size(), destination.data(), 0, nullptr, nullptr), 0);
    cl_.release(src);
    cl_.release(dst);
  }

  OpenCl cl_{};
  Handle context_ = nullptr, queue_ = nullptr;
};

TEST_F(DeviceOpenCl, GivesTheBitsOfTheEngine) {
  constexpr int of_each_operator = 25;
  run_cases(std::max(1, static_cast<int>(of_each_operator * scale_of_run())),
            [&](const Case& made, std::vector<std::byte>& destination) { run(made, destination); });
}

}  // namespace
}  // namespace patchfold::testing
