# SPDX-License-Identifier: Apache-2.0
"""Checks that every call that a message proposes runs.

The wrong calls come from the folder `wrong_calls`, from wrong_tiles.txt, and from tables of this file.
"""

import ast
import inspect
import re

import numpy as np
import patchfold
import pytest
import test_errors
import test_tiling_errors
from test_errors import SHAPED
from test_tiling_errors import TABLE

LITERAL = r"""(?:\([^()=]*\)|\[(?:[^\[\]=])*\]|"[^"]*"|'[^']*'|-?\d+/\d+|-?\d+(?:\.\d+)?|True|False|None)"""
SETTING = re.compile(rf"(?<![\w.(])(\w+)=({LITERAL})")
# What messages propose: changes of the array, calls of NumPy, and other names of arguments.
ARRAYS = re.compile(r"(\w+)(\.reshape\([\d, ]+\)|\.swapaxes\(\d+, \d+\)|\[None\]|\[\.\.\., None\])")
CALLS = re.compile(r"numpy\.\w+\((?:[^()]|\([^()]*\))*\)")
KEPT = re.compile(rf"{CALLS.pattern}|{LITERAL}")  # commas within these texts do not separate proposals
OTHER_NAME = re.compile(r"did you mean (\w+)\?")
AND = re.compile(r",? and (?:merge with )?")
OR = re.compile(r", (?!and )(?:or )?| or ")
OTHER_FUNCTION = re.compile(r"the neutral (\w+)")
# Proposals that repair the array's type or an argument's name only: another argument may still be wrong.
PARTIAL = re.compile(r"numpy\.asarray|^rename$")

TILES = {
    "crop": lambda t: t[..., 4:-4, 4:-4],
    "twice": lambda t: t.repeat(2, -1).repeat(2, -2),
    "half": lambda t: t[..., ::2, ::2],
    "video": lambda t: np.zeros((4 * (t.shape[0] - 1) + 1, *t.shape[1:]), np.float32),
    "margin": lambda t: t[:-1, :-1],
    "same": lambda t: t,
    "CHW": np.zeros((3, 1024, 1024), np.float32),
    "HW": np.zeros((1024, 1024), np.float32),
    "BANDS": np.zeros((200, 300, 12), np.float32),
    "MANY": np.zeros((200, 300, 200), np.float32),
    "VIDEO": np.zeros((17, 16, 16), np.float32),
    "patchfold": patchfold,
    "np": np,
}
# Calls whose results or arrays have unexpected sizes, and the proposals in their messages ("": none).
SIZES = {
    "patchfold.apply_tiled(crop, CHW, (512, 512), overlap=8)": "offset=4 and result=504, and merge with fill=0",
    "patchfold.apply_tiled(crop, HW, (20, 20), overlap=8)": "offset=4 and result=12, and merge with fill=0",
    "patchfold.apply_tiled(crop, HW, (20, 20), overlap=0)": "overlap=8 and offset=4 and result=12, and merge with fill=0",
    "patchfold.apply_tiled(crop, HW, (64, 32), overlap=(8, 10))": "offset=4 and result=(56, 24), and merge with fill=0",
    "patchfold.apply_tiled(twice, HW, (64, 64), overlap=8)": "scale=2",
    "patchfold.apply_tiled(half, HW, (64, 64), overlap=8)": "scale=1/2",
    "patchfold.apply_tiled(crop, HW, (16, 16), overlap=8)": "scale=1/2 if that holds for tiles of every size, or if results "
    "lack a border of tiles, make the tiling with offset=4 and result=8, and merge with fill=0",
    "patchfold.apply_tiled(half, HW, (62, 62), overlap=7)": "scale=1/2 and align=2 and overlap=8",
    "patchfold.apply_tiled(video, VIDEO, (5,), axes=(0,), overlap=1)": "scale=4 and result=17 and output=65",
    "patchfold.apply_tiled(margin, HW, (258, 258), overlap=2)": "",
    "patchfold.apply_tiled(same, BANDS, (64, 64), overlap=8)": 'axes=(0, 1) if the bands come last, or tail="shift_or_pad", '
    'tail="pad" or tail="partial"',
    "patchfold.apply_tiled(same, MANY, (64, 250), overlap=8)": 'tail="shift_or_pad", tail="pad" or tail="partial"',
    "patchfold.apply_tiled(same, CHW.transpose(1, 2, 0), (64, 64), overlap=8)": "axes=(0, 1)",
}
# Calls with wrong shapes, and the proposals in their messages ("": none).
SHAPES = {
    "patchfold.unfold(np.zeros((5, 5)), 7)": "",
    "patchfold.unfold(np.zeros((5, 5)), 3)": "x.reshape(1, 5, 5) and kernel_size=(3, 3)",
    "patchfold.depth_to_space(np.zeros((4, 6)), 2)": "",
    "patchfold.space_to_depth(np.zeros((4, 6, 3)), 2)": 'block=(2, 2) and layout="channels_last" for two spatial axes',
    "patchfold.space_to_depth(np.zeros((5, 7, 9)), 2)": "",
    "patchfold.unfold(np.zeros((1, 3, 9, 9)), (2**31, 2**31))": "",
    "patchfold.unfold(np.zeros((1, 3, 9, 9)), 3, padding=(1, 1, 1, 1))": "padding=1, padding=(1, 1) or "
    "padding=[(1, 1), (1, 1)]",
    "patchfold.unfold(np.zeros((1, 3, 9, 9)), 3, padding=(1, 1, 1, 1), stride=0)": "",
    "patchfold.onnx.col2im(np.zeros((1, 9, 3, 3)), (5, 5), (3, 3))": 'or the neutral fold with positions="grid"',
    "patchfold.onnx.col2im(np.zeros((1, 9, 1, 9)), (5, 5), (3, 3))": "",
    "patchfold.onnx.col2im(np.zeros((1, 9, 4, 4)), (5, 5), (3, 3))": "",
    "patchfold.openvino.col2im(np.zeros((1, 9, 9, 1)), (5, 5), (3, 3))": "",
    "patchfold.keras.unfold(np.zeros((1, 3, 5, 5, 5)), 3)": "kernel_size=(3, 3, 3) of the neutral unfold",
    "patchfold.keras.unfold(np.zeros((1, 3, 5, 5, 2)), 3)": "",
    "patchfold.keras.unfold(np.zeros((1, 3, 5, 5, 5)), 3, stride=(1, 2))": "",
    "patchfold.tensorflow.space_to_batch(np.zeros((6, 8, 3)), np.zeros((2, 2), int), 2)": "input.reshape(1, 6, 8, 3)",
    "patchfold.tensorflow.space_to_batch(np.zeros((6, 7, 3)), np.zeros((2, 2), int), 2)": "",
    "patchfold.tensorflow.batch_to_space(np.zeros((6, 8, 3)), np.zeros((2, 2), int), 2)": "",
    "patchfold.tensorflow.space_to_depth(np.zeros((6, 7, 3)), 2)": "",
    "patchfold.tensorflow.extract_volume_patches(np.zeros((4, 4, 4, 2)), (1, 9, 2, 2, 1), (1,) * 5, 'VALID')": "",
    "patchfold.patchify(np.zeros((56, 84)), 14)": "x[None]",
    "patchfold.patchify(np.zeros((56, 84)), 14, layout='channels_last')": "x[..., None]",
    "patchfold.patchify(np.zeros((56, 84)), 15)": "",
    "patchfold.patchify(np.zeros((3, 56, 84)), 14, order='qwen')": 'x[None] and repeat="last"',
    "patchfold.patchify(np.zeros((3, 56, 85)), 14, order='qwen')": "",
    "patchfold.patchify(np.zeros((1, 3, 56, 85)), 14, order='qwen')": "",
    "patchfold.patchify(np.zeros((56, 84, 3)), 14)": 'layout="channels_last"',
    "patchfold.patchify(np.zeros((56, 85, 3)), 14)": "",
}  # fmt: skip


def run(call, names):
    """Returns the result of a call; an iterator is read to its end."""
    result = eval(compile(ast.fix_missing_locations(ast.Expression(call)), "call", "eval"), names)
    return list(result) if inspect.isgenerator(result) else result


def refused(call, names):
    """Returns the error of a call."""
    try:
        run(ast.parse(call, mode="eval").body, dict(names))
    except Exception as error:
        return error
    return None


def proposals(error):
    """Returns the calls that a message proposes. Each call is a list of changes of the wrong call."""
    given = [error.expected.partition(": ")[2] or error.expected, error.hint] if isinstance(error, patchfold.Error) else []
    found = []
    for text in given:
        for name in OTHER_NAME.findall(text):
            found.append([("rename", name)])
        kept = KEPT.findall(text)
        numbers = iter(range(len(kept)))
        guarded = KEPT.sub(lambda _: f"<{next(numbers)}>", text)  # noqa: B023
        for part in OR.split(guarded) if "=" in guarded or ARRAYS.search(text) or CALLS.search(text) else []:
            changes = [("function", match[1]) for match in OTHER_FUNCTION.finditer(part)]
            for piece in AND.split(part):
                piece = re.sub(r"<(\d+)>", lambda match: kept[int(match[1])], piece)  # noqa: B023
                calls, rest = CALLS.findall(piece), CALLS.sub("", piece)
                changes += [("set", match[1], match[2]) for match in SETTING.finditer(rest)]
                changes += [("array", change) for change in (*(match[0] for match in ARRAYS.finditer(rest)), *calls)]
            found += [changes] if changes else []
    return found


def changed(call, changes, error, names):
    """Returns a call with the changes that the message proposes."""
    tree = ast.parse(call, mode="eval").body
    function = eval(compile(ast.Expression(tree.func), "function", "eval"), dict(names))
    parameters = list(inspect.signature(function).parameters)
    for kind, *values in changes:
        if kind == "function":
            tree.func = ast.parse(f"patchfold.{values[0]}", mode="eval").body
            continue
        place = (
            values[0] if kind == "set" else "x" if "x" in parameters else parameters[ast.unparse(tree.func).endswith(".add")]
        )
        if kind == "rename":
            texts = [each for each in ast.walk(tree) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            for text in texts:
                text.value = values[0] if text.value in error.given.split("'") else text.value
            for word in [] if error.given else tree.keywords:
                word.arg = values[0] if word.arg == error.argument else word.arg
            continue
        if kind == "array":
            here = [word.value for word in tree.keywords if word.arg == place] or [tree.args[parameters.index(place)]]
            target = ast.unparse(here[0])
            text = values[0].replace("numpy.", "np.")
            name = rf"\b(?:x|columns|image|data|tokens|{place})\b"
            text = re.sub(name, f"({target})".replace("\\", r"\\"), text)
        else:
            text = values[1]
        value = ast.parse(text, mode="eval").body
        if place in parameters[: len(tree.args)] and parameters.index(place) < len(tree.args):
            tree.args[parameters.index(place)] = value
        else:
            tree.keywords = [word for word in tree.keywords if word.arg != place]
            tree.keywords.append(ast.keyword(place, value))
    return tree


def cases():
    for table, names in ((SHAPED, test_errors.NAMES), (TABLE, test_tiling_errors.NAMES)):
        for call, _ in table:
            yield call, names
    for call in (*SIZES, *SHAPES):
        yield call, TILES


FOLLOWED = [
    pytest.param(call, names, error, changes, id=f"{call} -> {changes}")
    for call, names in cases()
    if (error := refused(call, names)) is not None
    for changes in proposals(error)
]


@pytest.mark.parametrize(("call", "names", "error", "changes"), FOLLOWED)
def test_what_a_message_proposes_runs(call, names, error, changes):
    tree = changed(call, changes, error, names)
    assert ast.unparse(tree) != ast.unparse(ast.parse(call, mode="eval").body)
    if any(PARTIAL.search(part) for change in changes for part in change):
        try:
            run(tree, dict(names))
        except patchfold.Error as other:
            assert (other.argument, other.rule) != (error.argument, error.rule)
        return
    run(tree, dict(names))


@pytest.mark.parametrize("call", [*SIZES, *SHAPES])
def test_what_would_do_is_proposed_and_nothing_else(call):
    error = refused(call, TILES)
    wanted = {**SIZES, **SHAPES}[call]
    text = f"{error.expected}; {error.hint}"
    assert wanted in text
    assert bool(wanted) == bool(proposals(error)), text


def test_proposals_are_found():
    assert len(FOLLOWED) > 60
