# SPDX-License-Identifier: Apache-2.0
"""Gives several functions keyword arguments that are defined in one place."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ._core import did_you_mean

Function = TypeVar("Function", bound=Callable[..., Any])


def takes(settings: Any, *owners: Callable[..., Any]) -> Callable[[Function], Function]:
    """Returns a decorator for a function that ends with ``**name: Unpack[settings]``. settings: a TypedDict; its keys are
    parameters of the functions `owners`. The decorated function's signature shows these parameters in the owners' order,
    after the required ones. Each call gets all these parameters in this order, with the owners' defaults."""
    taken = [each for owner in owners for each in inspect.signature(owner).parameters.values()]
    taken = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in taken if each.name in settings.__annotations__]
    defaults = {each.name: each.default for each in taken}

    def decorated(function: Function) -> Function:
        signature = inspect.signature(function)
        *own, rest = signature.parameters.values()
        last = [each for each in own if each.kind is each.KEYWORD_ONLY and each.default is not each.empty]
        parameters = [*(each for each in own if each not in last), *taken, *last]
        names = {each.name for each in parameters}

        @functools.wraps(function)
        def call(*args: Any, **given: Any) -> Any:
            for name in given:
                if name not in names:
                    meant = did_you_mean(name, list(names)).removeprefix("did you mean ").removesuffix("?")
                    hint = f". Did you mean '{meant}'?" if meant else ""  # as Python 3.13 says it
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{hint}")
            return function(*args, **(defaults | given))

        made: Any = call
        made.__signature__ = signature.replace(parameters=parameters)
        hints = {name: hint for name, hint in function.__annotations__.items() if name != rest.name}
        made.__annotations__ = hints | {name: settings.__annotations__[name] for name in defaults}
        return made  # type: ignore[no-any-return]

    return decorated
