# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models of one spatial axis, and how far they look along it."""

from fractions import Fraction

import numpy as np
from model_zoo import ints
from onnx import helper


def node(kind, inputs, outputs, **attributes):
    """Returns a node; the input _ is left out."""
    return helper.make_node(kind, ["" if each == "_" else each for each in inputs.split()], outputs.split(), **attributes)


def weights(*shape):
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


UNBOUNDED = (None, None, None, None)
# For each model: its nodes, its constants, and the before, after, alignment and scale of its halo along axis 2 of x, which
# has the shape (1, 3, 40).
NODES = {
    "Conv 3": ([node("Conv", "x w", "y", pads=[1, 1])], {"w": weights(2, 3, 3)}, (1, 1, 1, 1)),
    "Conv without pads": ([node("Conv", "x w", "y")], {"w": weights(2, 3, 5)}, (0, 4, 1, 1)),
    "Conv stride": (
        [node("Conv", "x w", "y", strides=[3], pads=[2, 2])],
        {"w": weights(2, 3, 5)},
        (2, 2, 3, Fraction(1, 3)),
    ),
    "Conv dilated": ([node("Conv", "x w", "y", dilations=[4], pads=[3, 9])], {"w": weights(2, 3, 4)}, (3, 9, 1, 1)),
    "Conv grouped": ([node("Conv", "x w", "y", group=3, pads=[1, 1])], {"w": weights(6, 1, 3)}, (1, 1, 1, 1)),
    "Conv same": ([node("Conv", "x w", "y", auto_pad="SAME_UPPER")], {"w": weights(2, 3, 4)}, (1, 2, 1, 1)),
    "Conv same lower": ([node("Conv", "x w", "y", auto_pad="SAME_LOWER")], {"w": weights(2, 3, 4)}, (2, 1, 1, 1)),
    "Conv negative pads": (
        [node("Pad", "x p", "a"), node("Conv", "a w", "y")],
        {"p": ints(0, 0, -2, 0, 0, -1), "w": weights(2, 3, 3)},
        (-2, 4, 1, 1),
    ),
    "MaxPool": ([node("MaxPool", "x", "y", kernel_shape=[3], strides=[2], pads=[1, 1])], {}, (1, 1, 2, Fraction(1, 2))),
    "MaxPool ceil": ([node("MaxPool", "x", "y", kernel_shape=[3], strides=[2], ceil_mode=1)], {}, (0, 2, 2, Fraction(1, 2))),
    "MaxPool dilated": ([node("MaxPool", "x", "y", kernel_shape=[3], dilations=[2])], {}, (0, 4, 1, 1)),
    "AveragePool": ([node("AveragePool", "x", "y", kernel_shape=[4], strides=[4])], {}, (0, 3, 4, Fraction(1, 4))),
    "LpPool": ([node("LpPool", "x", "y", kernel_shape=[2])], {}, (0, 1, 1, 1)),
    "ConvTranspose 2": ([node("ConvTranspose", "x w", "y", strides=[2])], {"w": weights(3, 2, 2)}, (0, 0, 1, 2)),
    "ConvTranspose 4": (
        [node("ConvTranspose", "x w", "y", strides=[2], pads=[1, 1])],
        {"w": weights(3, 2, 4)},
        (1, 1, 1, 2),
    ),
    "ConvTranspose gaps": ([node("ConvTranspose", "x w", "y", strides=[3])], {"w": weights(3, 2, 2)}, (0, 0, 1, 3)),
    "ConvTranspose dilated": (
        [node("ConvTranspose", "x w", "y", strides=[2], dilations=[3], pads=[2, 1], output_padding=[1])],
        {"w": weights(3, 2, 3)},
        (2, 1, 1, 2),
    ),
    "ConvTranspose shape": (
        [node("ConvTranspose", "x w", "y", strides=[2], output_shape=[79])],
        {"w": weights(3, 2, 5)},
        (1, 1, 1, 2),
    ),
    "ConvTranspose same": (
        [node("ConvTranspose", "x w", "y", strides=[2], auto_pad="SAME_UPPER")],
        {"w": weights(3, 2, 3)},
        (1, 0, 1, 2),
    ),
    "pool and back": (
        [
            node("MaxPool", "x", "a", kernel_shape=[2], strides=[2]),
            node("Resize", "a _ s", "y", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
        ],
        {"s": np.array([1, 1, 2], np.float32)},
        (1, 1, 2, 1),
    ),
    "skip of larger window": (
        [
            node("MaxPool", "x", "a", kernel_shape=[2], strides=[2]),
            node("Resize", "a _ s", "b", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
            node("Conv", "x w", "c", pads=[3, 3]),
            node("Add", "b c", "y"),
        ],
        {"s": np.array([1, 1, 2], np.float32), "w": weights(3, 3, 7)},
        (3, 3, 2, 1),
    ),
    "Softmax over channels": ([node("Softmax", "x", "y", axis=1)], {}, (0, 0, 1, 1)),
    "Softmax over the axis": ([node("Softmax", "x", "y", axis=-1)], {}, UNBOUNDED),
    "ReduceMean of channels": ([node("ReduceMean", "x c", "y", keepdims=0)], {"c": ints(1)}, (0, 0, 1, 1)),
    "global pool": ([node("GlobalAveragePool", "x", "g"), node("Mul", "x g", "y")], {}, UNBOUNDED),
    "InstanceNormalization": ([node("InstanceNormalization", "x o o", "y")], {"o": np.ones(3, np.float32)}, UNBOUNDED),
    "LayerNormalization of channels": (
        [
            node("Transpose", "x", "a", perm=[0, 2, 1]),
            node("LayerNormalization", "a o", "b"),
            node("Transpose", "b", "y", perm=[0, 2, 1]),
        ],
        {"o": np.ones(3, np.float32)},
        (0, 0, 1, 1),
    ),
    "BatchNormalization": ([node("BatchNormalization", "x o o o o", "y")], {"o": np.ones(3, np.float32)}, (0, 0, 1, 1)),
    "LRN": (
        [
            node("Unsqueeze", "x l", "a"),
            node("LRN", "a", "b", size=3),
            node("Squeeze", "b l", "c"),
            node("ReduceMax", "c m", "y"),
        ],
        {"l": ints(3), "m": ints(1)},
        (0, 0, 1, 1),
    ),
    "Slice": (
        [node("Slice", "x b e a s", "y")],
        {"b": ints(3), "e": ints(40), "a": ints(2), "s": ints(2)},
        (-3, 3, 2, Fraction(1, 2)),
    ),
    "Slice backwards": (
        [node("Slice", "x b e a s", "y")],
        {"b": ints(39), "e": ints(-99), "a": ints(2), "s": ints(-1)},
        UNBOUNDED,
    ),
    "roll": ([node("Split", "x s", "a b", axis=2), node("Concat", "b a", "y", axis=2)], {"s": ints(4, 36)}, UNBOUNDED),
    "halves": (
        [node("Split", "x", "a b", axis=2, num_outputs=2), node("Relu", "a", "c"), node("Concat", "c b", "y", axis=2)],
        {},
        (0, 0, 1, 1),
    ),
    "shifts": (
        [node("Pad", "x p", "a"), node("Slice", "a z n t", "b"), node("Concat", "x b", "y", axis=1)],
        {"p": ints(0, 0, 2, 0, 0, 2), "z": ints(4), "n": ints(44), "t": ints(2)},
        (0, 2, 1, 1),
    ),
    "Pad": ([node("Pad", "x p v", "y")], {"p": ints(0, 0, 3, 0, 0, 1), "v": np.float32(2)}, (3, -3, 1, 1)),
    "Pad reflect": (
        [node("Pad", "x p", "a", mode="reflect"), node("Conv", "a w", "y")],
        {"p": ints(0, 0, 2, 0, 0, 2), "w": weights(3, 3, 5)},
        (2, 2, 1, 1),
    ),
    "Pad edge": (
        [node("Pad", "x p", "a", mode="edge"), node("Conv", "a w", "y")],
        {"p": ints(0, 0, 2, 0, 0, 2), "w": weights(3, 3, 5)},
        (2, 2, 1, 1),
    ),
    "Pad wrap": (
        [node("Pad", "x p", "a", mode="wrap"), node("Conv", "a w", "y")],
        {"p": ints(0, 0, 2, 0, 0, 2), "w": weights(3, 3, 5)},
        UNBOUNDED,
    ),
    "space to depth, conv, depth to space": (
        [
            node("Reshape", "x f", "a"),
            node("Transpose", "a", "b", perm=[0, 1, 3, 2]),
            node("Reshape", "b g", "c"),
            node("Conv", "c w", "d", pads=[1, 1]),
            node("Reshape", "d h", "e"),
            node("Transpose", "e", "k", perm=[0, 1, 3, 2]),
            node("Reshape", "k i", "y"),
        ],
        {"f": ints(1, 3, 20, 2), "g": ints(1, 6, 20), "w": weights(6, 6, 3), "h": ints(1, 3, 2, 20), "i": ints(1, 3, 40)},
        (3, 3, 2, 1),
    ),
    "attention in windows": (
        [
            node("Reshape", "x f", "a"),
            node("Transpose", "a", "b", perm=[0, 2, 3, 1]),
            node("Transpose", "a", "c", perm=[0, 2, 1, 3]),
            node("MatMul", "b c", "d"),
            node("Softmax", "d", "s"),
            node("MatMul", "s b", "e"),
            node("Transpose", "e", "k", perm=[0, 3, 1, 2]),
            node("Reshape", "k i", "y"),
        ],
        {"f": ints(1, 3, 5, 8), "i": ints(1, 3, 40)},
        (7, 7, 8, 1),
    ),
    "attention": (
        [
            node("Transpose", "x", "b", perm=[0, 2, 1]),
            node("MatMul", "b x", "d"),
            node("Softmax", "d", "s"),
            node("MatMul", "s b", "e"),
            node("Transpose", "e", "y", perm=[0, 2, 1]),
        ],
        {},
        UNBOUNDED,
    ),
    "Einsum of channels": ([node("Einsum", "x w", "y", equation="bcl,cd->bdl")], {"w": weights(3, 2)}, (0, 0, 1, 1)),
    "Gemm": (
        [node("Reshape", "x f", "a"), node("Gemm", "w a", "b", transB=0), node("Reshape", "b g", "y")],
        {"f": ints(3, 40), "g": ints(1, 2, 40), "w": weights(2, 3)},
        (0, 0, 1, 1),
    ),
    "broadcast of a row": (
        [node("ReduceMax", "x l", "a"), node("Add", "a r", "b"), node("Sub", "x b", "y")],
        {"l": ints(1), "r": weights(1, 1, 40)},
        (0, 0, 1, 1),
    ),
    "constants beyond the ends": (
        [node("Concat", "p x p", "a", axis=2), node("Conv", "a w", "y")],
        {"p": np.ones((1, 3, 1), np.float32), "w": weights(3, 3, 3)},
        (1, 1, 1, 1),
    ),
    "Einsum with one element": (
        [node("Conv", "x w", "a"), node("Einsum", "x a", "y", equation="bcl,bcl->bcl")], {"w": weights(3, 3, 40)}, UNBOUNDED
    ),
    "indices of a pool": (
        [node("MaxPool", "x", "a i", kernel_shape=[2], strides=[2]), node("Cast", "i", "y", to=1)], {}, UNBOUNDED
    ),
    "CumSum": ([node("CumSum", "x l", "y")], {"l": np.int64(2)}, UNBOUNDED),
    "TopK of channels": ([node("TopK", "x k", "y i", axis=1)], {"k": ints(2)}, (0, 0, 1, 1)),
    "two scales": (
        [node("Slice", "x b e a s", "u"), node("Slice", "x b h a", "v"), node("Add", "u v", "y")],
        {"b": ints(0), "e": ints(40), "h": ints(20), "a": ints(2), "s": ints(2)},
        UNBOUNDED,
    ),
}
