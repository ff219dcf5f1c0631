// SPDX-License-Identifier: Apache-2.0
// The cache sizes of the machine, and the choices that depend on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/problem.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {

/// The sizes in bytes of the data caches of each level that one thread sees.
struct Caches {
  std::int64_t l1 = 0;
  std::int64_t l2 = 0;
  std::int64_t l3 = 0;
};

/// Returns the sizes that the system reported at the first call, or common sizes if it reports none. The environment variable
/// PATCHFOLD_CACHES=L1,L2,L3 replaces the sizes, in bytes, so that the choices for another machine can be tested on this one.
const Caches& caches() noexcept;

/// Returns the best size in bytes of a stage: scratch memory that is read many times while outputs stream past it.
std::int64_t stage_bytes() noexcept;

/// Returns the way to write the destination of work that reads and writes these numbers of bytes. Returns Store::past_cache
/// if writing through the cache would evict data that the caller needs next. A test may force the returned value.
kernels::Store store_of(double read, double written) noexcept;
/// Returns the way to write the destination of a problem, which reads and writes the ranges of its tensors.
kernels::Store store_of(const Problem& problem) noexcept;
/// Makes store_of() return `store` from now on, or, for nullopt, the computed value again. For tests. No other thread may
/// plan during this call.
void force_store(std::optional<kernels::Store> store) noexcept;

/// Returns "plain" or "past the cache".
std::string_view name_of(kernels::Store store) noexcept;

}  // namespace patchfold::engine
