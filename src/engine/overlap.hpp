// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "engine/problem.hpp"

namespace patchfold::engine {

/// Returns whether an element of the source and an element of the destination of a problem may share memory.
bool overlap(const Problem& problem, const std::byte* src, const std::byte* dst) noexcept;

}  // namespace patchfold::engine
