// SPDX-License-Identifier: Apache-2.0
// Runs threads that read or write files at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "cli/interrupt.hpp"

namespace patchfold::cli {

/// Returns the number of pieces of `bytes` bytes that may be in memory at the same time, one for each of `threads` threads: at
/// least one piece, and at most 64 MB together.
std::int64_t pieces_in_memory(std::int64_t bytes, std::int64_t threads) noexcept;

/// Calls f(index, worker) once for each index in [begin, end); calls begin in ascending order. There are at most `workers` threads.
/// A thread that has finished an index takes the next one. Each thread has its own number `worker` in [0, workers).
///
/// After a call has thrown, no other call begins, and for_each_index throws the exception of the lowest index. Throws
/// Error(executor) for `op` after a signal, or if the threads cannot be started.
void for_each_index(std::string_view op, InterruptGuard& guard, std::int64_t workers, std::int64_t begin, std::int64_t end,
                    const std::function<void(std::int64_t index, std::int64_t worker)>& f);

}  // namespace patchfold::cli
