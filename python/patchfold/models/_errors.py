# SPDX-License-Identifier: Apache-2.0
"""What a model can be refused for."""

from collections.abc import Iterator
from contextlib import contextmanager


class ModelError(ValueError):
    """A model that cannot be read, or that cannot be written for a target. The text names the node or the tensor."""


@contextmanager
def naming(node: str) -> Iterator[None]:
    """Names the node whose settings are no numbers, too few, out of range or not there."""
    try:
        yield
    except ModelError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelError(f"{node}: its settings are not sound: {error}") from None
