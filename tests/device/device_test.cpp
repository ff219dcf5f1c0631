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

/// Runs a problem on the host, with 64-bit indices.
void run_wide(const Case& made, std::vector<std::byte>& destination) {
  const auto& compiled = made.plan.compiled();
  if (!compiled || compiled->rows() == 0) return;
  const std::byte* const src = made.source.data() + made.src.origin;
  std::byte* const dst = destination.data() + made.dst.origin;
  const auto address = [](const std::byte* at) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(at)); };
  device::run_on_host(device::launch_of(compiled->problem(), address(src), address(dst), true), src, dst);
}

TEST(DeviceKernels, GiveTheSameBitsWithWideIndices) {
  run_cases(std::max(1, cases() / 4), run_wide);
}

TEST(DeviceKernels, GiveTheSameBitsWithEveryTuning) {
  const device::Tuning before = device::tuning;
  const device::Tuning others[] = {{.threads_of_copies = 64,
                                    .threads_of_sums = 32,
                                    .side_bytes = 16,
                                    .brick_bytes = 256,
                                    .read_bytes = 4,
                                    .write_bytes = {1, 2, 4, 8, 16}},
                                   {.threads_of_copies = 32,
                                    .threads_of_sums = 256,
                                    .side_bytes = 512,
                                    .brick_bytes = 9000,
                                    .write_bytes = {16, 16, 8, 8, 16}}};
  for (const device::Tuning& other : others) {
    device::tuning = other;
    run_cases(std::max(1, cases() / 8), [](const Case& made, std::vector<std::byte>& destination) {
      run_on({}, made.plan, {made.source.data(), static_cast<std::int64_t>(made.src.origin)},
             {destination.data(), static_cast<std::int64_t>(made.dst.origin)});
    });
  }
  device::tuning = before;
}

}  // namespace
}  // namespace patchfold::testing
