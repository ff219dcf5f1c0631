// SPDX-License-Identifier: Apache-2.0
// The copies of bench/roof.hpp for Python's ctypes, so that a Python program times them in the same rounds as other systems.
#include <cstddef>

#include "bench/roof.hpp"

extern "C" PATCHFOLD_API void patchfold_bench_copy(bool past_cache, const void* from, void* to, std::size_t bytes,
                                                   int threads) {
  const auto copy = past_cache ? patchfold::bench::copy_past_cache : patchfold::bench::copy_by_library;
  copy(static_cast<const std::byte*>(from), static_cast<std::byte*>(to), bytes, threads, patchfold::default_executor());
}
