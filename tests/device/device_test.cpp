// SPDX-License-Identifier: Apache-2.0
// The kernels for devices, run on the host.
//   PATCHFOLD_SEED    another seed           PATCHFOLD_CASES   a factor of the number of cases
#include "patchfold/device.hpp"

#include <gtest/gtest.h>

#include "device/host.hpp"
#include "engine/compiled.hpp"
#include "problems.hpp"

namespace patchfold::testing {
namespace {

int cases() {
  constexpr int of_each_operator = 160;
  return std::max(1, static_cast<int>(of_each_operator * scale_of_run()));
}

TEST(DeviceKernels, GiveTheBitsOfTheEngine) {
  run_cases(cases(), [](const Case& made, std::vector<std::byte>& destination) {
    run_on({DeviceKind::host, nullptr}, made.plan, {made.source.data(), static_cast<std::int64_t>(made.src.origin)},
           {destination.data(), static_cast<std::int64_t>(made.dst.origin)});
  });
}

}  // namespace
}  // namespace patchfold::testing
