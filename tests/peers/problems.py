# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for problems of every dialect operator.

Hypothesis draws the geometry, a fault if the problem is to be invalid, and a seed. NumPy's generator makes the elements
from the seed. A case is one distinct combination of shape, attributes and data.
"""

import zlib
from typing import Any

from data import fill, moods_of
from drawing import Draw, Setting, chance, number
from hypothesis import strategies as st
from problem import Problem

from dialects import facts_of


def draw_setting(draw: Draw, op: str) -> Setting:
    facts = facts_of(op)
    setting = facts.draw(draw, op)
    if chance(draw, 12):
        invalid = facts.faults[number(draw, 0, len(facts.faults) - 1)].apply(draw, setting)
        setting = invalid or setting
    return setting


@st.composite
def groups(draw: Draw, op: str, dtype: str, size: int) -> list[Problem]:
    """Draws `size` problems with equal attributes and shape, and different data."""
    setting = draw_setting(draw, op)
    # Hypothesis often draws the same number again, so the seed depends on the setting as well.
    seed = zlib.crc32(f"{number(draw, 0, 2**32 - 1)} {setting}".encode())
    moods = moods_of(dtype)
    first = number(draw, 0, len(moods) - 1)
    chosen = [moods[(first + i) % len(moods)] for i in range(size)]
    return [
        Problem(op, dtype, fill(dtype, setting.shape, mood, seed + i), setting.attributes, seed + i, mood)
        for i, mood in enumerate(chosen)
    ]


def always(op: str, dtype: str) -> list[Problem]:
    """Returns problems with the settings of every run (Facts.always), and ordinary data."""
    mood = moods_of(dtype)[0]
    return [
        Problem(op, dtype, fill(dtype, setting.shape, mood, number), setting.attributes, number, mood)
        for number, setting in enumerate(facts_of(op).always)
    ]


def batches(op: str, dtype: str, size: int, settings: int) -> Any:
    """Returns a strategy of lists of problems: several groups, one after the other, each with its own setting."""
    if settings == 1:
        return groups(op, dtype, size)
    lists = st.lists(groups(op, dtype, size), min_size=1, max_size=2 * settings)
    return lists.map(lambda found: [problem for group in found for problem in group])


def problems(op: str, dtype: str) -> Any:
    """Returns a strategy of single problems."""
    return groups(op, dtype, 1).map(lambda group: group[0])
