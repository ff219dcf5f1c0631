// SPDX-License-Identifier: Apache-2.0
// The roof: the time of the best plain streaming loop that reads and writes as many bytes as a problem, on as many threads. The
// time of an operator in multiples of the roof shows how much faster the operator could become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "patchfold/plan.hpp"

namespace patchfold::bench {

/// A way to stream. Both ranges are cut into `streams` parts that advance together, `step` bytes of the larger range at a time, so
/// that reads and writes are interleaved in proportion. Loads are summed into a register.
struct Streaming {
  bool past_cache = false;   ///< non-temporal stores
  int streams = 1;           ///< the number of parts that are read and written at the same time
  std::size_t step = 1024;   ///< bytes
  std::size_t prefetch = 0;  ///< bytes ahead of the loads; 0: no prefetching by the program
};

/// Returns the ways to stream that are tried for the roof.
std::vector<Streaming> streamings(std::size_t read_bytes);
std::string describe(const Streaming& way);

/// Reads and writes each byte once on `threads` threads of the executor. Buffers are aligned to 64 bytes.
void stream(const Streaming& way, const std::byte* read, std::size_t read_bytes, std::byte* written, std::size_t write_bytes,
            int threads, Executor& executor);

/// Copies with non-temporal stores.
void copy_past_cache(const std::byte* from, std::byte* to, std::size_t bytes, int threads, Executor& executor);
/// Copies with the C library's memcpy, one part on each thread.
void copy_by_library(const std::byte* from, std::byte* to, std::size_t bytes, int threads, Executor& executor);

}  // namespace patchfold::bench
