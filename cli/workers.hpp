// SPDX-License-Identifier: Apache-2.0
// Runs threads that read or write files at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "cli/interrupt.hpp"

namespace patchfold::cli {

/// Returns the number of pieces of `bytes` bytes that may be in memory at the same time, one for each of `threads` threads:
/// at least one, in at most 64 MB.
std::int64_t pieces_in_memory(std::int64_t bytes, std::int64_t threads) noexcept;

/// Calls f(index, worker) once for each index in [begin, end); calls begin in ascending order. Each of at most `workers`
/// threads takes the next index when it is done with one, and has its own number in [0, workers).
///
/// Once a call has thrown, no other call begins, and the exception of the lowest index is thrown here. Throws
/// Error(executor) for `op` if a signal comes, or if the threads cannot be started.
void for_each_index(std::string_view op, InterruptGuard& guard, std::int64_t workers, std::int64_t begin, std::int64_t end,
                    const std::function<void(std::int64_t index, std::int64_t worker)>& f);

}  // namespace patchfold::cli
