# SPDX-License-Identifier: Apache-2.0
"""The errors for which a model is refused."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# The most nodes that a message names.
MOST_NAMED = 3


class ModelError(ValueError):
    """A model that cannot be read, or that cannot be written for a target. The text names the node or the tensor."""


class NotPortable(ModelError):
    """A model with nodes that its target does not accept, even after nodes were rewritten.

    model: the model as far as it was written. stays: a sentence about each node that the target does not take.
    """

    def __init__(self, target: str, model: Any, stays: Sequence[str]):
        self.model, self.stays = model, tuple(stays)
        more = f"; and {len(stays) - MOST_NAMED} more" if len(stays) > MOST_NAMED else ""
        many = "1 node" if len(stays) == 1 else f"{len(stays)} nodes"
        super().__init__(f"{target} does not take {many}: {'; '.join(stays[:MOST_NAMED])}{more}")


def check_sizes(sizes: Collection[str], there: Collection[str]) -> None:
    """Raises an error for sizes of dimensions that are not among the model's open ones."""
    unknown = ", ".join(map(repr, sorted(set(sizes) - set(there))))
    if unknown:
        raise ModelError(f"sizes: the model has no open dimension {unknown}; it has {', '.join(there) or 'none'}")


@contextmanager
def naming(node: str) -> Iterator[None]:
    """Raises an error that names the node if its settings are missing, too few, out of range or no numbers."""
    try:
        yield
    except ModelError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelError(f"{node}: its settings are not sound: {error}") from None
