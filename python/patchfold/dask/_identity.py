# SPDX-License-Identifier: Apache-2.0
"""What a function is, so that a later run in another process can tell whether it is given the same function.

A function is its code and all that the code uses, followed to the end: defaults, variables of enclosing functions, globals,
arguments of partial, objects of bound methods, classes, and the state of objects. Code of installed libraries is named by
the library and its version. Comments, docstrings, line numbers and the names of files and modules are no part of a function.
"""

from __future__ import annotations

import contextvars
import copyreg
import dis
import enum
import functools
import hashlib
import importlib.util
import json
import os
import pickle
import sys
import threading
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from typing import Any, TypeAlias

import numpy as np

from .._arrays.devices import to_processor
from .._arrays.kinds import is_torch
from .._errors import InvalidValue, type_name
from ._chunks import NAME
from ._job import bits_of

Parts: TypeAlias = "str | dict[str, Parts]"
"""A text that differs if the value differs, or the parts of a value by name."""

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, type(Ellipsis), type(NotImplemented))
_STATELESS = (
    *map(type, (threading.Lock(), threading.RLock())),
    *(threading.local, contextvars.ContextVar, weakref.ReferenceType),
    *(weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet),
)
"""Types of objects that belong to one process, such as locks and caches, whose state is no part of a function."""
_METHODS = (types.FunctionType, staticmethod, classmethod, property)
_TOLD = ("__doc__", "__firstlineno__", "__static_attributes__")
"""The names that the compiler sets in a class or module to describe it."""
_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = {"site-packages", "dist-packages"}
_OURS = __name__.partition(".")[0]


def identity_of(fn: Any, *, required: bool) -> dict[str, str]:
    """Returns the parts of a function, each with a text that differs if the part does: {"fn > global scale": "2", ..}.

    Errors: InvalidValue for a function with a part that cannot be read. Unless the identity is required, such a function
    gets an identity that no other function has.
    """
    found = {"Python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    try:
        _flatten(found, "fn", _Walk().at(fn, "fn"))
    except InvalidValue:
        if required:
            raise
        return {"fn": os.urandom(16).hex()}
    return found


def _flatten(found: dict[str, str], path: str, parts: Parts) -> None:
    if isinstance(parts, str):
        found[path] = parts
        return
    for name, part in parts.items():
        _flatten(found, f"{path} > {name}", part)


class _Walk:
    """A walk through all parts of a function. The walk holds, by id, the paths of the values that lead to the current value,
    and of all functions and classes so far. A value that comes again is named by its path, so that recursive functions and
    cycles end.
    """

    def __init__(self) -> None:
        self._paths: dict[int, str] = {}
        self._kept: list[Any] = []  # an id is unique only as long as its object lives
        self._modules: dict[str, Any] = {}

    def at(self, value: Any, path: str) -> Parts:
        if type(value) in _PLAIN:
            return _short(repr(value))
        if id(value) in self._paths:
            return f"as {self._paths[id(value)]}"
        self._paths[id(value)] = path
        try:
            return self._parts(value, path)
        except InvalidValue:
            raise
        except Exception as error:
            rule = "must consist of parts that a later run can compare, or have a version"
            given = f"{path[:200]}: {type_name(value)}: {error}"
            expected = "version='name and version of the model', or patchfold.dask.once(load, path)"
            raise InvalidValue(NAME, "fn", rule, given, expected) from None
        finally:
            if isinstance(value, (types.FunctionType, type)):
                self._kept.append(value)
            else:
                del self._paths[id(value)]

    def _parts(self, value: Any, path: str) -> Parts:
        kind = type(value)
        if kind is types.FunctionType:
            return self._named(_function_parts(value, self._modules), path)
        if isinstance(value, type):
            return self._named(_class_parts(value), path)
        if kind in (tuple, list):
            return _joined(kind, (self._text(each, path) for each in value))
        if kind is dict:
            return _joined(kind, (f"{self._text(key, path)}: {self._text(each, path)}" for key, each in value.items()))
        if kind in (set, frozenset):  # in another order in each process
            return _joined(kind, sorted(_Walk()._text(each, path) for each in value))
        if kind is types.CodeType:
            return self._code(value, path)
        if kind in (np.ndarray, np.memmap) or is_torch(value):
            return self._array(value, path)
        if isinstance(value, types.ModuleType):
            return "module" if _is_own(value.__name__) else _in_library(value.__name__)
        if isinstance(value, _STATELESS):
            return kind.__name__
        if hasattr(kind, "__dask_tokenize__"):
            return self._text(value.__dask_tokenize__(), path)
        return self._named(_object_parts(value), path)

    def _named(self, parts: Parts | dict[str, Any], path: str) -> Parts:
        if isinstance(parts, str):
            return parts
        return {name: self.at(part, f"{path} > {name}") for name, part in parts.items()}

    def _text(self, value: Any, path: str) -> str:
        parts = self.at(value, path)
        return parts if isinstance(parts, str) else _short(json.dumps(parts))

    def _array(self, value: Any, path: str) -> str:
        if isinstance(value, np.ndarray) and value.dtype.hasobject:
            elements = self._text(value.tolist(), path)
        else:
            elements = hashlib.sha256(bits_of(to_processor(value, NAME, "fn"))).hexdigest()[:32]
        return f"{value.dtype} {tuple(value.shape)} {elements}"

    def _code(self, code: types.CodeType, path: str) -> str:
        """Returns a text for code. Constants are read where instructions use them, which leaves out docstrings."""
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        text = [repr((names, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & 12))]
        text.append(repr(getattr(code, "co_exceptiontable", b"")))
        steps = list(dis.get_instructions(code))
        for step, after in zip(steps, [*steps[1:], None], strict=True):
            if after is not None and after.opname == "STORE_NAME" and after.argval in _TOLD:
                continue
            uses = step.opcode in dis.hasconst
            text.append(f"{step.opname} {self._text(step.argval, path) if uses else step.argrepr or step.arg}")
        return _short("\n".join(text))


def _short(text: str) -> str:
    return text if len(text) <= 60 else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _joined(kind: type, texts: Iterable[str]) -> str:
    return _short(f"{kind.__name__}({', '.join(texts)})")


def _function_parts(fn: types.FunctionType, modules: dict[str, Any]) -> str | dict[str, Any]:
    code, scope, closed = fn.__code__, fn.__globals__, _closure(fn)
    if not _is_own(str(scope.get("__name__")), code.co_filename):
        name = _in_library(str(scope.get("__name__")), code.co_name)
        return {"library": name, **closed} if closed else name  # a decorator's function closes over the user's function
    names, values = code.co_varnames[: code.co_argcount], fn.__defaults__ or ()
    return {
        "code": code,
        **{f"default {name}": value for name, value in zip(names[len(names) - len(values) :], values, strict=True)},
        **{f"default {name}": value for name, value in (fn.__kwdefaults__ or {}).items()},
        **closed,
        **{f"attribute {name}": value for name, value in vars(fn).items() if name != "__wrapped__"},
        **{f"global {name}": value for name, value in sorted(_used(code, scope, modules).items())},
    }


def _closure(fn: types.FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            found[f"closure {name}"] = cell.cell_contents
        except ValueError:  # the variable has no value yet
            continue
    return found


def _used(code: types.CodeType, scope: dict[str, Any], modules: dict[str, Any]) -> dict[str, Any]:
    """Returns the globals that code uses, by name (m.f where the code uses f of a module m of the user), and the code of the
    user's modules that it imports. Globals that the code itself sets, such as a model that is loaded at the first call, are
    left out, and so are builtins and the names of the module and of its file.

    modules: the code of imported modules so far, by name.
    """
    found: dict[str, Any] = {}
    chain: list[str] = []
    before: list[Any] = []
    steps = [step for each in _codes(code) for step in dis.get_instructions(each) if step.opname != "EXTENDED_ARG"]
    set_here = {step.argval for step in steps if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")}
    for step in steps:
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            chain = [step.argval]
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and chain:
            chain.append(step.argval)
        else:
            chain = []
        if chain and chain[0] in scope and chain[0] not in set_here and not _is_special(chain[0]):
            found.update(_resolved(chain, scope))
        if step.opname == "IMPORT_NAME":
            found.update(_imported("." * before[-2] + step.argval, before[-1] or (), scope, modules))
        before = [*before[-1:], step.argval]
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _resolved(chain: list[str], scope: dict[str, Any]) -> dict[str, Any]:
    value = scope[chain[0]]
    for k, name in enumerate(chain):
        value = value if k == 0 else getattr(value, name, None)
        if not isinstance(value, types.ModuleType) or not _is_own(value.__name__):
            return {".".join(chain[: k + 1]): value}
    return {}


def _imported(name: str, attributes: tuple[str, ...], scope: dict[str, Any], modules: dict[str, Any]) -> dict[str, Any]:
    """Returns the code of a module of the user, and of the modules in it that a from clause names, or the version of a
    library. Nothing for a module that is not on this machine, since workers may have it."""
    try:
        name = importlib.util.resolve_name(name, scope.get("__package__") or "")
        package = name.partition(".")[0]
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None and not _is_own(package, spec.origin):
            return {f"module {package}": _in_library(package)}  # finding a module in a library would import the library
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return {}
    if spec is None:
        return {}
    found = {}
    if spec.origin is not None and name not in modules:
        loaded: Any = spec.loader
        code = loaded.get_code(name) if hasattr(loaded, "get_code") else None
        own = {"__package__": spec.parent, "__name__": name}
        modules[name] = None if code is None else types.FunctionType(code, own)
    if modules.get(name) is not None:
        found[f"module {name}"] = modules[name]
    if spec.submodule_search_locations is not None:
        for attribute in attributes:
            found.update(_imported(f"{name}.{attribute}", (), scope, modules))
    return found


def _class_parts(kind: type) -> str | dict[str, Any]:
    if not _is_own(kind.__module__):
        return _in_library(kind.__module__, kind.__qualname__)
    kinds = {f"base {base.__name__}": base for base in kind.__bases__ if base is not object}
    if type(kind) is not type:
        kinds["metaclass"] = type(kind)
    members = {
        name: member
        for name, member in sorted(vars(kind).items())
        if name != "_abc_impl" and (isinstance(member, _METHODS) or not _is_special(name))
    }
    if isinstance(kind, enum.EnumMeta):  # the other attributes of an enumeration depend on the version of Python
        of_enumeration: Mapping[str, Any] = kind.__members__
        methods = {name: member for name, member in members.items() if isinstance(member, _METHODS)}
        members = methods | {name: member.value for name, member in of_enumeration.items()}
    return kinds | members


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _object_parts(value: Any) -> str | dict[str, Any]:
    """Returns the parts of an object: what a pickle of it would hold."""
    kind = type(value)
    if isinstance(value, types.MethodType):
        return {"method": value.__func__, "object": value.__self__}
    if isinstance(value, (staticmethod, classmethod)):
        return {kind.__name__: value.__func__}
    if isinstance(value, property):
        return {"get": value.fget, "set": value.fset, "delete": value.fdel}
    if kind is functools.partial:
        arguments = {**dict(enumerate(value.args)), **dict(sorted(value.keywords.items()))}
        return {"function": value.func, **{f"argument {name}": each for name, each in arguments.items()}}
    if kind is types.BuiltinFunctionType:
        owner = value.__self__
        if owner is None or isinstance(owner, types.ModuleType) or type(owner).__name__ == "PyCapsule":
            return _in_library(str(value.__module__), value.__qualname__)
    if hasattr(value, "__wrapped__") and not _is_own(kind.__module__):  # lru_cache and compilers, whose state is a cache
        return {"wrapper": kind, "wrapped": value.__wrapped__}
    reducer = copyreg.dispatch_table.get(kind)
    reduced = value.__reduce_ex__(4) if reducer is None else reducer(value)
    if isinstance(reduced, str):
        pickle.dumps(value)  # fails unless the name leads to the object
        return _in_library(str(getattr(value, "__module__", None) or kind.__module__), reduced)
    make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
    parts: dict[str, Any] = {"class": kind}
    if make is copyreg.__newobj__:  # type: ignore[attr-defined]
        arguments = arguments[1:]
    elif make is not kind:
        parts["made by"] = make
    if arguments:
        parts["arguments"] = arguments
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):  # an object with slots
        state = {**(state[0] or {}), **state[1]}
    if isinstance(state, dict):
        parts |= {f"attribute {name}": each for name, each in state.items()}
    elif state is not None:
        parts["state"] = state
    for name, each in (("items", items), ("pairs", pairs)):
        if each is not None:
            parts[name] = list(each)
    return parts


def _is_own(module: str, file: str | None = None) -> bool:
    """Returns whether a module is code of the user: not a module of Python, of an installed library, or of this package."""
    package = module.partition(".")[0]
    files = [file, *(getattr(sys.modules.get(name), "__file__", None) for name in (module, package))]
    file = next(filter(None, files), None)
    if file is None or package == _OURS:
        return package != _OURS and package not in sys.stdlib_module_names
    installed = file.startswith((_STANDARD, "<frozen")) or file in ("frozen", "built-in")
    return not (installed or _INSTALLED.intersection(file.replace("\\", "/").split("/")))


def _in_library(module: str, name: str = "") -> str:
    """Returns the name of a module or of a thing in it, with the version of the library."""
    return " ".join(filter(None, (f"{module}.{name}" if name else module, _version(module.partition(".")[0]))))


@functools.cache
def _version(package: str) -> str:
    """Returns the version of the library that a package belongs to, and an empty text for a package of Python."""
    if package in sys.stdlib_module_names:
        return ""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ", ".join(map(metadata.version, sorted(set(metadata.packages_distributions().get(package, ())))))
