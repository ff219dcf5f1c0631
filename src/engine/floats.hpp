// SPDX-License-Identifier: Apache-2.0
// The floating-point environment in which sums run.
#pragma once

#ifdef __SSE2__
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace patchfold::engine {

/// Sets default rounding, denormals on and exceptions masked until the end of the scope, then restores the caller's state,
/// flags included. Sums run under DefaultFloats, so that results do not depend on the caller's settings.
class DefaultFloats {
 public:
#ifdef __SSE2__
  // MXCSR controls vector and scalar operations. fesetenv would also set the control word of the x87, which takes as long as
  // running a small plan.
  DefaultFloats() noexcept : saved_(_mm_getcsr()) {
    _mm_setcsr(0x1f80);
  }
  ~DefaultFloats() {
    _mm_setcsr(saved_);
  }
#else
  DefaultFloats() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() {
    std::fesetenv(&saved_);
  }
#endif
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

 private:
#ifdef __SSE2__
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace patchfold::engine
