/* SPDX-License-Identifier: Apache-2.0 */
/* All kernels, for one width of Index. */
#include "device/kernels/common.h"
#include "device/kernels/taps.h"
#include "device/kernels/mean.h"
#define PF_MOVE 1
#include "device/kernels/variant.h"
#define PF_MOVE 2
#include "device/kernels/variant.h"
#define PF_MOVE 4
#include "device/kernels/variant.h"
#define PF_MOVE 8
#include "device/kernels/variant.h"
#define PF_MOVE 16
#include "device/kernels/variant.h"
#define PF_BRICK 1
#include "device/kernels/variant.h"
#define PF_BRICK 2
#include "device/kernels/variant.h"
#define PF_BRICK 4
#include "device/kernels/variant.h"
#define PF_BRICK 8
#include "device/kernels/variant.h"
#define PF_BRICK 16
#include "device/kernels/variant.h"
#define PF_SUM 0
#include "device/kernels/variant.h"
#define PF_SUM 5
#include "device/kernels/variant.h"
#define PF_SUM 6
#include "device/kernels/variant.h"
#define PF_SUM 7
#include "device/kernels/variant.h"
#define PF_SUM 8
#include "device/kernels/variant.h"
#define PF_SUM 9
#include "device/kernels/variant.h"
#define PF_SUM 10
#include "device/kernels/variant.h"
#define PF_SUM 11
#include "device/kernels/variant.h"
#define PF_SUM 12
#include "device/kernels/variant.h"
