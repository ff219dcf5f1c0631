// SPDX-License-Identifier: Apache-2.0
// The mark of every symbol that the shared library exports.
#pragma once

#if defined(__GNUC__)
#define PATCHFOLD_API __attribute__((visibility("default")))
#else
#define PATCHFOLD_API
#endif
