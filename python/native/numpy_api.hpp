// SPDX-License-Identifier: Apache-2.0
// The C interface of NumPy, which module.cpp imports for all files, and the interface of nanobind.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL patchfold_numpy_api
#ifndef PATCHFOLD_IMPORT_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
