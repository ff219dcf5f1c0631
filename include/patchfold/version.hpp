// SPDX-License-Identifier: Apache-2.0
#pragma once

#define PATCHFOLD_VERSION_MAJOR 0
#define PATCHFOLD_VERSION_MINOR 1
#define PATCHFOLD_VERSION_PATCH 0
#define PATCHFOLD_VERSION_STRING "0.1.0"

// 1 for each optional part that the library holds; the installed header has 0 for a part that its build leaves out.
#define PATCHFOLD_WITH_EXPLAIN 1
#define PATCHFOLD_WITH_TILING 1
