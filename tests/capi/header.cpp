// SPDX-License-Identifier: Apache-2.0
#include "header.c"  // NOLINT: compiles the same text as C++
