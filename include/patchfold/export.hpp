/* SPDX-License-Identifier: Apache-2.0 */
/* The mark of every symbol that the shared library exports. PATCHFOLD_STATIC is defined for users of the static library:
 * then inline code of the C++ headers is as visible as the program's own code. Types cannot be hidden: a visible
 * type of that program with a hidden type as a member would get a warning. */
#ifndef PATCHFOLD_EXPORT_HPP
#define PATCHFOLD_EXPORT_HPP

#if !defined(__cplusplus) && defined(__STRICT_ANSI__) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "patchfold.h needs C99: add -std=c99, or -std=gnu89 at least"
#endif

#if defined(PATCHFOLD_STATIC)
#define PATCHFOLD_API
#elif defined(_WIN32)
#if defined(PATCHFOLD_EXPORTS) /* while the library itself is compiled */
#define PATCHFOLD_API __declspec(dllexport)
#else
#define PATCHFOLD_API __declspec(dllimport)
#endif
#elif !defined(__GNUC__)
#define PATCHFOLD_API
#else
#define PATCHFOLD_API __attribute__((visibility("default")))
#endif

#endif
