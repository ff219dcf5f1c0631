# SPDX-License-Identifier: Apache-2.0
"""Tests of programs that switch from MONAI or TorchIO by one line. test_monai.py and test_torchio.py test every argument."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
if importlib.util.find_spec("monai") is None or importlib.util.find_spec("torchio") is None:
    pytest.skip("could be compared only where monai and torchio are installed", allow_module_level=True)

import patchfold  # noqa: E402

SWITCH = Path(__file__).parents[2] / "bench" / "switch.py"
GRID = SWITCH.with_name("sliding_window.py")


def network(x):
    return torch.cat([x.sin(), x.cumsum(-1).cos()], 1)


@pytest.mark.parametrize("mode", ["constant", "gaussian"])
def test_monais_users_switch_in_one_line(mode):
    results = []
    for line in ("from monai.inferers import *", "from patchfold.monai import *"):
        space = {}
        exec(line, space)
        image = torch.rand(1, 1, 40, 36, 20, generator=torch.Generator().manual_seed(0))
        arguments = {"inputs": image, "roi_size": (16, 16, 16), "sw_batch_size": 4, "predictor": network}
        results.append(space["sliding_window_inference"](**arguments, overlap=0.5, mode=mode))
        inferer = space["SlidingWindowInferer"](roi_size=(16, 16, 16), sw_batch_size=4, overlap=0.5, mode=mode)
        results.append(inferer(image, network))
    for other in results[1:]:
        torch.testing.assert_close(other, results[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", ["crop", "average", "hann"])
def test_torchios_users_switch_in_one_line(mode):
    import torchio

    results = []
    for line in (
        "from torchio import GridAggregator, GridSampler",
        "from patchfold.torchio import GridAggregator, GridSampler",
    ):
        space = {}
        exec(line, space)
        image = torch.rand(1, 20, 18, 16, generator=torch.Generator().manual_seed(0))
        subject = torchio.Subject(t1=torchio.ScalarImage(tensor=image))
        sampler = space["GridSampler"](subject, patch_size=8, patch_overlap=4, padding_mode="reflect")
        aggregator = space["GridAggregator"](sampler, overlap_mode=mode)
        for batch in torchio.SubjectsLoader(sampler, batch_size=4):
            aggregator.add_batch(network(batch["t1"][torchio.DATA]), batch[torchio.LOCATION])
        results.append(aggregator.get_output_tensor())
    torch.testing.assert_close(results[1], results[0], rtol=1e-5, atol=1e-5)


def test_the_weights_of_monai_have_a_name():
    """Checks that the window "gaussian", which has no least weight, differs from MONAI's window, and that MONAI's weights,
    given as a window, give MONAI's result.
    """
    from monai.inferers import sliding_window_inference

    x = torch.rand(1, 64, 64, generator=torch.Generator().manual_seed(0))
    expected = sliding_window_inference(x[None], (32, 32), 1, network, 0.25, "gaussian")[0]
    weights = patchfold.monai.compute_importance_map((32, 32), "gaussian")
    options = {"overlap": 0.25, "progress": False}
    result = patchfold.apply_tiled(lambda tile: network(tile[None])[0], x, (32, 32), window=weights, **options)
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)
    other = patchfold.apply_tiled(lambda tile: network(tile[None])[0], x, (32, 32), window="gaussian", **options)
    assert (other - expected).abs().max() > 1e-3


def test_memory_stands_beside_theirs():
    done = subprocess.run(
        [sys.executable, str(SWITCH), "--size", "192", "--window", "32", "--rounds", "0", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == 5
    for row in rows:
        assert row["difference"] < 1e-5
        theirs, ours = row["bytes"]
        # With crop, neither side needs memory for sums of weights or counts: parts of tiles are written to their places.
        assert ours < theirs * (1.1 if row["case"].endswith("crop") else 1), row


def test_the_grid_of_windows_has_a_line_for_each_case():
    done = subprocess.run(
        [sys.executable, str(GRID), "--rounds", "0", "--only", "192 | 32"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    heads, _, line = ([cell.strip() for cell in row.strip("| ").split("|")] for row in done.stdout.splitlines())
    row = dict(zip(heads, line, strict=True))
    assert row["classes"] == "2" and row["MB of output"] == "57" and "s, MONAI" not in row
    assert int(row["MB, patchfold"]) < int(row["MB, MONAI"])
