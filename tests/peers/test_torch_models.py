# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.models.inspect on programs of torch.export: the models of model_zoo.py, written in torch."""

import io
import json
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
import patchfold.torch  # noqa: E402
from model_zoo import CASES  # noqa: E402
from onnx import helper  # noqa: E402
from patchfold._arrays.dtypes import BY_TORCH_CODE  # noqa: E402
from patchfold.models import ModelError, inspect  # noqa: E402
from patchfold.models._torch import evaluated  # noqa: E402

F = torch.nn.functional


def test_element_types_have_the_numbers_of_torch_export():
    from torch._export.serde import serialize

    theirs = serialize._TORCH_TO_SERIALIZE_DTYPE
    for number, name in BY_TORCH_CODE.items():
        assert theirs[getattr(torch, name)].value == number


class Written(torch.nn.Module):
    """The nodes of a case as calls of torch."""

    def __init__(self, case):
        super().__init__()
        self.case = case
        for name, values in case.constants.items():
            self.register_buffer(f"held_{name}", torch.from_numpy(np.array(values)))

    def forward(self, x):
        values = {"x": x}
        for node in self.case.nodes:
            given = [values.get(name) for name in node.input]
            settings = [self.case.constants.get(name) for name in node.input]
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            made = getattr(self, node.op_type)(given, settings, attributes, node)
            values[node.output[0]] = made
        return values["y"]

    def Reshape(self, given, settings, attributes, node):
        return given[0].reshape(settings[1].tolist())

    def Transpose(self, given, settings, attributes, node):
        return given[0].permute(list(attributes["perm"]))

    def Einsum(self, given, settings, attributes, node):
        return torch.einsum(attributes["equation"].decode(), given[0])

    def Unsqueeze(self, given, settings, attributes, node):
        return given[0].unsqueeze(int(settings[1][0]))

    def Pad(self, given, settings, attributes, node):
        half = len(settings[1]) // 2
        pairs = list(zip(settings[1][:half].tolist(), settings[1][half:].tolist(), strict=True))[::-1]
        return F.pad(given[0], [pad for pair in pairs for pad in pair])

    def Slice(self, given, settings, attributes, node):
        begins, ends, axes = (values.tolist() for values in settings[1:4])
        steps = settings[4].tolist() if len(settings) > 4 else [1] * len(axes)
        where = [slice(None)] * given[0].dim()
        for axis, begin, end, step in zip(axes, begins, ends, steps, strict=True):
            where[axis] = slice(begin, end, step)
        return given[0][tuple(where)]

    def Concat(self, given, settings, attributes, node):
        return torch.cat(given, attributes["axis"])

    def Gather(self, given, settings, attributes, node):
        at = [slice(None)] * attributes["axis"] + [getattr(self, f"held_{node.input[1]}")]
        return given[0][tuple(at)]

    def Conv(self, given, settings, attributes, node):
        weights = getattr(self, f"held_{node.input[1]}")
        rank = weights.dim() - 2
        pads = attributes.get("pads", [0] * 2 * rank)
        call = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[weights.dim()]
        return call(
            given[0], weights, stride=attributes.get("strides", [1] * rank), padding=list(pads[:rank]),
            dilation=attributes.get("dilations", [1] * rank), groups=attributes.get("group", 1),
        )  # fmt: skip

    def DepthToSpace(self, given, settings, attributes, node):
        assert attributes["mode"] == b"CRD"
        return F.pixel_shuffle(given[0], attributes["blocksize"])

    def SpaceToDepth(self, given, settings, attributes, node):
        """Returns space_to_depth with all channels of an offset side by side, as in ONNX; pixel_unshuffle has the other
        order."""
        n, c, h, w = given[0].shape
        b = attributes["blocksize"]
        x = given[0].reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4)
        return x.reshape(n, c * b * b, h // b, w // b)

    def Col2Im(self, given, settings, attributes, node):
        extents, kernel = settings[1].tolist(), settings[2].tolist()
        padded = [extent + 2 * pad for extent, pad in zip(extents, (1, 0), strict=True)]
        assert list(attributes["pads"]) == [1, 0, 1, 0]
        return F.fold(given[0], padded, kernel)[:, :, 1 : 1 + extents[0], : extents[1]]


def exported(module, *given, **options):
    return torch.export.export(module.eval(), given, **options)


def saved(program, path):
    torch.export.save(program, path)
    return path


def same(block, axes):
    return (block,) * axes if isinstance(block, int) else block


@pytest.mark.parametrize("decomposed", [False, True], ids=["as traced", "decomposed"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_program_holds_what_the_onnx_model_holds(case, decomposed, tmp_path):
    program = exported(Written(case), torch.zeros(case.shape))
    if decomposed:
        program = program.run_decompositions()
    report = inspect(saved(program, tmp_path / "m.pt2"), timed=False)
    sums = case.name == "Col2Im itself"
    if case.operator is None or (sums and decomposed):  # inspect names no sums, such as torch's decomposed fold
        assert report.findings == ()
        return
    (finding,) = report.findings
    expected = dict(case.arguments)
    if sums:  # torch pads both ends alike, so the case crops the result.
        expected = {"output_size": (7, 8), "kernel_size": (2, 2)}
    if "block" in expected:
        expected["block"] = same(expected["block"], 2)
    assert (finding.operator, finding.arguments, finding.exact) == (case.operator, expected, case.exact)
    assert finding.source_shape == case.shape and finding.dtype == "float32"


class Own(torch.nn.Module):
    """A module that calls patchfold's own operators of torch, which an export keeps."""

    def forward(self, x):
        columns = patchfold.torch.unfold(x, (3, 3), padding=1)
        image = patchfold.torch.fold(columns * 2, (8, 8), (3, 3), padding=1)
        return patchfold.torch.pixel_shuffle(patchfold.torch.pixel_unshuffle(image, 2) + 1, 2)


class Theirs(torch.nn.Module):
    """A module that calls the operators of torch itself."""

    def forward(self, x):
        columns = F.unfold(x, (3, 3), padding=1)
        image = F.fold(columns * 2, (8, 8), (3, 3), padding=1)
        return F.pixel_shuffle(F.pixel_unshuffle(image, 2) + 1, 2)


@pytest.mark.parametrize("module", [Own, Theirs])
def test_operators_themselves_are_named(module):
    findings = inspect(exported(module(), torch.zeros(2, 4, 8, 8)), timed=False).findings
    window = {"kernel_size": (3, 3), "padding": (1, 1)}
    assert [(finding.operator, finding.arguments) for finding in findings] == [
        ("unfold", window),
        ("fold", {"output_size": (8, 8), **window}),
        ("space_to_depth", {"block": (2, 2), "mode": "depth_first"}),
        ("depth_to_space", {"block": (2, 2), "mode": "depth_first"}),
    ]
    assert findings[1].source_shape == (2, 36, 64) and findings[1].shape == (2, 4, 8, 8)


class Calls(torch.nn.Module):
    """A module that calls neutral functions, which the operator patchfold::linear runs, and patchfold.torch.contiguous."""

    def forward(self, x):
        y = patchfold.space_to_depth(x, 2, layout="channels_last") + 1
        y = patchfold.unfold(y, (2, 2), stride=2, layout="channels_last", positions="grid") + 1
        return patchfold.torch.pixel_shuffle(patchfold.torch.contiguous(y.permute(0, 3, 1, 2)), 2)


@pytest.mark.parametrize("options", [{}, {"dynamic_shapes": ({0: torch.export.Dim("n")},)}], ids=["static", "open"])
def test_calls_of_neutral_functions_are_named(options):
    findings = inspect(exported(Calls(), torch.zeros(2, 8, 8, 4), **options), timed=False).findings
    last = {"layout": "channels_last"}
    assert [(finding.operator, finding.arguments) for finding in findings] == [
        ("space_to_depth", {"block": (2, 2), **last}),
        ("unfold", {"kernel_size": (2, 2), "stride": (2, 2), **last, "positions": "grid"}),
        ("depth_to_space", {"block": (2, 2), "mode": "depth_first"}),
    ]
    assert [finding.shape for finding in findings] == [(2, 4, 4, 16), (2, 2, 2, 64), (2, 16, 4, 4)]


class Halves(torch.nn.Module):
    def forward(self, x):
        n, c, h, w = x.shape
        return torch.relu(x).reshape(n, c, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4).reshape(n, c * 4, h // 2, w // 2)


def test_open_sizes_are_those_of_the_export_or_given(tmp_path):
    batch, rows = torch.export.Dim("batch"), torch.export.Dim("rows", max=64)
    program = exported(Halves(), torch.zeros(3, 2, 8, 6), dynamic_shapes=({0: batch, 2: 2 * rows},))
    path = saved(program, tmp_path / "m.pt2")
    report = inspect(path, timed=False)
    assert report.notes == ("open size x.0 taken as 3", "open size x.2 taken as 8")
    assert report.findings[0].source_shape == (3, 2, 8, 6)
    (finding,) = inspect(path, sizes={"x.0": 5, "x.2": 12}, timed=False).findings
    assert finding.operator == "space_to_depth" and finding.source_shape == (5, 2, 12, 6)
    with pytest.raises(ModelError, match="sizes: the model has no open dimension 'batch'; it has x.0, x.2"):
        inspect(path, sizes={"batch": 5})
    with pytest.raises(ModelError, match="sizes: x.2 must be a multiple of 2; given 7"):
        inspect(path, sizes={"x.2": 7})


class Branches(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: F.pixel_shuffle(x, 2), lambda x: F.pixel_shuffle(x + 1, 2), (x,))


def test_bodies_are_read():
    findings = inspect(exported(Branches(), torch.zeros(1, 4, 3, 3)), timed=False).findings
    assert [finding.operator for finding in findings] == ["depth_to_space"] * 2
    assert " in cond" in findings[0].nodes[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Symbol('s77', integer=True, positive=True)", 6),
        ("Mul(Integer(2), Symbol('s77', integer=True))", 12),
        ("Add(FloorDiv(Symbol('s77'), Integer(4)), Integer(-1))", 0),
        ("Symbol('other')", None),
        ("__import__('os').getpid()", None),
        ("Pow(Integer(10), Integer(1000000000))", None),
        ("Mul(" * 3000, None),
    ],
)
def test_sizes_are_worked_out_without_running_text(text, value):
    assert evaluated(text, {"s77": 6}) == value


# Tests of bad files.


def archive(change=None, drop=()):
    """Returns the bytes of a saved program whose JSON `change` has changed, and which lacks the files `drop`."""
    buffer = io.BytesIO()
    torch.export.save(exported(Theirs(), torch.zeros(2, 4, 8, 8)), buffer)
    result = io.BytesIO()
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if change and name.endswith("models/model.json"):
                program = json.loads(data)
                change(program)
                data = json.dumps(program).encode()
            if not name.endswith(tuple(drop)):
                new.writestr(name, data)
    return result.getvalue()


def refused(tmp_path, data, text):
    path = tmp_path / "m.pt2"
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        inspect(path, timed=False)
    assert text in str(caught.value)


def nodes(program):
    return program["graph_module"]["graph"]["nodes"]


def circle(program):
    nodes(program)[0]["inputs"][0]["arg"]["as_tensor"]["name"] = nodes(program)[-1]["outputs"][0]["as_tensor"]["name"]


def size(number):
    def change(program):
        program["graph_module"]["graph"]["tensor_values"]["x"]["sizes"][0] = {"as_int": number}

    return change


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (circle, "node im2col (aten.im2col): its input 'pixel_shuffle' is made by no node before it"),
        (lambda program: program["schema_version"].update(major=99), "has version 99 of torch.export's format; 8 is read"),
        (lambda program: program.clear(), "is no sound program of torch.export: KeyError: 'schema_version'"),
        (size(-3), "tensor 'x': its shape [-3, 4, 8, 8] cannot be"),
        (size(1 << 62), "is no size"),
        (size("many"), "many is no size"),
    ],
)
def test_damaged_programs_are_refused(change, text, tmp_path):
    refused(tmp_path, archive(change), text)


def test_other_files_are_refused(tmp_path):
    refused(tmp_path, b"", "m.pt2: is no program of torch.export, or is cut short")
    refused(tmp_path, archive()[:400], "m.pt2: is no program of torch.export, or is cut short")
    refused(tmp_path, archive(drop=["model.json"]), "m.pt2: is no program of torch.export: it holds no models/*.json")
    with pytest.raises(ModelError, match="none.pt2: cannot be read: No such file or directory"):
        inspect(tmp_path / "none.pt2")


def test_pickles_of_a_program_are_not_run(tmp_path):
    """Checks a program with an example input whose unpickling would create a file."""
    mark = tmp_path / "mark"

    class Bad:
        def __reduce__(self):
            return Path.touch, (mark,)

    buffer, result = io.BytesIO(), io.BytesIO(archive(drop=["sample_inputs/model.pt"]))
    torch.save((Bad(),), buffer)
    with zipfile.ZipFile(result, "a") as file:
        root = file.namelist()[0].partition("/")[0]
        file.writestr(f"{root}/data/sample_inputs/model.pt", buffer.getvalue())
    path = tmp_path / "m.pt2"
    path.write_bytes(result.getvalue())
    assert len(inspect(path, timed=False).findings) == 4
    assert not mark.exists()


@pytest.fixture(scope="module")
def sound():
    buffer = io.BytesIO()
    case = next(case for case in CASES if case.name == "im2col as torch exports it")
    torch.export.save(exported(Written(case), torch.zeros(case.shape)), buffer)
    return buffer.getvalue()


OTHERS = [0, -1, 1 << 40, 1 << 70, 1.5, None, True, "x", [], {}, [1]]


def exchanged(text, draw):
    """Returns JSON in which a few values are replaced by new values, or by other values of the same JSON."""
    tree = json.loads(text)
    places = []

    def walk(value):
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            walk(value[key])

    walk(tree)
    for _ in range(draw.randint(1, 3)):
        holder, key = draw.choice(places)
        holder[key] = draw.choice(OTHERS)
    return json.dumps(tree).encode()


@pytest.mark.parametrize("seed", range(120))
def test_damaged_files_are_read_or_refused(seed, sound, tmp_path):
    """Tests archives in which bytes of the archive, bytes of a file in it, or values of the program are changed."""
    draw = random.Random(seed)
    data = bytearray(sound)
    if seed % 3:
        result = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(sound)) as old, zipfile.ZipFile(result, "w") as new:
            for name in old.namelist():
                part = bytearray(old.read(name))
                if name.endswith("models/model.json") and seed % 3 == 2:
                    part = exchanged(part, draw)
                elif name.endswith(".json") and seed % 3 == 1:
                    for _ in range(draw.randint(1, 6)):
                        part[draw.randrange(len(part))] = draw.choice(b'0123456789-,:"{}[] az')
                new.writestr(name, bytes(part))
        data = bytearray(result.getvalue())
    else:
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        if draw.random() < 0.3:
            del data[draw.randrange(len(data)) :]
    path = tmp_path / "m.pt2"
    path.write_bytes(data)
    try:
        inspect(path, timed=False)
    except ModelError as error:
        assert str(error)
