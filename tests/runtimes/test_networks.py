# SPDX-License-Identifier: Apache-2.0
"""Tests that two networks give equal results in both runtimes, with patchfold's library and without it."""

import io
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from networks import NETWORKS
from systems import in_onnxruntime, in_openvino, left_over


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("run", [in_onnxruntime, in_openvino])
def test_networks_compute_the_same(name: str, run: Any) -> None:
    module, x = NETWORKS[name]()
    file = io.BytesIO()
    torch.onnx.export(module, (x,), file, dynamo=False, opset_version=18, input_names=["x"])
    model = onnx.load_model_from_string(file.getvalue())
    assert left_over(model) == 0
    theirs, ours = (run(model, [x.numpy()], with_library)[0] for with_library in (False, True))
    # In the changed graph, the runtime's own convolutions and products may sum in another order.
    np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-4 * float(np.abs(theirs).max()))
    with torch.no_grad():
        expected = module(x).numpy()
    np.testing.assert_allclose(ours, expected, rtol=2e-3, atol=2e-3 * float(np.abs(expected).max()))
