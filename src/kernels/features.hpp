// SPDX-License-Identifier: Apache-2.0
// The only list of the fast paths of each instruction set.
//
// Highway compiles a kernel once for each numbered target. On x86 a target with a lower number is a newer instruction set, which
// has all features of sets with higher numbers. So a fact about AVX3 is true for AVX3_DL and for every later set. A kernel that
// compared HWY_TARGET with today's sets would silently lose its fast path on later sets; tests/unit/kernels_test.cpp checks
// that no kernel compares so.
#pragma once

#include <hwy/detect_targets.h>

#include <cstdint>

namespace patchfold::kernels {

/// Returns whether masked loads and stores cost no more than whole ones, and one instruction picks lanes from two vectors.
constexpr bool has_avx512(std::int64_t target) noexcept {
  return target <= HWY_AVX3;  // targets of other architectures have higher numbers
}

/// Returns whether there are conversions between float16 and float32 that are exact, or always round to nearest even.
constexpr bool has_float16_conversions(std::int64_t target) noexcept {
  return target <= HWY_AVX2;
}

/// Returns the number of vector registers.
constexpr int vector_registers(std::int64_t target) noexcept {
  return has_avx512(target) || !HWY_ARCH_X86 ? 32 : 16;
}

}  // namespace patchfold::kernels
