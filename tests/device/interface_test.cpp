// SPDX-License-Identifier: Apache-2.0
// The C interface, and the errors of runs that cannot begin.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "patchfold/device.h"
#include "system/library.hpp"

namespace {

/// A plan that unfolds 1 x 1 x 3 floats to columns of two taps.
class DeviceInterface : public ::testing::Test {
 protected:
  void SetUp() override {
    static constexpr std::array<std::int64_t, 3> image{1, 1, 3}, columns{1, 2, 2};
    static constexpr std::array<std::int64_t, 1> kernel{2};
    const pf_tensor in{nullptr, image.data(), nullptr, 3, PF_DTYPE_FLOAT32, 0};
    const pf_tensor out{nullptr, columns.data(), nullptr, 3, PF_DTYPE_FLOAT32, 0};
    const pf_attribute size = pf_integers("kernel_size", kernel.data(), 1);
    ASSERT_EQ(pf_plan_create("unfold", &size, 1, &in, 1, &out, &plan_), PF_OK) << pf_last_error();
  }
  void TearDown() override { pf_plan_destroy(plan_); }

  pf_status run(pf_device_kind kind, const void* src, void* dst) {
    return pf_plan_run_on(plan_, kind, nullptr, src, sizeof(float), dst, 0);
  }

  pf_plan* plan_ = nullptr;
  std::array<float, 4> source_{0, 1, 2, 3}, result_{};
};

TEST_F(DeviceInterface, RunsAPlanFromTheElementAtAnOffset) {
  ASSERT_EQ(run(PF_DEVICE_HOST, source_.data(), result_.data()), PF_OK) << pf_last_error();
  EXPECT_EQ(result_, (std::array<float, 4>{1, 2, 2, 3}));
}

TEST_F(DeviceInterface, RefusesWhatItCannotRun) {
  EXPECT_EQ(run(7, source_.data(), result_.data()), PF_ERROR_VALUE);
  EXPECT_STREQ(pf_last_error_part(PF_PART_ARGUMENT), "kind");
  EXPECT_EQ(run(PF_DEVICE_HOST, nullptr, result_.data()), PF_ERROR_NULL_DATA);
  EXPECT_EQ(run(PF_DEVICE_HOST, source_.data(), nullptr), PF_ERROR_NULL_DATA);
  EXPECT_EQ(run(PF_DEVICE_HOST, source_.data(), source_.data()), PF_ERROR_OVERLAP);
  EXPECT_EQ(pf_plan_run_on(nullptr, PF_DEVICE_HOST, nullptr, nullptr, 0, nullptr, 0), PF_ERROR_MISSING);
}

TEST_F(DeviceInterface, NamesTheDriverThatIsMissing) {
  std::string why;
  if (patchfold::system::load_library("libcuda.so.1", why) != nullptr) GTEST_SKIP() << "this machine has CUDA's driver";
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(run(PF_DEVICE_CUDA, source_.data(), result_.data()), PF_ERROR_EXECUTOR);
    const std::string message = pf_last_error();
    for (const char* const part : {"cuda: the driver of CUDA must be installed", "libcuda.so.1", "nvcuda.dll"})
      EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

}  // namespace
