/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles if the headers stand alone, in C and in C++. */
#include "patchfold/patchfold.h"
#ifdef WITH_DLPACK
#include "patchfold/dlpack.h"
#endif

int compiled_against(void);
int compiled_against(void) {
  return PF_VERSION;
}
