// SPDX-License-Identifier: Apache-2.0
// The functions that Highway's headers expect from Highway's library: the processor's instruction sets, the choice that all kernels
// share, and the failure of a check. With the functions of this file a build needs only Highway's headers (cmake/highway.cmake).
#include "kernels/processor.hpp"

#include <hwy/targets.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tensor/environment.hpp"

#if HWY_ARCH_X86
#include <cpuid.h>
#elif HWY_ARCH_ARM_A64 && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace patchfold::kernels {
namespace {

#if HWY_ARCH_X86

/// Bits of the processor's answers to CPUID, named as in <cpuid.h>, and of the register XCR0, which tells which vector
/// registers the operating system saves.
struct Features {
  std::uint32_t leaf1_ecx = 0;
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint32_t saved = 0;

  bool has(const Features& needed) const noexcept {
    return (leaf1_ecx & needed.leaf1_ecx) == needed.leaf1_ecx && (leaf7_ebx & needed.leaf7_ebx) == needed.leaf7_ebx &&
           (leaf7_ecx & needed.leaf7_ecx) == needed.leaf7_ecx && (saved & needed.saved) == needed.saved;
  }
};

Features features() noexcept {
  Features found;
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) found.leaf1_ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    found.leaf7_ebx = ebx;
    found.leaf7_ecx = ecx;
  }
  if ((found.leaf1_ecx & bit_OSXSAVE) != 0) __asm__("xgetbv" : "=a"(found.saved), "=d"(edx) : "c"(0));
  return found;
}

constexpr std::uint32_t ymm_saved = 0x6, zmm_saved = 0xe6;

/// The features that Highway lets the compiler use in each set. A set also needs the features of all sets above it.
constexpr struct {
  std::int64_t target;
  Features needed;
} sets[] = {
    {HWY_SSSE3, {.leaf1_ecx = bit_SSSE3}},
    {HWY_SSE4, {.leaf1_ecx = bit_SSE4_1 | bit_SSE4_2 | bit_AES | bit_PCLMUL}},
    {HWY_AVX2,
     {.leaf1_ecx = bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C,
      .leaf7_ebx = bit_AVX2 | bit_BMI | bit_BMI2,
      .saved = ymm_saved}},
    {HWY_AVX3, {.leaf7_ebx = bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW | bit_AVX512CD, .saved = zmm_saved}},
    {HWY_AVX3_DL,
     {.leaf7_ecx = bit_AVX512VNNI | bit_VPCLMULQDQ | bit_AVX512VBMI | bit_AVX512VBMI2 | bit_VAES | bit_AVX512VPOPCNTDQ |
                   bit_AVX512BITALG | bit_GFNI}},
};

std::int64_t beyond_static() noexcept {
  const Features found = features();
  std::int64_t supported = 0;
  for (const auto& set : sets) {
    if (!found.has(set.needed)) break;
    supported |= set.target;
  }
  return supported;
}

#elif HWY_ARCH_ARM_A64 && defined(__linux__)

std::int64_t beyond_static() noexcept {
  constexpr unsigned long aes = 1 << 3;  // HWCAP_AES of aarch64
  return (getauxval(AT_HWCAP) & aes) != 0 ? HWY_NEON : 0;
}

#else

std::int64_t beyond_static() noexcept {
  return 0;
}

#endif

/// Returns the sets that are built in and that this processor can run. The result always has the compiler's baseline set and plain
/// loops. Without this rule NEON would be missing on processors without AES: Highway requires AES, but no kernel uses it.
std::int64_t available() noexcept {
  static constinit std::atomic<std::int64_t> known{0};
  if (known.load(std::memory_order_relaxed) == 0)
    known.store((beyond_static() | HWY_STATIC_TARGET | HWY_SCALAR) & HWY_TARGETS, std::memory_order_relaxed);
  return known.load(std::memory_order_relaxed);
}

/// Calls f(set, name) for each set, best first.
template <class F>
void for_each_set(F f) {
  for (std::int64_t left = available(); left != 0; left &= left - 1) f(left & -left, hwy::TargetName(left & -left));
}

/// Returns the instruction set with this name, in upper or lower case; all sets for ""; no set for other names.
std::int64_t named(std::string_view name) noexcept {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  std::int64_t found = 0;
  for_each_set([&](std::int64_t set, std::string_view its_name) {
    if (name.empty() || std::ranges::equal(name, its_name, same)) found |= set;
  });
  return found;
}

constinit EnvironmentVariable wanted("PATCHFOLD_INSTRUCTION_SET");

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for_each_set([&](std::int64_t, const char* name) { names.emplace_back(name); });
  return names;
}

bool use_instruction_set(std::string_view name) {
  const std::int64_t chosen = named(name);
  if (chosen != 0) hwy::GetChosenTarget().Update(chosen);
  return chosen != 0;
}

}  // namespace patchfold::kernels

namespace hwy {

/// Returns the sets from which Highway chooses before the first kernel runs, unless use_instruction_set() has chosen a set.
std::int64_t SupportedTargets() {
  using namespace patchfold::kernels;
  const char* const name = wanted.value();
  const std::int64_t chosen = named(name == nullptr ? "" : name);
  if (chosen != 0) return chosen;
  char known[128];  // not on the heap, since kernels must not allocate memory
  std::size_t end = 0;
  for_each_set([&](std::int64_t, const char* its_name) {
    if (end < sizeof known)
      end += static_cast<std::size_t>(std::snprintf(known + end, sizeof known - end, "%s%s", end == 0 ? "one of " : ", ", its_name));
  });
  wanted.ignore(known);
  return available();
}

ChosenTarget& GetChosenTarget() {
  static constinit ChosenTarget chosen;
  return chosen;
}

/// Ends the program when a check of Highway's headers fails, in builds with asserts or sanitizers.
HWY_NORETURN void Abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  std::va_list values;
  va_start(values, format);
  std::vfprintf(stderr, format, values);
  va_end(values);
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace hwy
