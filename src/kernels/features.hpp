// SPDX-License-Identifier: Apache-2.0
// Lists which instruction sets have which fast paths; no other place says so.
//
// Highway compiles a kernel once for each of its targets and numbers them; on x86 a lower number is a newer set, which has
// all that those with higher numbers have. So what holds for AVX3 holds for AVX3_DL and for every set that Highway adds
// later. A kernel that compared HWY_TARGET with the sets of today would lose its fast path on those of tomorrow, and no
// result would show it; tests/unit/kernel_features_test.cpp guards that none does.
#pragma once

#include <hwy/detect_targets.h>

#include <cstdint>

namespace patchfold::kernels {

/// Returns whether there are masked loads and stores that cost no more than whole ones, and one instruction that picks lanes
/// from two vectors.
constexpr bool has_avx512(std::int64_t target) noexcept {
  return target <= HWY_AVX3;  // targets of other architectures have higher numbers
}

/// Conversions between float16 and float32 that are exact, or round to nearest even whatever the environment says.
constexpr bool has_float16_conversions(std::int64_t target) noexcept {
  return target <= HWY_AVX2;
}

/// Vectors that registers hold.
constexpr int vector_registers(std::int64_t target) noexcept {
  return has_avx512(target) || !HWY_ARCH_X86 ? 32 : 16;
}

}  // namespace patchfold::kernels
