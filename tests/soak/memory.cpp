// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "sanitizers.hpp"

namespace patchfold::testing {
namespace {

#ifdef PATCHFOLD_SANITIZED
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

constexpr std::int64_t most_allocated = 256 << 10;
constexpr std::int64_t most_resident = 8 << 20;

std::int64_t median(const std::vector<Held>& samples, std::size_t fifth, std::int64_t Held::*member) {
  std::vector<std::int64_t> values;
  for (std::size_t i = samples.size() * fifth / 5; i < samples.size() * (fifth + 1) / 5; ++i)
    values.push_back(samples[i].*member);
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Held medians(const std::vector<Held>& samples, std::size_t fifth) {
  return {median(samples, fifth, &Held::resident), median(samples, fifth, &Held::allocated)};
}

}  // namespace

bool judges_memory() {
  return !is_sanitized;
}

#ifdef __GLIBC__
void keep_no_free_memory() {
  constexpr int bytes = 256 << 10, arenas = 4;
  ::mallopt(M_MMAP_THRESHOLD, bytes);
  ::mallopt(M_TRIM_THRESHOLD, bytes);
  ::mallopt(M_ARENA_MAX, arenas);
}
#else
// Other C libraries neither accept such bounds nor report allocated bytes, so only resident bytes are judged.
void keep_no_free_memory() {}
#endif

Held held_now() {
  Held held;
#ifdef __GLIBC__
  ::malloc_trim(0);
  const auto heap = ::mallinfo2();
  held.allocated = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
#endif
  std::int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  held.resident = resident * ::sysconf(_SC_PAGESIZE);
  return held;
}

std::int64_t peak_resident() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

Growth growth_of(const std::vector<Held>& samples) {
  Growth growth;
  if (samples.size() < fewest_samples) return growth;
  growth.early = medians(samples, 1);
  growth.late = medians(samples, 4);
  growth.is_judged = judges_memory();
  growth.is_too_much = growth.late.allocated > growth.early.allocated + most_allocated ||
                       growth.late.resident > growth.early.resident + growth.early.resident / 10 + most_resident;
  growth.is_too_much = growth.is_too_much && growth.is_judged;
  return growth;
}

}  // namespace patchfold::testing
