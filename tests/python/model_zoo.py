# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models that compute an operator of patchfold, mostly by other nodes, and the operator of each model."""

from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto, helper, numpy_helper


@dataclass
class Case:
    """A model with one input x. It computes patchfold's function `operator` with `arguments`, or no function of patchfold if
    `operator` is None."""

    name: str
    shape: tuple
    nodes: list
    operator: str | None
    arguments: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)
    exact: bool = True
    dtype: int = TensorProto.FLOAT
    opset: int = 18

    def model(self):
        """Returns the model; its result is y."""
        x = helper.make_tensor_value_info("x", self.dtype, self.shape)
        y = helper.make_tensor_value_info("y", self.dtype, None)
        initializers = [numpy_helper.from_array(np.asarray(values), name) for name, values in self.constants.items()]
        graph = helper.make_graph(self.nodes, "g", [x], [y], initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])


def ints(*values):
    return np.array(values, np.int64)


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def moved(*shape_order_shape):
    """Returns the nodes Reshape, Transpose, Reshape with their constants. A node whose value is None is left out."""
    first, order, last = shape_order_shape
    nodes, constants, at = [], {}, "x"
    for number, (kind, value) in enumerate((("Reshape", first), ("Transpose", order), ("Reshape", last))):
        if value is None:
            continue
        to = f"t{number}"
        if kind == "Reshape":
            constants[f"s{number}"] = ints(*value)
            nodes.append(node(kind, f"{at} s{number}", to))
        else:
            nodes.append(node(kind, at, to, perm=list(value)))
        at = to
    nodes[-1].output[0] = "y"
    return {"nodes": nodes, "constants": constants}


def slices(shape, kernel, *, stride=1, dilation=1, pad=0, kernel_order=False):
    """Returns im2col as the nodes Pad, a Slice for each tap, Concat and Reshape."""
    n, c, h, w = shape
    nodes = [node("Pad", "x pads", "p")]
    constants = {"pads": ints(0, 0, pad, pad, 0, 0, pad, pad), "axes": ints(2, 3), "steps": ints(stride, stride)}
    rows = (h + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    columns = (w + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    taps = []
    for i in range(kernel):
        for j in range(kernel):
            begin, tap = (i * dilation, j * dilation), f"{i}_{j}"
            constants[f"b{tap}"] = ints(*begin)
            constants[f"e{tap}"] = ints(begin[0] + (rows - 1) * stride + 1, begin[1] + (columns - 1) * stride + 1)
            nodes.append(node("Slice", f"p b{tap} e{tap} axes steps", f"s{tap}"))
            taps.append(f"s{tap}")
            if not kernel_order:
                constants["two"] = ints(2)
                nodes.append(node("Unsqueeze", f"s{tap} two", f"u{tap}"))
                taps[-1] = f"u{tap}"
    constants["flat"] = ints(n, c * kernel * kernel, rows * columns)
    nodes += [node("Concat", " ".join(taps), "k", axis=1 if kernel_order else 2), node("Reshape", "k flat", "y")]
    return {"nodes": nodes, "constants": constants}


def gathered(shape, kernel, stride, pad):
    """Returns im2col in the form of torch's exporters: Pad, a Gather along each axis, Transpose, Reshape."""
    n, c, h, w = shape
    constants = {"pads": ints(0, 0, pad, pad, 0, 0, pad, pad)}
    extents = []
    for name, extent in (("rows", h), ("columns", w)):
        count = (extent + 2 * pad - kernel) // stride + 1
        extents.append(count)
        constants[name] = np.arange(kernel)[:, None] + np.arange(count)[None] * stride
    constants["flat"] = ints(n, c * kernel * kernel, extents[0] * extents[1])
    nodes = [
        node("Pad", "x pads", "p"), node("Gather", "p rows", "g", axis=2), node("Gather", "g columns", "q", axis=4),
        node("Transpose", "q", "t", perm=[0, 1, 2, 4, 3, 5]), node("Reshape", "t flat", "y"),
    ]  # fmt: skip
    return {"nodes": nodes, "constants": constants}


def hot(channels, *kernel):
    """Returns a filter of a convolution for each element of a patch: 1 at this element, and 0 elsewhere."""
    count = channels * int(np.prod(kernel))
    return np.eye(count, dtype=np.float32).reshape(count, channels, *kernel)


def focus(order):
    """Returns nodes that slice the four pixels of each 2 x 2 block, and join them by Concat in the given order."""
    constants, nodes = {"axes": ints(2, 3), "steps": ints(2, 2), "end": ints(10**6, 10**6)}, []
    for i, j in order:
        constants[f"b{i}{j}"] = ints(i, j)
        nodes.append(node("Slice", f"x b{i}{j} end axes steps", f"s{i}{j}"))
    nodes.append(node("Concat", " ".join(f"s{i}{j}" for i, j in order), "y", axis=1))
    return {"nodes": nodes, "constants": constants}


def branching():
    """Returns a case of a DepthToSpace in one branch of an If."""
    entries = {"a": node("DepthToSpace", "x", "a", blocksize=2), "b": node("Identity", "w", "b")}
    then, other = (
        helper.make_graph([entry], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])
        for name, entry in entries.items()
    )
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
    return Case("if", (1, 4, 2, 2), nodes, None, constants={"c": np.array(True), "w": np.zeros((1, 1, 4, 4), np.float32)})


CASES = [
    Case("im2col of slices", (2, 3, 7, 8), operator="unfold", arguments={"kernel_size": (3, 3), "padding": (1, 1)},
         **slices((2, 3, 7, 8), 3, pad=1)),
    Case("im2col of slices, stride 2", (1, 2, 9, 11), operator="unfold", arguments={"kernel_size": (3, 3), "stride": (2, 2)},
         **slices((1, 2, 9, 11), 3, stride=2)),
    Case("im2col of slices, dilated", (1, 2, 9, 8), operator="unfold",
         arguments={"kernel_size": (2, 2), "dilation": (3, 3), "padding": (1, 1)}, **slices((1, 2, 9, 8), 2, dilation=3,
         pad=1)),
    Case("im2col of slices, taps before channels", (2, 3, 6, 7), operator="unfold",
         arguments={"kernel_size": (2, 2), "order": "kernel"}, **slices((2, 3, 6, 7), 2, kernel_order=True)),
    Case("im2col of slices, one channel", (1, 1, 6, 7), operator="unfold", arguments={"kernel_size": (3, 3)},
         **slices((1, 1, 6, 7), 3)),
    Case("im2col as torch exports it", (2, 3, 8, 9), operator="unfold", arguments={"kernel_size": (3, 3), "padding": (1, 1)},
         **gathered((2, 3, 8, 9), 3, 1, 1)),
    Case("im2col as torch exports it, kernel = stride", (1, 3, 8, 12), operator="unfold",
         arguments={"kernel_size": (4, 4), "stride": (4, 4)}, **gathered((1, 3, 8, 12), 4, 4, 0)),
    Case("im2col as torch exports it, even kernel", (1, 2, 8, 9), operator="unfold",
         arguments={"kernel_size": (2, 2), "stride": (3, 3), "padding": (1, 1)}, **gathered((1, 2, 8, 9), 2, 3, 1)),
    Case("im2col as a convolution", (2, 3, 6, 7), [node("Conv", "x w", "y", pads=[1, 1, 1, 1])], "unfold",
         {"kernel_size": (3, 3), "padding": (1, 1), "positions": "grid"}, {"w": hot(3, 3, 3)}),
    Case("im2col as a grouped convolution", (1, 3, 8, 8), [node("Conv", "x w", "y", group=3, strides=[2, 2])],
         "space_to_depth",
         {"block": (2, 2), "mode": "depth_first"}, {"w": np.concatenate([hot(1, 2, 2)] * 3)}),
    Case("im2col as a convolution in 3-D", (1, 2, 4, 5, 6), [node("Conv", "x w", "y")], "unfold",
         {"kernel_size": (2, 2, 2), "positions": "grid"}, {"w": hot(2, 2, 2, 2)}),
    Case("im2col as a convolution in 1-D", (2, 3, 9), [node("Conv", "x w", "y", dilations=[2])], "unfold",
         {"kernel_size": (3,), "dilation": (2,)}, {"w": hot(3, 3)}),
    Case("pixel shuffle", (1, 12, 4, 5), operator="depth_to_space", arguments={"block": (2, 2), "mode": "depth_first"},
         **moved((1, 3, 2, 2, 4, 5), (0, 1, 4, 2, 5, 3), (1, 3, 8, 10))),
    Case("pixel unshuffle", (2, 3, 8, 10), operator="space_to_depth", arguments={"block": (2, 2), "mode": "depth_first"},
         **moved((2, 3, 4, 2, 5, 2), (0, 1, 3, 5, 2, 4), (2, 12, 4, 5))),
    Case("depth to space, blocks first", (2, 12, 4, 5), operator="depth_to_space", arguments={"block": (2, 2),
         "mode": "blocks_first"},
         **moved((2, 2, 2, 3, 4, 5), (0, 3, 4, 1, 5, 2), (2, 3, 8, 10))),
    Case("space to depth, blocks first", (2, 3, 8, 9), operator="space_to_depth", arguments={"block": (2, 3),
         "mode": "blocks_first"},
         **moved((2, 3, 4, 2, 3, 3), (0, 3, 5, 1, 2, 4), (2, 18, 4, 3))),
    Case("space to depth, channels last", (2, 8, 10, 3), operator="space_to_depth",
         arguments={"block": (2, 2), "mode": "blocks_first", "layout": "channels_last"},
         **moved((2, 4, 2, 5, 2, 3), (0, 1, 3, 2, 4, 5), (2, 4, 5, 12))),
    Case("pixel shuffle in 1-D", (2, 6, 5), operator="depth_to_space", arguments={"block": (2,), "mode": "depth_first"},
         **moved((2, 3, 2, 5), (0, 1, 3, 2), (2, 3, 10))),
    Case("pixel unshuffle in 3-D", (1, 2, 4, 6, 8), operator="space_to_depth", arguments={"block": (2, 3, 4),
         "mode": "depth_first"},
         **moved((1, 2, 2, 2, 2, 3, 2, 4), (0, 1, 3, 5, 7, 2, 4, 6), (1, 48, 2, 2, 2))),
    Case("tokens of a vision transformer", (2, 3, 8, 12), operator="unfold", exact=False,
         arguments={"kernel_size": (4, 4), "stride": (4, 4), "order": "kernel"},
         **moved((2, 3, 2, 4, 3, 4), (0, 2, 4, 3, 5, 1), (2, 6, 48))),
    Case("tokens with channels first", (2, 3, 8, 12), operator="unfold", exact=False,
         arguments={"kernel_size": (4, 4), "stride": (4, 4)}, **moved((2, 3, 2, 4, 3, 4), (0, 2, 4, 1, 3, 5), (2, 6, 48))),
    Case("tokens back into pictures", (2, 6, 48), operator="fold", exact=False,
         arguments={"output_size": (8, 12), "kernel_size": (4, 4), "stride": (4, 4), "order": "kernel"},
         **moved((2, 2, 3, 4, 4, 3), (0, 5, 1, 3, 2, 4), (2, 3, 8, 12))),
    Case("columns back into pictures", (1, 12, 20), operator="fold",
         arguments={"output_size": (8, 10), "kernel_size": (2, 2), "stride": (2, 2)},
         **moved((1, 3, 2, 2, 4, 5), (0, 1, 4, 2, 5, 3), (1, 3, 8, 10))),
    Case("space to batch", (2, 3, 8, 10), operator="space_to_batch", arguments={"block": (2, 2)},
         **moved((2, 3, 4, 2, 5, 2), (3, 5, 0, 1, 2, 4), (8, 3, 4, 5))),
    Case("batch to space", (8, 3, 4, 5), operator="batch_to_space", arguments={"block": (2, 2)},
         **moved((2, 2, 2, 3, 4, 5), (2, 3, 4, 0, 5, 1), (2, 3, 8, 10))),
    Case("windows of attention", (1, 8, 12, 6), operator="blocks", arguments={"h1": 2, "h2": 4, "w1": 3, "w2": 4},
         **moved((1, 2, 4, 3, 4, 6), (0, 1, 3, 2, 4, 5), (6, 16, 6))),
    Case("windows of attention, back", (6, 16, 6), operator="blocks", arguments={"h1": 2, "h2": 3, "w1": 4, "w2": 4},
         **moved((1, 2, 3, 4, 4, 6), (0, 1, 3, 2, 4, 5), (1, 8, 12, 6))),
    Case("patch merging", (1, 8, 12, 6), operator="blocks", arguments={"h1": 4, "h2": 2, "w1": 6, "w2": 2, "c": 6},
         **moved((1, 4, 2, 6, 2, 6), (0, 1, 3, 4, 2, 5), (1, 24, 24))),
    Case("merge blocks", (2, 3, 16, 16), operator="patchify",
         arguments={"patch_size": (4, 4), "order": "torch", "merge_size": 2},
         **moved((2, 3, 2, 2, 4, 2, 2, 4), (0, 2, 5, 3, 6, 1, 4, 7), (32, 48))),
    Case("focus, rows first", (1, 3, 8, 10), operator="space_to_depth", arguments={"block": (2, 2), "mode": "blocks_first"},
         **focus([(0, 0), (0, 1), (1, 0), (1, 1)])),
    Case("focus, columns first", (1, 3, 8, 10), operator="blocks",
         arguments={"c": 3, "h1": 4, "h2": 2, "w1": 5, "w2": 2}, **focus([(0, 0), (1, 0), (0, 1), (1, 1)])),
    Case("MAE's patchify, by einsum", (1, 3, 8, 12), [node("Reshape", "x a", "r"),
         node("Einsum", "r", "t", equation="nchpwq -> nhwpqc"), node("Reshape", "t b", "y")], "unfold",
         {"kernel_size": (4, 4), "stride": (4, 4), "order": "kernel"}, {"a": ints(1, 3, 2, 4, 3, 4), "b": ints(1, 6, 48)},
         exact=False),
    Case("DepthToSpace itself", (1, 12, 3, 4), [node("DepthToSpace", "x", "y", blocksize=2, mode="CRD")], "depth_to_space",
         {"block": 2, "mode": "depth_first"}),
    Case("SpaceToDepth itself", (1, 3, 4, 6), [node("SpaceToDepth", "x", "y", blocksize=2)], "space_to_depth",
         {"block": 2, "mode": "blocks_first"}),
    Case("Col2Im itself", (1, 12, 42), [node("Col2Im", "x i k", "y", pads=[1, 0, 1, 0])], "fold",
         {"output_size": (5, 8), "kernel_size": (2, 2), "padding": [(1, 1), (0, 0)]}, {"i": ints(5, 8), "k": ints(2, 2)}),
    Case("heads of attention", (2, 16, 32), operator=None, **moved((2, 16, 4, 8), (0, 2, 1, 3), None)),
    Case("heads merged with the batch", (2, 16, 32), operator=None, **moved((2, 16, 4, 8), (0, 2, 1, 3), (8, 16, 8))),
    Case("a transposition", (2, 3, 4, 5), operator=None, **moved(None, (0, 2, 3, 1), None)),
    Case("channel shuffle", (1, 6, 4, 4), operator=None, **moved((1, 2, 3, 4, 4), (0, 2, 1, 3, 4), (1, 6, 4, 4))),
    Case("a slice of a padded picture", (1, 1, 6, 6), operator=None, constants={"p": ints(0, 0, 1, 1, 0, 0, 1, 1),
         "b": ints(0, 0),
         "e": ints(6, 6), "a": ints(2, 3)}, nodes=[node("Pad", "x p", "q"), node("Slice", "q b e a", "y")]),
    Case("a convolution", (1, 1, 6, 6), [node("Conv", "x w", "y")], None, {}, {"w": np.full((1, 1, 3, 3), 0.5, np.float32)}),
]  # fmt: skip
