// SPDX-License-Identifier: Apache-2.0
// The floating-point control register, for tests of callers with unusual settings.
#pragma once

#include <cstdint>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace patchfold::testing {

#if defined(__SSE2__)
inline constexpr std::uint64_t odd_floats = 0x8040;  ///< results and operands below the normal numbers are zero
inline std::uint64_t float_control() {
  return _mm_getcsr();
}
inline void set_float_control(std::uint64_t control) {
  _mm_setcsr(static_cast<unsigned>(control));
}
#elif defined(__aarch64__)
inline constexpr std::uint64_t odd_floats = 3 << 24;  ///< subnormal results and operands are zero; NaN is the default one
inline std::uint64_t float_control() {
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
inline void set_float_control(std::uint64_t control) {
  asm volatile("msr fpcr, %0" : : "r"(control));
}
#else
inline constexpr std::uint64_t odd_floats = 0;
inline std::uint64_t float_control() {
  return 0;
}
inline void set_float_control(std::uint64_t) {}
#endif

}  // namespace patchfold::testing
