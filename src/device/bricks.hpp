// SPDX-License-Identifier: Apache-2.0
// Plans strided copies through shared memory.
#pragma once

#include <optional>

#include "device/launch.hpp"

namespace patchfold::device {

/// Returns the launch of "brick" for a problem without windows whose dims count units; nothing if both sides have the same
/// neighbours, so that "move" is faster.
template <class N>
std::optional<Launch> launch_brick(const engine::Problem& problem, std::int64_t unit, std::uint64_t src, std::uint64_t dst);

}  // namespace patchfold::device
