/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel in a namespace of its own, for compilers that compile all kernels together. */
#if defined(PF_MOVE)
namespace JOIN(move_, PF_MOVE) {
#include "device/kernels/elements.h"
#include "device/kernels/units.h"
#include "device/kernels/move.h"
}
#undef PF_MOVE
#elif defined(PF_BRICK)
namespace JOIN(brick_, PF_BRICK) {
#include "device/kernels/elements.h"
#include "device/kernels/units.h"
#include "device/kernels/brick.h"
}
#undef PF_BRICK
#else
namespace JOIN(sum_, PF_SUM) {
#include "device/kernels/elements.h"
#include "device/kernels/units.h"
#include "device/kernels/sum.h"
}
#undef PF_SUM
#endif
