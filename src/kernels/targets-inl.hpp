// SPDX-License-Identifier: Apache-2.0
// Returns the instruction set for which a file of kernels was compiled. This file is included once for each instruction set.
#include <hwy/highway.h>

#if defined(PATCHFOLD_KERNELS_TARGETS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PATCHFOLD_KERNELS_TARGETS_INL
#undef PATCHFOLD_KERNELS_TARGETS_INL
#else
#define PATCHFOLD_KERNELS_TARGETS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace patchfold::kernels::HWY_NAMESPACE {

inline const char* target() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace patchfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
