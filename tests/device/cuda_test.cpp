// SPDX-License-Identifier: Apache-2.0
// The calls of CUDA's driver, against a stand-in for it that runs kernels on the host.
//   PATCHFOLD_SEED    another seed           PATCHFOLD_CASES   a factor of the number of cases
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>

#include "device/embedded.hpp"
#include "device/host.hpp"
#include "fake_cuda.hpp"
#include "patchfold/device.hpp"
#include "patchfold/error.hpp"
#include "patchfold/operators.hpp"
#include "problems.hpp"

namespace patchfold::testing {
namespace {

using device::Kernel;
using device::Variant;

/// Returns the variant of this name.
Variant variant_of(const std::string& name) {
  for (const Kernel kernel : {Kernel::move, Kernel::brick, Kernel::sum, Kernel::mean, Kernel::count})
    for (const int unit : {0, 1, 2, 4, 8, 16})
      for (const ElementType& type : all_types())
        for (const bool is_wide : {false, true})
          if (const Variant each{kernel, unit, type.dtype, is_wide}; each.name() == name) return each;
  ADD_FAILURE() << "no kernel " << name;
  return {};
}

int run_kernel(const std::string& name, unsigned groups, unsigned, void** params) {
  device::Launch launch{};
  launch.variant = variant_of(name);
  launch.groups = groups;
  const std::byte* src = nullptr;
  std::byte* dst = nullptr;
  std::memcpy(&src, params[0], sizeof src);
  std::memcpy(&dst, params[1], sizeof dst);
  std::memcpy(launch.params.data(), params[2], launch.params.size());
  device::run_on_host(launch, src, dst);
  return 0;
}

class DeviceCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    cuda = {};
    cuda.launch = run_kernel;
    cuda.primary = std::move(kept_);
  }
  // The library keeps primary contexts, as drivers do.
  void TearDown() override { kept_ = std::move(cuda.primary); }

  /// Runs a plan that unfolds 1 x 1 x 3 floats to columns of two taps.
  void run(void* stream, int src_device = 0, int dst_device = 0) {
    own(source_.data(), sizeof source_, src_device);
    own(result_.data(), sizeof result_, dst_device);
    run_on({DeviceKind::cuda, stream}, plan_, {source_.data(), sizeof(float)}, {result_.data(), 0});
    EXPECT_EQ(result_, (std::array<float, 4>{1, 2, 2, 3}));
  }
  void own(const void* begin, std::size_t bytes, int device, FakeContext* context = nullptr) {
    if (device >= 0) cuda.memory.push_back({static_cast<const std::byte*>(begin), bytes, device, context});
  }
  /// Returns the error of a run.
  std::string error_of(void* stream, int src_device = 0, int dst_device = 0) {
    try {
      run(stream, src_device, dst_device);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::executor);
      return error.what();
    }
    return "none";
  }

  FakeCuda& cuda = fake_cuda();
  // Kernels are kept for each context, so every test has contexts of its own.
  static inline std::deque<FakeContext> contexts{};
  FakeContext* context_ = &contexts.emplace_back();
  FakeStream stream_{context_};
  Plan plan_ = Unfold{.kernel_size = {2}}.plan({nullptr, {1, 1, 3}, {12, 12, 4}, DType::float32, 4},
                                               {nullptr, {1, 2, 2}, {16, 8, 4}, DType::float32, 4});
  std::array<float, 4> source_{0, 1, 2, 3}, result_{};

 private:
  static inline std::map<int, FakeContext> kept_;
};

TEST_F(DeviceCuda, GivesTheBitsOfTheEngine) {
  constexpr int of_each_operator = 100;
  run_cases(std::max(1, static_cast<int>(of_each_operator * scale_of_run())), [&](const Case& made,
                                                                                  std::vector<std::byte>& destination) {
    cuda.memory.clear();
    own(made.source.data(), made.source.size(), 0);
    own(destination.data(), destination.size(), 0);
    run_on({DeviceKind::cuda, &stream_}, made.plan, {made.source.data(), static_cast<std::int64_t>(made.src.origin)},
           {destination.data(), static_cast<std::int64_t>(made.dst.origin)});
  });
  EXPECT_TRUE(cuda.current.empty());
}

TEST_F(DeviceCuda, RunsInTheContextOfTheStream) {
  FakeContext other;
  cuda.current = {&other};
  run(&stream_);
  EXPECT_EQ(cuda.current, std::vector{&other});
}

TEST_F(DeviceCuda, RunsInTheCurrentContextOnTheDefaultStream) {
  cuda.current = {context_};
  run(nullptr);
  EXPECT_TRUE(cuda.primary.empty());
}

TEST_F(DeviceCuda, RunsInThePrimaryContextWhereNoneOfTheDeviceIsCurrent) {
  run(nullptr, 1, 1);
  EXPECT_EQ(cuda.primary.count(1), 1U);
  EXPECT_TRUE(cuda.current.empty());
  cuda.current = {context_};  // of device 0
  run(reinterpret_cast<void*>(std::uintptr_t{1}), 1, 1);
  EXPECT_EQ(cuda.current, std::vector{context_});
}

TEST_F(DeviceCuda, LoadsAKernelOnceWithoutBreakingACapture) {
  run(&stream_);
  run(&stream_);
  EXPECT_EQ(cuda.loaded.size(), 1U);
  EXPECT_EQ(cuda.capture_mode, 0);
  if (device::cubins().empty()) {
    EXPECT_EQ(cuda.options, (std::vector<std::string>{"--gpu-architecture=sm_90", "--std=c++17", "--fmad=false"}));
    EXPECT_EQ(cuda.compiler, 13);
  }
}

TEST_F(DeviceCuda, CompilesWithTheNvrtcOfTheDriver) {
  if (!device::cubins().empty()) GTEST_SKIP() << "this library holds machine code";
  cuda.version = 12040;
  run(&stream_);
  EXPECT_EQ(cuda.compiler, 12);
}

TEST_F(DeviceCuda, LoadsAKernelAgainInANewContextWithAnOldHandle) {
  run(&stream_);
  *context_ = FakeContext{};
  run(&stream_);
  EXPECT_EQ(cuda.loaded.size(), 2U);
}

TEST_F(DeviceCuda, NamesMemoryOfAnotherContext) {
  FakeContext other;
  own(source_.data(), sizeof source_, 0, &other);
  EXPECT_NE(error_of(&stream_).find("cuda: src must be memory that the stream's context can use; given "
                                    "cuPointerGetAttribute: CUDA_ERROR_INVALID_VALUE"),
            std::string::npos);
  cuda.memory.clear();
  own(result_.data(), sizeof result_, 0, &other);
  EXPECT_NE(error_of(&stream_).find("cuda: dst must be memory that the stream's context can use"), std::string::npos);
  cuda.memory.clear();
  own(result_.data(), sizeof result_, 0, context_);
  run(&stream_);
}

TEST_F(DeviceCuda, NamesMemoryThatIsNotOfTheDevice) {
  EXPECT_NE(error_of(&stream_, 0, -1)
                .find("cuda: dst must be memory of a CUDA device; given cuPointerGetAttribute: "
                      "CUDA_ERROR_INVALID_VALUE"),
            std::string::npos);
  cuda.memory.clear();
  EXPECT_NE(error_of(&stream_, -1, 0).find("cuda: src must be memory of a CUDA device"), std::string::npos);
  cuda.memory.clear();
  EXPECT_NE(error_of(&stream_, 1, 0).find("cuda: src and dst must be memory of the stream's device 0; given device 1"),
            std::string::npos);
  EXPECT_TRUE(cuda.current.empty());
}

TEST_F(DeviceCuda, NamesTheCallThatFails) {
  cuda.launch = [](const std::string&, unsigned, unsigned, void**) { return 2; };
  EXPECT_NE(error_of(&stream_).find("the driver must accept every call; given cuLaunchKernel: CUDA_ERROR_OUT_OF_MEMORY"),
            std::string::npos);
  EXPECT_TRUE(cuda.current.empty());
}

TEST_F(DeviceCuda, SaysWhyThereIsNoKernel) {
  cuda.takes_images = false;
  const std::string refused = error_of(&stream_);
  EXPECT_NE(refused.find("kernels for compute capability 9.0 must be there"), std::string::npos) << refused;
  EXPECT_NE(refused.find("NVRTC: cuModuleLoadData: CUDA_ERROR_INVALID_IMAGE"), std::string::npos) << refused;
  cuda.compiles = false;
  EXPECT_NE(error_of(&stream_).find("NVRTC: error: no such register"), std::string::npos);
  cuda.takes_images = cuda.compiles = true;
  run(&stream_);
}

}  // namespace
}  // namespace patchfold::testing
