# SPDX-License-Identifier: Apache-2.0
"""Writes the node tests that the installed onnx package generates for our operators, in the official layout.

usage: write_node_tests.py FOLDER        writes FOLDER/TEST/model.onnx and FOLDER/TEST/test_data_set_N/{input,output}_M.pb
"""
import sys
import warnings
from pathlib import Path

from onnx import numpy_helper

OPERATORS = {"Col2Im", "DepthToSpace", "SpaceToDepth"}


def main():
    folder = Path(sys.argv[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package computes the tests of every operator and overflows on purpose
        from onnx.backend.test.loader import load_model_tests

        cases = load_model_tests(kind="node")
    written = 0
    for case in cases:
        # Models that spell an operator out in others end in _expanded; they hold none of ours.
        if case.model is None or not {node.op_type for node in case.model.graph.node} & OPERATORS:
            continue
        target = folder / case.name
        target.mkdir(parents=True, exist_ok=True)
        (target / "model.onnx").write_bytes(case.model.SerializeToString())
        graph = case.model.graph
        for number, (inputs, outputs) in enumerate(case.data_sets):
            data_set = target / f"test_data_set_{number}"
            data_set.mkdir(exist_ok=True)
            for kind, arrays, infos in (("input", inputs, graph.input), ("output", outputs, graph.output)):
                for index, (array, info) in enumerate(zip(arrays, infos, strict=True)):
                    tensor = numpy_helper.from_array(array, info.name)
                    (data_set / f"{kind}_{index}.pb").write_bytes(tensor.SerializeToString())
        written += 1
    print(f"{written} node tests written")


if __name__ == "__main__":
    main()
