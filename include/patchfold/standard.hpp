// SPDX-License-Identifier: Apache-2.0
// Reports missing features of the compiler before other errors appear. The other headers include this one, directly or through
// another header, before they use C++20.
#pragma once

#if !defined(__cplusplus)
#error "patchfold's .hpp headers are C++; in C include <patchfold/patchfold.h>"
#elif __cplusplus < 202002L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#error "patchfold's .hpp headers need C++20: add -std=c++20 (/std:c++20). <patchfold/patchfold.h> works in C99 and C++11"
#endif
#ifdef Status  // macro of X11/Xlib.h
#error "patchfold's .hpp headers have a type Status, which is a macro here: add #undef Status, and write int where X11's is meant"
#endif
#if defined(columns) || defined(device_type)  // macros of term.h
#error "columns and device_type are macros here: include patchfold's headers before term.h"
#endif
