// SPDX-License-Identifier: Apache-2.0
// The memory and handles of the process, and checks that they do not grow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace patchfold::testing {

struct Held {
  std::int64_t resident = 0;   ///< bytes, after free memory went back to the system
  std::int64_t allocated = 0;  ///< bytes that nobody has freed
};

/// Has free memory go back to the system: the C library otherwise raises its own bounds up to 64 MiB for each of its arenas,
/// and what they hold is no growth. Call it first of all.
void keep_no_free_memory();
/// What is held now; most meaningful while no other thread runs.
Held held_now();
/// The most that was ever resident.
std::int64_t peak_resident();

/// Growth is judged between medians: that of the second fifth of the samples, by when caches are full, and that of the
/// last. Allocated bytes may grow by 256 KiB, resident ones by 8 MiB and a tenth.
struct Growth {
  Held early{}, late{};
  bool is_judged = false;  ///< there were enough samples, and judges_memory()
  bool is_too_much = false;
};
Growth growth_of(const std::vector<Held>& samples);
/// Below this many samples nothing is judged.
inline constexpr std::size_t fewest_samples = 15;
/// False under a sanitizer that keeps memory.
bool judges_memory();

}  // namespace patchfold::testing
