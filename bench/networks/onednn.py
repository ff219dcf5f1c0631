# SPDX-License-Identifier: Apache-2.0
"""Copies views by oneDNN's reorder, through the C interface of oneDNN 3 in PyPI's package onednn-cpu-gomp."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

CPU, IN_ORDER, FROM, TO, MOST_DIMS = 1, 1, 1, 17, 12
TYPES = {"float16": 1, "float32": 3, "float64": 7}
Dims = ctypes.c_int64 * MOST_DIMS


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int)]


class Argument(ctypes.Structure):
    _fields_ = [("index", ctypes.c_int), ("memory", ctypes.c_void_p)]


class OneDNN:
    """oneDNN's reorder. The environment variable OMP_NUM_THREADS sets the number of its threads."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(str(Path(sys.prefix) / "lib" / "libdnnl.so.3"))
        self._engine = self._made("dnnl_engine_create", ctypes.c_int(CPU), ctypes.c_size_t(0))
        self._stream = self._made("dnnl_stream_create", self._engine, ctypes.c_uint(IN_ORDER))
        self._library.dnnl_version.restype = ctypes.POINTER(Version)
        version = self._library.dnnl_version().contents
        self.version = f"{version.major}.{version.minor}.{version.patch}"

    def _made(self, function: str, *arguments: Any) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        status = getattr(self._library, function)(ctypes.byref(handle), *arguments)
        if status:
            raise RuntimeError(f"{function} returns {status}")
        return handle

    def _memory(self, array: Array) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
        strides = (stride // array.itemsize for stride in array.strides)
        dims = (ctypes.c_int(array.ndim), Dims(*array.shape), ctypes.c_int(TYPES[array.dtype.name]), Dims(*strides))
        layout = self._made("dnnl_memory_desc_create_with_strides", *dims)
        return layout, self._made("dnnl_memory_create", layout, self._engine, ctypes.c_void_p(array.ctypes.data))

    def copy(self, view: Array, out: Array) -> Callable[[], Any]:
        (src, source), (dst, target) = self._memory(view), self._memory(out)
        plan = self._made("dnnl_reorder_primitive_desc_create", src, self._engine, dst, self._engine, None)
        reorder = self._made("dnnl_primitive_create", plan)
        arguments = (Argument * 2)(Argument(FROM, source), Argument(TO, target))
        execute, wait, stream, count = self._library.dnnl_primitive_execute, self._library.dnnl_stream_wait, self._stream, 2

        def run() -> None:
            execute(reorder, stream, count, arguments)
            wait(stream)

        return run
