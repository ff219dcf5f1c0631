// SPDX-License-Identifier: Apache-2.0
// The roof: the time of the best plain streaming loop that moves as many bytes as a problem, on as many threads. An operator's time
// in multiples of the roof shows how much faster it could become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "patchfold/plan.hpp"

namespace patchfold::bench {

/// A way to stream. The range that is read and the range that is written are each cut into `streams` parts. All parts advance
/// together: each by `step` bytes in the larger range, and in proportion in the smaller one. Loads are summed into a register.
struct Streaming {
  bool past_cache = false;   ///< non-temporal stores
  int streams = 1;           ///< the number of parts that are read and written at the same time
  std::size_t step = 1024;   ///< bytes of the larger range by which each part advances at a time
  std::size_t prefetch = 0;  ///< how many bytes ahead of its loads the program prefetches; 0: not at all
};

/// Returns the ways of streaming among which the fastest is the roof.
std::vector<Streaming> streamings(std::size_t read_bytes);
std::string describe(const Streaming& way);

/// Reads every byte of one buffer and writes every byte of the other, on `threads` threads of the executor. Buffers are aligned to
/// 64 bytes.
void stream(const Streaming& way, const std::byte* read, std::size_t read_bytes, std::byte* written, std::size_t write_bytes,
            int threads, Executor& executor);

/// Copies with non-temporal stores, one part on each thread.
void copy_past_cache(const std::byte* from, std::byte* to, std::size_t bytes, int threads, Executor& executor);
/// Copies with the C library's memcpy, one part on each thread.
void copy_by_library(const std::byte* from, std::byte* to, std::size_t bytes, int threads, Executor& executor);

}  // namespace patchfold::bench
