// SPDX-License-Identifier: Apache-2.0
// Macros that tell which sanitizer this build has.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define PATCHFOLD_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define PATCHFOLD_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PATCHFOLD_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define PATCHFOLD_THREAD_SANITIZER 1
#endif
#endif

#if defined(PATCHFOLD_ADDRESS_SANITIZER) || defined(PATCHFOLD_THREAD_SANITIZER)
#define PATCHFOLD_SANITIZED 1
#endif
