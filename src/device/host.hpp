// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "device/launch.hpp"

namespace patchfold::device {

/// Runs a launch in memory of the host, on the calling thread. Serves tests: the kernels are made for devices.
void run_on_host(const Launch& launch, const std::byte* src, std::byte* dst) noexcept;

}  // namespace patchfold::device
