# SPDX-License-Identifier: Apache-2.0
"""Objects that, while they are converted, raise, lie, call themselves, or change the containers that hold them."""

from collections.abc import Callable
from typing import Any

import numpy as np


class Refusal(Exception):
    """The exception that a hostile object raises."""


class Stop(BaseException):
    """An exception like an interrupt, which a hostile object raises: no code may catch it and go on."""


RAISED: list[BaseException] = []
"""The exceptions that hostile objects have raised during the call."""
CHANGES: list[Any] = []
"""The hostile objects that have changed something, or have called themselves, during the call."""
VICTIMS: list[Any] = []
"""The containers and arrays of the call, which hostile objects change."""


def _raise(kind: type[BaseException]) -> Callable[..., Any]:
    def method(*args: Any, **more: Any) -> Any:
        RAISED.append(kind("by a hostile object"))
        raise RAISED[-1]

    return method


def _give(value: Any) -> Callable[..., Any]:
    return lambda *args, **more: value


def _change(value: Any) -> Callable[..., Any]:
    """Returns a method that empties the containers and arrays of the call, and then returns `value`."""

    def method(self: Any, *args: Any, **more: Any) -> Any:
        CHANGES.append(self)
        for victim in VICTIMS:
            if isinstance(victim, (list, dict)):
                victim.clear()
            elif isinstance(victim, np.ndarray):
                try:
                    victim.resize((0,))
                except ValueError:  # another object holds the memory
                    pass
                try:
                    victim.shape = (victim.size,)
                    victim.flags.writeable = False
                except (AttributeError, ValueError):
                    pass
        return value

    return method


def _recurse(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **more: Any) -> Any:
        CHANGES.append(self)
        return getattr(type(self), name)(self, *args, **more)

    return method


def _ending(trick: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a __getitem__ that applies the trick to indices 0 to 2, and raises IndexError for larger ones."""

    def method(self: Any, index: Any, *more: Any) -> Any:
        if isinstance(index, int) and index > 2:
            raise IndexError(index)
        return trick(self, index, *more)

    return method


# NumPy trusts any address in an array interface, so only interfaces without an address are given, which NumPy must refuse.
_INTERFACES: tuple[Any, ...] = ({}, {"version": 3}, {"version": 3, "shape": (2,), "typestr": "x"}, [1, 0], 5)
_VALUES: tuple[Any, ...] = (None, "2", b"2", 2.5, -1, 2**31, 2**63, 2**70, True, (), (1,), (1, 0), (2, 0), ("cpu", 0))
_METHODS: dict[str, Any] = {  # what sound methods return
    "__index__": 2,
    "__int__": 2,
    "__float__": 2.0,
    "__complex__": 2j,
    "__bool__": True,
    "__len__": 2,
    "__getitem__": 1,
    "__iter__": iter((1, 1)),
    "__repr__": "two",
    "__str__": "two",
    "__hash__": 2,
    "__eq__": True,
    "__array__": np.ones((1, 2, 4, 4)),
    "__dlpack__": None,
    "__dlpack_device__": (1, 0),
    "__array_namespace__": None,
    "__call__": None,
    "__fspath__": "/nowhere/else.npy",
    "__reduce__": None,
    "__class__": np.ndarray,
    "__setitem__": None,
}
_ATTRIBUTES = ("shape", "dtype", "ndim", "strides", "__array_interface__", "__array_struct__", "numerator", "__module__")


def _kinds() -> list[type]:
    """Returns a class for each method and trick; the other methods of the class are sound."""
    kinds = []
    for name, sound in _METHODS.items():
        tricks = [_raise(Refusal), _raise(Stop), _raise(AttributeError), _change(sound), _recurse(name)]
        tricks += [_give(value) for value in (*_VALUES, sound)]
        for trick in tricks:
            methods: dict[str, Any] = {name: property(trick) if name == "__class__" else trick}
            if name == "__getitem__":
                methods[name] = _ending(trick)
            if name in ("__getitem__", "__setitem__"):
                methods |= {"__len__": _give(2), "shape": (1, 2, 4, 4), "dtype": np.dtype("f4")}
            if name == "__len__":
                methods["__getitem__"] = _ending(_give(1))
            if name.startswith("__dlpack"):
                methods = {"__dlpack__": _give(None), "__dlpack_device__": _give((1, 0))} | methods
            kinds.append(type("Hostile", (), methods))
    for name in _ATTRIBUTES:
        for trick in (_raise(Refusal), _raise(Stop), _change(()), *map(_give, _VALUES + _INTERFACES)):
            if name != "__module__":
                kinds.append(
                    type("Hostile", (), {name: property(trick), "__getitem__": _ending(_give(1)), "__len__": _give(2)})
                )
    return kinds


KINDS = _kinds()


class Endless:
    """A sequence that never ends, and whose length says 2."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: Any) -> int:
        return 1


class Subclass(np.ndarray):
    """An array that lies about its shape, strides, dtype, ndim and length."""

    shape = property(lambda self: (10**6, 10**6))  # type: ignore[assignment]
    strides = property(lambda self: (2**40,))  # type: ignore[assignment]
    dtype = property(lambda self: np.dtype("f8"))  # type: ignore[assignment]
    ndim = property(lambda self: 9)  # type: ignore[assignment]

    def __array_finalize__(self, other: Any) -> None:
        pass

    def __len__(self) -> int:
        return 10**9


class Loud(np.ndarray):
    """An array that raises on every access."""

    __array_function__ = _raise(Refusal)  # type: ignore[assignment]
    __array_ufunc__ = _raise(Refusal)  # type: ignore[assignment]
    __getitem__ = _raise(Refusal)  # type: ignore[assignment]
    __repr__ = _raise(Refusal)  # type: ignore[assignment]


class Faceless(np.ndarray):
    """An array that raises when it is asked for its class."""

    __class__ = property(_raise(Refusal))  # type: ignore[assignment]


class Capsule:
    """An object that gives a DLPack capsule, fresh or used up, and may claim that its memory is on another device."""

    def __init__(self, array: np.ndarray[Any, Any], device: Any, *, used: bool) -> None:
        self._array, self._device, self._used = array, device, used

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self._array.__dlpack__()
        if self._used:
            np.from_dlpack(_Once(capsule))
        return capsule

    def __dlpack_device__(self) -> Any:
        return self._device


class _Once:
    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)
