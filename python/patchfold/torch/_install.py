# SPDX-License-Identifier: Apache-2.0
"""Replaces functions of torch.nn.functional by patchfold's."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import handle_torch_function, has_torch_function_unary

from .._errors import Error, InvalidType, InvalidValue
from . import _functional
from ._arguments import can_read

_NAMES = ("fold", "unfold", "pixel_shuffle", "pixel_unshuffle")

_lock = threading.Lock()
_installed: list[Installation] = []
_replaced: dict[str, tuple[Callable[..., Tensor], Callable[..., Tensor]]] = {}
"""Maps a name to torch's function and patchfold's function, while patchfold's is installed."""


class InvalidValueAsTorch(InvalidValue, RuntimeError):
    """InvalidValue for a call for which torch's own function raises RuntimeError."""


class InvalidTypeAsTorch(InvalidType, RuntimeError):
    """InvalidType for a call for which torch's own function raises RuntimeError."""


class Installation:
    """The handle that install() returns. As a context manager, a handle removes the installation at the end of the block."""

    def remove(self) -> None:
        """Restores torch's functions once every installation is removed. A second removal of the same installation does
        nothing."""
        with _lock:
            if self not in _installed:
                return
            _installed.remove(self)
            if _installed:
                return
            for name, (theirs, ours) in _replaced.items():
                if getattr(functional, name) is ours:
                    setattr(functional, name, theirs)
            _replaced.clear()

    def __enter__(self) -> Installation:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def uninstall() -> None:
    """Removes every installation, even if its handle is lost. Does nothing without an installation.

    Example:
        >>> import torch, patchfold.torch
        >>> theirs = torch.nn.functional.fold
        >>> _ = patchfold.torch.install()
        >>> patchfold.torch.uninstall()
        >>> torch.nn.functional.fold is theirs
        True
    """
    for installation in list(_installed):
        installation.remove()


def install() -> Installation:
    """Makes torch.nn.functional.fold, unfold, pixel_shuffle and pixel_unshuffle run on patchfold.

    nn.Fold, nn.Unfold, nn.PixelShuffle and nn.PixelUnshuffle look these functions up at every call, so existing models
    use patchfold too. Code that imported a function before (``from torch.nn.functional import fold``) keeps torch's.

    patchfold handles dense tensors on the CPU and on CUDA, meta tensors and fake tensors. torch's own functions still
    handle everything else: other devices, sparse, quantized and nested tensors, subclasses that override torch functions,
    TorchScript, and export to ONNX. Everything that torch accepts is accepted, and also N-D and integer tensors. Errors
    are patchfold's: InvalidValue (a ValueError) and InvalidType (a TypeError). Where torch's own function raises
    RuntimeError, patchfold's errors are RuntimeErrors, too, so that ``except RuntimeError`` works as before.

    Returns an Installation: ``remove()`` restores torch's functions, and so does the end of a ``with`` block. Installations
    nest: torch's own functions return once every installation is removed. ``uninstall()`` removes all.

    Example:
        >>> import torch, patchfold.torch
        >>> with patchfold.torch.install():
        ...     torch.nn.Fold(3, 2)(torch.ones(4, 4, dtype=torch.int32))
        tensor([[[1, 2, 1],
                 [2, 4, 2],
                 [1, 2, 1]]], dtype=torch.int32)
        >>> handle = patchfold.torch.install()
        >>> handle.remove()
    """
    installation = Installation()
    with _lock:
        if not _installed:
            for name in _NAMES:
                theirs = getattr(functional, name)
                ours = _replacement(theirs, getattr(_functional, name))
                _replaced[name] = (theirs, ours)
                setattr(functional, name, ours)
        _installed.append(installation)
    return installation


def _replacement(theirs: Callable[..., Tensor], ours: Callable[..., Tensor]) -> Callable[..., Tensor]:
    @functools.wraps(theirs)
    def replacement(input: Tensor, *arguments: Any, **options: Any) -> Tensor:
        if isinstance(input, Tensor) and has_torch_function_unary(input):
            function = theirs if _overrides(input) else replacement
            result: Tensor = handle_torch_function(function, (input,), input, *arguments, **options)
            return result
        # An export to ONNX is for a runtime that knows torch's operators only.
        if not (isinstance(input, Tensor) and can_read(input)) or torch.onnx.is_in_onnx_export():
            return theirs(input, *arguments, **options)
        if torch.compiler.is_compiling():
            return ours(input, *arguments, **options)
        try:
            return ours(input, *arguments, **options)
        except Error as error:
            raise _as_torch(error, lambda: theirs(input, *arguments, **options)) from None

    # TorchScript compiles torch's function instead, since the replacement is not valid TorchScript.
    replacement.__prepare_scriptable__ = lambda: theirs  # type: ignore[attr-defined]
    return replacement


def _as_torch(error: Error, theirs: Callable[[], object]) -> Error:
    """Returns the error, as a RuntimeError if torch's own function raises one for the same call."""
    try:
        theirs()
    except RuntimeError:
        kind = InvalidValueAsTorch if isinstance(error, InvalidValue) else InvalidTypeAsTorch
        return kind(error.operator, error.argument, **error._facts())
    except Exception:
        pass
    return error


def _overrides(tensor: Tensor) -> bool:
    """Returns whether the tensor's class has its own __torch_function__, which may know torch's function only."""
    handler = type(tensor).__torch_function__
    return getattr(handler, "__func__", None) is not _DEFAULT and handler is not torch._C._disabled_torch_function_impl


_DEFAULT = Tensor.__torch_function__.__func__  # type: ignore[attr-defined]
