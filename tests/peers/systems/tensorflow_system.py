# SPDX-License-Identifier: Apache-2.0
"""TensorFlow, eager, on the CPU."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow as tf  # noqa: E402
from problem import DTYPES, Array, Problem, Refusal  # noqa: E402

from dialects import data_name, operators_of  # noqa: E402

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

# Types that TensorFlow's tensors cannot have.
MISSING: set[str] = set()
EVERY = tuple(name for name in DTYPES if name not in MISSING)


class System:
    name = "tensorflow"
    version = tf.__version__
    operators = dict.fromkeys(operators_of("tensorflow"), EVERY)

    def run(self, problem: Problem) -> Array:
        operator = getattr(tf.raw_ops, problem.op.split(".")[1])
        attributes = dict(problem.attributes)
        for name in ("paddings", "crops", "block_shape"):
            if name in attributes:
                shape = (-1, 2) if name != "block_shape" else (-1,)
                attributes[name] = tf.reshape(tf.constant(attributes[name], dtype=tf.int64), shape)
        try:
            tensor = tf.constant(problem.data, dtype=tf.as_dtype(DTYPES[problem.dtype]))
            result = operator(**{data_name(problem.op): tensor}, **attributes)
        except (tf.errors.OpError, ValueError, TypeError) as error:
            raise Refusal(f"{type(error).__name__}: {error}") from error
        return result.numpy()
