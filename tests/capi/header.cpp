// SPDX-License-Identifier: Apache-2.0
#include "header.c"  // NOLINT: the same text in both languages
