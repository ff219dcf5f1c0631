# SPDX-License-Identifier: Apache-2.0
"""Compares patchfold.monai with MONAI for every argument, within the tolerance of float32."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")
monai_inferers = pytest.importorskip("monai.inferers")

import patchfold.monai as ours  # noqa: E402
from monai.data import MetaTensor  # noqa: E402
from monai.data.utils import compute_importance_map  # noqa: E402
from patchfold import InvalidType, InvalidValue  # noqa: E402

theirs = monai_inferers.sliding_window_inference


def volume(*shape, dtype=torch.float32):
    return torch.rand(shape, generator=torch.Generator().manual_seed(3)).to(dtype)


def network(x):
    """Returns values that depend on an element's place in its window."""
    return torch.cat([torch.sin(x.cumsum(-1)), x.roll(1, -1) + x.mean((1, 2, 3), keepdim=True)], 1)


def both(x, *arguments, **options):
    return theirs(x, *arguments, **options), ours.sliding_window_inference(x, *arguments, **options)


def assert_same(expected, result, tolerance=1e-5):
    assert result.shape == expected.shape and result.dtype == expected.dtype and type(result) is type(expected)
    torch.testing.assert_close(result, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


CASES = list(
    itertools.product(
        [((2, 1, 40, 33), (16, 16)), ((2, 2, 20, 5), (8, -1)), ((1, 1, 21, 9), (24, 12)), ((1, 1, 20, 30), 7)],
        [0, 0.25, 0.5, (0.1, 0.9)],
        ["constant", "gaussian"],
    )
)


@pytest.mark.parametrize(("sizes", "overlap", "mode"), CASES)
def test_results_are_those_of_monai(sizes, overlap, mode):
    shape, roi = sizes
    for batch in (1, 5):
        assert_same(*both(volume(*shape), roi, batch, network, overlap, mode, 0.2))


def test_three_and_one_spatial_axes():
    for shape, roi in (((2, 1, 20, 17, 9), (8, 8, 12)), ((2, 3, 50), (16,)), ((1, 1, 9, 8, 7, 6), (4, 4, 4, 4))):
        assert_same(*both(volume(*shape), roi, 3, lambda x: x * 2 + x.flip(-1), 0.5, "gaussian"))


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_padding_modes(mode):
    value = 3.0 if mode == "constant" else 0.0
    assert_same(*both(volume(1, 1, 20, 30), (32, 16), 4, network, 0.5, padding_mode=mode, cval=value))


@pytest.mark.parametrize("scale", [0.05, 0.125, (0.3, 0.1)])
def test_importance_maps(scale):
    for extents in ((9, 16), (4, 5)):
        expected = compute_importance_map(extents, "gaussian", scale)
        assert_same(expected, ours.compute_importance_map(extents, "gaussian", scale), 1e-6)
    assert ours.compute_importance_map((30, 30), "gaussian", 0.05).min() == torch.tensor(1e-3)
    assert_same(*both(volume(1, 1, 40, 33), (9, 16), 4, network, 0.5, "gaussian", scale))


def test_maps_of_weights():
    weights = volume(16, 16)
    for given in (weights, weights[None, None]):
        assert_same(*both(volume(1, 1, 40, 30), (16, 16), 4, network, 0.5, roi_weight_map=given))
    weights[:8] = 0  # elements that only weights of 0 cover have no mean
    expected, result = both(volume(1, 1, 40, 30), (16, 16), 4, network, 0, roi_weight_map=weights)
    assert result.isnan().any()
    assert_same(expected, result)


ZOOMS = [(16, (40, 37), 2), (16, (40, 37), 4), (12, (41, 37), 3), (16, (41, 10), 2)]


@pytest.mark.parametrize(("roi", "image", "zoom"), ZOOMS)
def test_several_outputs_of_other_extents(roi, image, zoom):
    """Compares networks of two outputs. With three, MONAI would compute the third output's weights from the second's."""
    for net in (lambda x: (-x, x[..., ::zoom, ::zoom] + 1), lambda x: (-x, x.repeat_interleave(zoom, -1) * x.mean())):
        x = volume(1, 1, *image)
        expected, result = both(x, roi, 1, lambda w, net=net: dict(zip("ab", net(w), strict=True)), 0.5, "gaussian")
        assert list(result) == list(expected) == ["a", "b"]
        for key in expected:
            assert_same(expected[key], result[key])
        expected, result = both(x, roi, 1, lambda w, net=net: list(net(w)), 0.5)
        assert type(result) is type(expected) is tuple
        for one, other in zip(expected, result, strict=True):
            assert_same(one, other)
    assert_same(*both(x, roi, 1, lambda w: [w], 0.5))


def test_places_that_are_no_whole_numbers():
    """Checks windows 7 elements apart whose results have half the size. Like MONAI, patchfold rounds the places of these
    results down."""
    assert_same(*both(volume(2, 1, 40, 40), 10, 3, lambda x: x[..., ::2, ::2], 0.3, "gaussian"))


def test_gradients():
    found = []
    for inference in (theirs, ours.sliding_window_inference):
        x = volume(1, 1, 40, 30).requires_grad_()
        y = inference(x, (16, 16), 4, network, 0.5, "gaussian")
        (y * volume(*y.shape)).sum().backward()
        found.append(x.grad)
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)


def test_coordinates_arguments_and_condition():
    seen = []
    for inference in (theirs, ours.sliding_window_inference):
        calls = []

        def net(x, coordinates, bias, *, condition, scale, calls=calls):
            calls.append((coordinates, condition.clone()))
            return x * scale + bias + condition

        x = volume(2, 1, 20, 9)
        arguments = (16, 4, net, 0.5, "constant", 0.125, "constant", 0.0, None, None, False, None, None, None, -1, True, 2.0)
        y = inference(x, *arguments, condition=x + 1, scale=3)
        seen.append((calls, y))
    assert [c[0] for c in seen[0][0]] == [c[0] for c in seen[1][0]]
    assert all(torch.equal(a[1], b[1]) for a, b in zip(seen[0][0], seen[1][0], strict=True))
    assert_same(seen[0][1], seen[1][1])


def test_process_fn():
    def square(results, windows, weights):
        assert windows.shape[2:] == weights.shape == (16, 16)
        return tuple(2 * each for each in results), weights**2

    assert_same(*both(volume(2, 1, 40, 30), (16, 16), 4, network, 0.5, "gaussian", process_fn=square))


def test_weights_of_process_fn_count_for_their_windows():
    """Checks weights that change between windows. The expected values are written out, since MONAI divides the results of
    all windows by the weights of the first windows."""
    numbers = itertools.count(1)

    def weigh(results, windows, weights):
        return results, weights * next(numbers)

    x = torch.zeros(1, 1, 24)
    values = itertools.count(1)
    y = ours.sliding_window_inference(x, (16,), 1, lambda w: w + next(values), 0.5, process_fn=weigh)
    assert torch.equal(y[0, 0], torch.cat([torch.full((8,), 1.0), torch.full((8,), 5 / 3), torch.full((8,), 2.0)]))


@pytest.mark.parametrize("steps", [1, 2])
def test_buffers_change_nothing(steps):
    for axis in (0, -1):
        assert_same(*both(volume(2, 1, 40, 30), (16, 16), 4, network, 0.5, "gaussian", buffer_steps=steps, buffer_dim=axis))
    for inference in (theirs, ours.sliding_window_inference):
        with pytest.raises(ValueError, match="buffer_dim must be in|buffer_dim: must be in"):
            inference(volume(1, 1, 40, 30), (16, 16), 4, network, buffer_steps=steps, buffer_dim=3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64])
def test_types(dtype):
    expected, result = both(volume(1, 1, 40, 30, dtype=dtype), (16, 16), 4, lambda x: x, 0.5, "gaussian")
    assert_same(expected, result, 0.02 if dtype in (torch.float16, torch.bfloat16) else 1e-6)
    assert_same(
        *both(volume(1, 1, 40, 30), (16, 16), 4, lambda x: x.to(torch.float16 if dtype.itemsize == 2 else torch.float64))
    )


def test_integers():
    """Checks results for integer inputs. MONAI fails for such inputs, since it gives results the type of the inputs."""
    x = (volume(1, 1, 40, 30) * 255).to(torch.uint8)
    with pytest.raises(RuntimeError):
        theirs(x, (16, 16), 4, lambda w: w / 255, 0.5)
    y = ours.sliding_window_inference(x, (16, 16), 4, lambda w: w / 255, 0.5)
    assert y.dtype == torch.float32
    torch.testing.assert_close(y, x / 255)
    y = ours.sliding_window_inference(x, (16, 16), 4, lambda w: w.numpy() / np.float32(255), 0.5)
    torch.testing.assert_close(y, x / 255)
    with pytest.raises(InvalidType, match="argmax"):
        ours.sliding_window_inference(x / 255, (16, 16), 4, lambda w: w > 0.5)


def test_meta_tensors():
    x = MetaTensor(volume(1, 1, 40, 30), affine=torch.diag(torch.tensor([2.0, 3, 4, 1])), meta={"name": "scan"})
    expected, result = both(x, (16, 16), 4, network, 0.5)
    assert_same(expected, result)
    assert torch.equal(expected.affine, result.affine) and result.meta["name"] == expected.meta["name"] == "scan"
    for each in ours.sliding_window_inference(x, (16, 16), 4, lambda w: (w, w[..., ::2])):
        assert isinstance(each, MetaTensor) and torch.equal(each.affine, x.affine)
    seen = []
    ours.sliding_window_inference(x, (16, 16), 4, lambda w: (seen.append(type(w)), w)[1])
    assert set(seen) == {torch.Tensor}


def test_inferers_have_the_arguments_and_results_of_monai():
    import inspect

    for name in ("SlidingWindowInferer", "SlidingWindowInfererAdapt"):
        mine, other = getattr(ours, name), getattr(monai_inferers, name)
        names = list(inspect.signature(other.__init__).parameters)
        assert list(inspect.signature(mine.__init__).parameters) == names
        given = {"roi_size": (16, 16), "sw_batch_size": 3, "overlap": 0.5, "mode": "gaussian", "cpu_thresh": 10}
        one, another = mine(**given), other(**given)
        assert_same(another(volume(1, 1, 40, 30), network), one(volume(1, 1, 40, 30), network))
        for argument in set(names) - {"self", "cache_roi_weight_map"}:
            assert getattr(one, argument) == getattr(another, argument)
    with pytest.raises(ValueError):
        ours.SlidingWindowInferer((16, 16), mode="bad")
    with pytest.raises(ValueError, match="shape of inputs"):
        ours.SlidingWindowInferer((16, 16))(volume(1, 1, 40, 30), network, condition=volume(1, 2, 40, 30))
    parameters = list(inspect.signature(ours.sliding_window_inference).parameters)
    assert [p for p in parameters if p != "out"] == list(inspect.signature(theirs).parameters)


class Store:
    """A store whose slices can be assigned, like zarr's arrays."""

    def __init__(self, shape, dtype):
        self.held = np.full(shape, np.nan, dtype)
        self.shape, self.dtype, self.rows = shape, self.held.dtype, []

    def __setitem__(self, place, values):
        self.rows.append(place[2].stop - place[2].start)
        self.held[place] = values


@pytest.mark.parametrize("mode", ["constant", "gaussian"])
def test_out(mode, tmp_path):
    x = volume(2, 1, 40, 30)
    expected = theirs(x, (16, 16), 3, network, 0.5, mode)
    file = np.lib.format.open_memmap(tmp_path / "y.npy", "w+", np.float32, (2, 2, 40, 30))
    store = Store((2, 2, 40, 30), np.float32)
    for out in (torch.empty(2, 2, 40, 30), file, store):
        assert ours.sliding_window_inference(x, (16, 16), 3, network, 0.5, mode, out=out) is out
        held = out.held if out is store else out
        torch.testing.assert_close(torch.as_tensor(np.asarray(held)), expected, rtol=1e-5, atol=1e-5)
    assert max(store.rows) < 40, "a store gets rows, not whole images"
    wrong = {"shape": torch.empty(2, 2, 40, 31), "type": torch.empty(2, 2, 40, 30, dtype=torch.float64), "array": [1]}
    for word, out in wrong.items():
        with pytest.raises((InvalidValue, InvalidType), match=word):
            ours.sliding_window_inference(x, (16, 16), 3, network, out=out)
    with pytest.raises(InvalidValue, match="2 results"):
        ours.sliding_window_inference(x, (16, 16), 3, lambda w: (w, w), out=torch.empty(2, 1, 40, 30))


def test_windows_are_copies():
    x = volume(1, 1, 40, 30)
    before = x.clone()
    ours.sliding_window_inference(x, (16, 16), 1, lambda w: w.zero_())
    assert torch.equal(x, before)


WRONG = [
    ({"roi_size": (16, 16, 16)}, "must have 5 dimensions"),
    ({"overlap": 1.0}, "overlap: must be at least 0 and less than 1"),
    ({"overlap": -0.1}, "overlap: must be at least 0"),
    ({"overlap": (0.1, 0.1, 0.1)}, "overlap: must be one number or have an entry for each spatial axis"),
    ({"mode": "hann"}, "mode: must be one of MONAI's importance maps; given hann, expected 'constant' or 'gaussian'"),
    ({"mode": "gaussian", "sigma_scale": 0.0}, "sigma_scale: must be greater than 0"),
    ({"sw_batch_size": 0}, "sw_batch_size: must be an integer of at least 1"),
    ({"roi_weight_map": torch.ones(3)}, "roi_weight_map: must have the extents of a window"),
    ({"roi_weight_map": -torch.ones(16, 16)}, "roi_weight_map: must hold finite weights of at least 0"),
    ({"inputs": torch.ones(0, 1, 20, 20)}, "inputs: must have elements"),
    ({"predictor": lambda x: x[:1]}, "predictor: must return"),
    ({"predictor": lambda x: "text"}, "predictor: must return a tensor"),
    ({"predictor": lambda x: []}, "predictor: must return at least one tensor"),
    ({"condition": torch.ones(1, 1, 40, 31)}, "condition: must have the batch and spatial extents of inputs"),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_arguments(change, message):
    given = {
        "inputs": volume(1, 1, 40, 30),
        "roi_size": (16, 16),
        "sw_batch_size": 4,
        "predictor": lambda x, **_: x,
    } | change
    with pytest.raises((InvalidValue, InvalidType)) as caught:
        ours.sliding_window_inference(**given)
    assert message in str(caught.value)


def test_errors_of_the_predictor_pass():
    with pytest.raises(ZeroDivisionError):
        ours.sliding_window_inference(volume(1, 1, 40, 30), 16, 4, lambda x: 1 / 0)


@pytest.mark.parametrize(
    ("word", "theirs"),
    [("edge", "replicate"), ("wrap", "circular"), ("zeros", "constant"), ("CONSTANT", "constant"), ("REFLECT", "reflect")],
)
def test_words_for_padding_of_numpy_and_tensorflow(word, theirs):
    image, seen = torch.rand(1, 2, 6, 6), []
    for mode in (word, theirs):
        ours.sliding_window_inference(image, (8, 9), 1, lambda x: seen.append(x) or x, padding_mode=mode)
    assert torch.equal(*seen)


def test_a_word_that_pads_with_zero_takes_no_other_fill():
    image = torch.rand(1, 2, 6, 6)
    for call in (
        lambda **fill: ours.sliding_window_inference(image, (8, 9), 1, lambda x: x, **fill),
        lambda **fill: ours.SlidingWindowInferer((8, 9), 1, **fill)(image, lambda x: x),
    ):
        with pytest.raises(InvalidValue, match="cval: does not go with padding_mode zeros, which pads with 0; given 5"):
            call(padding_mode="zeros", cval=5)
        assert torch.equal(call(padding_mode="zeros", cval=0.0), image)
        assert torch.equal(call(padding_mode="CONSTANT", cval=5), image)


def test_symmetric_padding():
    image, seen = torch.rand(1, 2, 6, 6), []
    ours.sliding_window_inference(image, (8, 9), 1, lambda x: seen.append(x) or x, padding_mode="symmetric")
    assert np.array_equal(seen[0][0], np.pad(image[0], ((0, 0), (1, 1), (1, 2)), mode="symmetric"))


@pytest.mark.parametrize("mode", ["constant", "gaussian"])
def test_out_may_be_a_function(mode):
    image, bands = torch.rand(1, 2, 20, 30), []
    settings = {"roi_size": (8, 8), "sw_batch_size": 4, "predictor": lambda x: x * 2, "overlap": 0.5, "mode": mode}
    want = ours.sliding_window_inference(image, **settings)
    assert (
        ours.sliding_window_inference(image, **settings, out=lambda rows, band: bands.append((rows, band.clone()))) is None
    )
    assert [rows.start for rows, _ in bands] == [0, *(rows.stop for rows, _ in bands[:-1])] and bands[-1][0].stop == 20
    assert torch.equal(torch.cat([band for _, band in bands], dim=2), want)
    with pytest.raises(InvalidValue, match="out: takes the rows of one image where it is a function"):
        ours.sliding_window_inference(image.expand(2, -1, -1, -1), **settings, out=bands.append)
