// SPDX-License-Identifier: Apache-2.0
// Files that are read or written on several threads at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "cli/interrupt.hpp"

namespace patchfold::cli {

/// Pieces of `bytes` that may be in memory at the same time, one for each of so many threads: at least one, in at most 64
/// MB.
std::int64_t pieces_in_memory(std::int64_t bytes, std::int64_t threads) noexcept;

/// Calls f(index, worker) once for each index in [begin, end), in the order in which they are begun. Each of at most
/// `workers` threads takes the next index when it has done one, and has its own number in [0, workers).
///
/// Once a call has thrown, no other begins, and what the call of the lowest index threw is thrown here. Throws
/// Error(executor) for `op` if a signal comes, or if the threads cannot be had.
void for_each_index(std::string_view op, InterruptGuard& guard, std::int64_t workers, std::int64_t begin, std::int64_t end,
                    const std::function<void(std::int64_t index, std::int64_t worker)>& f);

}  // namespace patchfold::cli
