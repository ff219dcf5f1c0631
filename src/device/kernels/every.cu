// SPDX-License-Identifier: Apache-2.0
// All kernels, for nvcc.
#define PF_BOTH
#include "device/kernels/front.h"
#include "kernels/half.h"
namespace narrow {
typedef int Index, Stride;
#include "device/kernels/params.h"
#include "device/kernels/every.h"
}  // namespace narrow
#undef NAME
#define NAME(name) JOIN(name, _64)
#define PF_WIDE
namespace wide {
typedef i64 Index, Stride;
#include "device/kernels/params.h"
#include "device/kernels/every.h"
}  // namespace wide
