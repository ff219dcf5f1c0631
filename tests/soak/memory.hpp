// SPDX-License-Identifier: Apache-2.0
// The memory of the process, and a check that it does not grow.
#pragma once

#include <cstdint>
#include <vector>

namespace patchfold::testing {

struct Held {
  std::int64_t resident = 0;   ///< bytes, after free memory went back to the system
  std::int64_t allocated = 0;  ///< allocated bytes that are not freed
};

/// Makes the C library return free memory to the system. Without this call the C library keeps up to 64 MiB for each arena, which
/// would look like growth. Call this function first.
void keep_no_free_memory();
/// Returns the memory in use; call it while no other thread runs.
Held held_now();
/// Returns the largest resident memory so far.
std::int64_t peak_resident();

/// The growth between two medians: of the second fifth of the samples, when caches are full, and of the last fifth. Allocated bytes
/// may grow by 256 KiB, resident bytes by 8 MiB and a tenth.
struct Growth {
  Held early{}, late{};
  bool is_judged = false;  ///< there were enough samples, and judges_memory()
  bool is_too_much = false;
};
Growth growth_of(const std::vector<Held>& samples);
/// The least number of samples for a judgement.
inline constexpr std::size_t fewest_samples = 15;
/// Returns false under a sanitizer that keeps memory.
bool judges_memory();

}  // namespace patchfold::testing
