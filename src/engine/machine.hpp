// SPDX-License-Identifier: Apache-2.0
// What plans ask of the machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/problem.hpp"
#include "kernels/stream.hpp"

namespace patchfold::engine {

/// Bytes of the caches that one thread sees.
struct Caches {
  std::int64_t l1 = 0;
  std::int64_t l2 = 0;
  std::int64_t l3 = 0;
};

/// Asked of the system once; common sizes where it does not say.
const Caches& caches() noexcept;

/// Bytes that a stage should take: it is read many times while outputs stream past it.
std::int64_t stage_bytes() noexcept;

/// Whether the destination of such a problem is better written past the cache.
kernels::Store store_of(const Problem& problem) noexcept;

/// "plain" or "past the cache".
std::string_view name_of(kernels::Store store) noexcept;

}  // namespace patchfold::engine
