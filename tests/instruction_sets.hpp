// SPDX-License-Identifier: Apache-2.0
// The instruction sets that tests must run on, as the processor and the compiler report them. Highway is not asked, since a
// set that Highway overlooks must fail the tests.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "patchfold/plan.hpp"

namespace patchfold::testing {

struct KnownSet {
  std::string name;
  bool available = false;  ///< the processor and the system support it
  bool baseline = false;   ///< the compiler may use it everywhere, so no set below it is built
};

/// Returns the sets that Highway can build for this architecture, best first, without SCALAR and SSE2. A set is available if
/// the processor has its flags and the system saves its registers (XGETBV). Flags that every processor with AVX2 has (F16C,
/// LZCNT) are not checked. SVE is never built, since kernels keep vectors in arrays, which SVE does not allow.
inline std::vector<KnownSet> known_sets() {
#if defined(__x86_64__)
  unsigned basic = 0, extended = 0, kept = 0, eax = 0, ebx = 0, ecx = 0, edx = 0;
  __get_cpuid(1, &eax, &ebx, &basic, &edx);
  __get_cpuid_count(7, 0, &eax, &extended, &ecx, &edx);
  if ((basic & bit_OSXSAVE) != 0) __asm__("xgetbv" : "=a"(kept), "=d"(edx) : "c"(0));
  const auto has = [](unsigned flags, unsigned wanted) { return (flags & wanted) == wanted; };
  const bool ssse3 = has(basic, bit_SSSE3);
  const bool sse4 = ssse3 && has(basic, bit_SSE4_1 | bit_SSE4_2 | bit_AES | bit_PCLMUL);
  const bool avx2 = sse4 && has(basic, bit_FMA) && has(extended, bit_AVX2 | bit_BMI | bit_BMI2) && has(kept, 0x6);
  const bool avx3 = avx2 && has(extended, bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW) && has(kept, 0xe6);
  std::vector<KnownSet> sets{{"AVX3", avx3}, {"AVX2", avx2}, {"SSE4", sse4}, {"SSSE3", ssse3}};
#if defined(__SSSE3__)
  sets[3].baseline = true;
#if defined(__SSE4_2__) && defined(__AES__) && defined(__PCLMUL__)
  sets[2].baseline = true;
#if defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__) && defined(__F16C__)
  sets[1].baseline = true;
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
  sets[0].baseline = true;
#endif
#endif
#endif
#endif
  return sets;
#elif defined(__aarch64__) && defined(__linux__)
  return {{"NEON", (getauxval(AT_HWCAP) & 2) != 0, true}};  // HWCAP_ASIMD
#elif defined(__aarch64__)
  return {{"NEON", true, true}};  // every processor that runs macOS has NEON
#else
  return {};
#endif
}

/// Returns whether the build includes this set: the CMake option PATCHFOLD_INSTRUCTION_SETS names it, or it is the baseline.
inline bool is_built(const KnownSet& set) {
  std::istringstream asked(PATCHFOLD_INSTRUCTION_SETS);
  for (std::string name; asked >> name;)
    if (name == set.name) return true;
  return set.baseline;
}

/// Returns the sets that must exist and run, best first. Without a baseline, the last one is SCALAR or SSE2, whichever the
/// build has.
inline std::vector<std::string> required_sets() {
  std::vector<std::string> names;
  for (const KnownSet& set : known_sets()) {
    if (set.available && is_built(set)) names.push_back(set.name);
    if (set.baseline) return names;
  }
  const auto offered = instruction_sets();
  const auto is_last_resort = [](const std::string& name) { return name == "SCALAR" || name == "SSE2"; };
  const auto last = std::find_if(offered.begin(), offered.end(), is_last_resort);
  names.push_back(last == offered.end() ? "SCALAR" : *last);
  return names;
}

/// Returns the required sets, and then all other sets that the library offers.
inline std::vector<std::string> sets_to_run() {
  auto names = required_sets();
  for (const std::string& name : instruction_sets())
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

}  // namespace patchfold::testing
