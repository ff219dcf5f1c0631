// SPDX-License-Identifier: Apache-2.0
// Reads and sets the floating-point control register, for tests whose callers have changed it.
#pragma once

#include <cstdint>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace patchfold::testing {

#if defined(__SSE2__)
inline constexpr std::uint64_t odd_floats = 0x8040;  ///< FTZ and DAZ of MXCSR: subnormal results and operands are zero
inline std::uint64_t float_control() {
  return _mm_getcsr();
}
inline void set_float_control(std::uint64_t control) {
  _mm_setcsr(static_cast<unsigned>(control));
}
#elif defined(__aarch64__)
inline constexpr std::uint64_t odd_floats = 3 << 24;  ///< FZ and DN of FPCR: subnormals are zero, NaNs are the default NaN
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
