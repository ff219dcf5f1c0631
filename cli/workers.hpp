// SPDX-License-Identifier: Apache-2.0
// Threads that read or write files at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "cli/interrupt.hpp"

namespace patchfold::cli {

/// Returns how many pieces of `bytes` bytes may be in memory at the same time: one for each thread, but at most 64 MB in all, and
/// at least one piece.
std::int64_t pieces_in_memory(std::int64_t bytes, std::int64_t threads) noexcept;

/// Calls f(index, worker) once for each index in [begin, end); calls begin in ascending order of the index. At most `workers`
/// threads run; a thread that is done takes the next index. `worker`, from 0 to workers - 1, is the number of the thread.
///
/// After a call has thrown, no other call begins, and for_each_index throws the exception of the lowest index. Throws
/// Error(executor), with `op`, after a signal, or if threads cannot be started.
void for_each_index(std::string_view op, InterruptGuard& guard, std::int64_t workers, std::int64_t begin, std::int64_t end,
                    const std::function<void(std::int64_t index, std::int64_t worker)>& f);

}  // namespace patchfold::cli
