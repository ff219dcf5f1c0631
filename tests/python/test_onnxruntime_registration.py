# SPDX-License-Identifier: Apache-2.0
"""Tests the library for ONNX Runtime with a stand-in for the runtime that loads it."""

import ctypes
from typing import Any

import patchfold.onnxruntime

# Keeps the stand-ins in memory until the process ends.
ALIVE: list[Any] = []


class Runtime:
    """A stand-in for ONNX Runtime that counts the library's calls, and fails in a given call."""

    def __init__(self, first: int, version: int = 17):
        self.next, self.version = first, version
        self.domains: dict[int, int] = {}
        self.added: list[int] = []
        self.released: list[int] = []
        self.said = ""
        self.fails_at: int | None = None
        pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
        functions: dict[int, Any] = {
            0: ctypes.CFUNCTYPE(pointer, number, text)(self.status),
            26: ctypes.CFUNCTYPE(pointer, text, ctypes.POINTER(pointer))(self.create),
            27: ctypes.CFUNCTYPE(pointer, pointer, pointer)(self.add),
            28: ctypes.CFUNCTYPE(pointer, pointer, pointer)(lambda _, domain: self.added.append(domain)),
            101: ctypes.CFUNCTYPE(None, pointer)(self.released.append),
        }
        self.table = (pointer * 512)()
        for place, function in functions.items():
            self.table[place] = ctypes.cast(function, pointer)
        api = ctypes.CFUNCTYPE(pointer, ctypes.c_uint32)(
            lambda asked: ctypes.addressof(self.table) if asked <= self.version else None
        )
        name = ctypes.create_string_buffer(f"1.{version}.0".encode())
        words = ctypes.CFUNCTYPE(pointer)(lambda: ctypes.addressof(name))
        self.base = (pointer * 2)(ctypes.cast(api, pointer), ctypes.cast(words, pointer))
        ALIVE.append((self, functions, api, words, name))

    def status(self, _: int, message: bytes) -> int:
        self.said = message.decode()
        return 1

    def create(self, name: bytes, domain: Any) -> None:
        assert name == b"patchfold"
        self.next += 1
        self.domains[self.next] = 0
        domain[0] = self.next

    def add(self, domain: int, _: int) -> int | None:
        if self.domains[domain] == self.fails_at:
            return 2
        self.domains[domain] += 1
        return None

    def register(self) -> Any:
        library = ctypes.CDLL(patchfold.onnxruntime.library())
        library.RegisterCustomOps.restype = ctypes.c_void_p
        library.RegisterCustomOps.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        return library.RegisterCustomOps(None, ctypes.addressof(self.base))


def test_each_onnxruntime_of_a_process_has_operators_of_its_own() -> None:
    one, other = Runtime(100), Runtime(200)
    for runtime in (one, other, one, other):
        assert runtime.register() is None
    assert one.domains == {101: 7} and one.added == [101, 101]
    assert other.domains == {201: 7} and other.added == [201, 201]


def test_a_registration_that_failed_can_be_made_again() -> None:
    runtime = Runtime(300)
    runtime.fails_at = 3
    assert runtime.register() == 2 and runtime.released == [301] and runtime.added == []
    runtime.fails_at = None
    assert runtime.register() is None and runtime.domains == {301: 3, 302: 7} and runtime.added == [302]


def test_an_older_onnxruntime_is_told() -> None:
    old = Runtime(400, version=16)
    assert old.register() == 1 and old.said == "patchfold: needs ONNX Runtime 1.17 or newer; this is 1.16.0"
