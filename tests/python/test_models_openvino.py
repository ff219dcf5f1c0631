# SPDX-License-Identifier: Apache-2.0
"""Tests of patchfold.models.inspect on OpenVINO's IR, without OpenVINO: its findings, and the errors of bad files."""

import random
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from patchfold.models import ModelError, inspect

TYPES = {np.dtype("int64"): "i64", np.dtype("float32"): "f32"}


class Writer:
    """A writer of IR files, with layers in the order in which they are added, and their constants."""

    def __init__(self):
        self.layers, self.edges, self.data = [], [], b""

    def layer(self, kind, inputs, dims, *, name=None, dtype="FP32", **data):
        """Adds a layer with one output; returns it as (id, port)."""
        number, count = len(self.layers), len(inputs)
        for port, (source, source_port) in enumerate(inputs):
            begin, end = f'from-layer="{source}" from-port="{source_port}"', f'to-layer="{number}" to-port="{port}"'
            self.edges.append(f"<edge {begin} {end} />")
        attributes = " ".join(f"{key}={quoteattr(str(value))}" for key, value in data.items())
        ports = "".join(f'<port id="{port}" />' for port in range(count))
        extents = "".join(f"<dim>{extent}</dim>" for extent in dims)
        made = "" if kind == "Result" else f'<output><port id="{count}" precision="{dtype}">{extents}</port></output>'
        name = name or f"{kind}_{number}"
        begin = f'<layer id="{number}" name={quoteattr(name)} type="{kind}"><data {attributes} />'
        self.layers.append(f"{begin}<input>{ports}</input>{made}</layer>")
        return number, count

    def constant(self, values):
        values = np.asarray(values)
        offset, self.data = len(self.data), self.data + values.tobytes()
        shape = ", ".join(map(str, values.shape))
        code = TYPES[values.dtype]
        data = {"element_type": code, "shape": shape, "offset": offset, "size": values.nbytes}
        return self.layer("Const", [], values.shape, dtype=code.upper(), **data)

    def save(self, folder, result):
        self.layer("Result", [result], ())
        (folder / "m.bin").write_bytes(self.data)
        layers, edges = "".join(self.layers), "".join(self.edges)
        text = f'<?xml version="1.0"?><net name="m" version="11"><layers>{layers}</layers><edges>{edges}</edges></net>'
        (folder / "m.xml").write_text(text)
        return folder / "m.xml"


def ints(*values):
    return np.array(values, np.int64)


def shuffle(writer, x):
    """Adds the pixel shuffle of 1x12x4x5 as Reshape, Transpose, Reshape."""
    blocks = writer.layer("Reshape", [x, writer.constant(ints(1, 3, 2, 2, 4, 5))], (1, 3, 2, 2, 4, 5), special_zero="false")
    order = writer.constant(ints(0, 1, 4, 2, 5, 3))
    moved = writer.layer("Transpose", [blocks, order], (1, 3, 4, 2, 5, 2))
    return writer.layer("Reshape", [moved, writer.constant(ints(1, 3, 8, 10))], (1, 3, 8, 10), special_zero="false")


def parameter(writer, *shape):
    return writer.layer("Parameter", [], shape, name="x", shape=",".join(map(str, shape)), element_type="f32")


def found(path):
    return [(finding.operator, finding.arguments) for finding in inspect(path, timed=False).findings]


def test_disguised_operator_is_found(tmp_path):
    writer = Writer()
    path = writer.save(tmp_path, shuffle(writer, parameter(writer, 1, 12, 4, 5)))
    (finding,) = inspect(path, timed=False).findings
    assert (finding.operator, finding.arguments) == ("depth_to_space", {"block": (2, 2), "mode": "depth_first"})
    assert finding.kinds == ("Reshape", "Transpose", "Reshape") and finding.dtype == "float32"
    assert finding.source_shape == (1, 12, 4, 5) and finding.shape == (1, 3, 8, 10)


def test_slices_gathers_and_convolutions_are_followed(tmp_path):
    writer = Writer()
    x = parameter(writer, 1, 2, 5, 6)
    parts = []
    for i in range(2):
        for j in range(2):
            ends = writer.constant(ints(i + 4, j + 5))
            part = [x, writer.constant(ints(i, j)), ends, writer.constant(ints(1, 1)), writer.constant(ints(2, 3))]
            parts.append(writer.layer("Slice", part, (1, 2, 4, 5)))
    stacked = writer.layer("Concat", parts, (1, 8, 4, 5), axis=1)
    flat = writer.layer("Reshape", [stacked, writer.constant(ints(1, 8, 20))], (1, 8, 20))
    assert found(writer.save(tmp_path, flat)) == [("unfold", {"kernel_size": (2, 2), "order": "kernel"})]
    writer = Writer()
    x = parameter(writer, 1, 2, 5, 6)
    filters = writer.constant(np.eye(8, dtype=np.float32).reshape(8, 2, 2, 2))
    strides = {"strides": "1, 1", "dilations": "1, 1", "pads_begin": "1, 0", "pads_end": "1, 0", "auto_pad": "explicit"}
    y = writer.layer("Convolution", [x, filters], (1, 8, 6, 5), **strides)
    path = writer.save(tmp_path, y)
    assert found(path) == [("unfold", {"kernel_size": (2, 2), "padding": (1, 0), "positions": "grid"})]
    assert "a convolution gives NaN" in inspect(path, timed=False).findings[0].notes[0]


@pytest.mark.parametrize(
    ("kind", "shape", "settings", "data", "operator", "arguments"),
    [
        ("DepthToSpace", (1, 12, 2, 3), [], {"block_size": 2, "mode": "depth_first"}, "depth_to_space",
         {"block": 2, "mode": "depth_first"}),
        ("SpaceToDepth", (1, 3, 4, 6), [], {"block_size": 2, "mode": "blocks_first"}, "space_to_depth",
         {"block": 2, "mode": "blocks_first"}),
        ("SpaceToBatch", (1, 3, 4, 6), [ints(1, 1, 2, 3), ints(0, 0, 1, 0), ints(0, 0, 1, 0)], {}, "space_to_batch",
         {"block": (1, 2, 3), "padding": [(0, 0), (1, 1), (0, 0)]}),
        ("BatchToSpace", (4, 3, 2, 3), [ints(1, 1, 2, 2), ints(0, 0, 0, 0), ints(0, 0, 0, 0)], {}, "batch_to_space",
         {"block": (1, 2, 2)}),
        ("Col2Im", (1, 12, 12), [ints(3, 4), ints(2, 2)],
         {"strides": "1,1", "dilations": "1,1", "pads_begin": "1,0", "pads_end": "0,1"}, "fold",
         {"output_size": (3, 4), "kernel_size": (2, 2), "padding": [(1, 0), (0, 1)]}),
        ("ExtractImagePatches", (1, 2, 9, 10), [],
         {"sizes": "3,3", "strides": "4,4", "rates": "1,2", "auto_pad": "same_upper"}, "unfold",
         {"kernel_size": (3, 3), "stride": (4, 4), "dilation": (1, 2), "padding": [(1, 1), (1, 2)], "order": "kernel",
          "positions": "grid"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_operators_themselves_are_named(tmp_path, kind, shape, settings, data, operator, arguments):
    writer = Writer()
    x = parameter(writer, *shape)
    y = writer.layer(kind, [x, *(writer.constant(values) for values in settings)], (1, 1, 1, 1), **data)
    assert found(writer.save(tmp_path, y)) == [(operator, arguments)]


def test_open_sizes_are_said(tmp_path):
    writer = Writer()
    y = writer.layer("DepthToSpace", [parameter(writer, -1, 12, 2, 3)], (-1, 3, 4, 6), block_size=2, mode="blocks_first")
    report = inspect(writer.save(tmp_path, y))
    assert report.findings[0].source_shape is None and report.findings[0].seconds is None
    assert report.notes == ("the model has open sizes: operators made of other nodes are found where sizes are known",)
    with pytest.raises(ModelError, match="sizes: OpenVINO's IR has its sizes in the file"):
        inspect(tmp_path / "m.xml", sizes={"batch": 2})


def test_types_that_openvino_narrows_are_noted(tmp_path):
    writer = Writer()
    x = writer.layer("Parameter", [], (1, 4, 2, 2), dtype="I64", shape="1,4,2,2", element_type="i64")
    y = writer.layer("SpaceToDepth", [x], (1, 16, 1, 1), dtype="I64", block_size=2, mode="blocks_first")
    (finding,) = inspect(writer.save(tmp_path, y), timed=False).findings
    assert finding.dtype == "int64" and finding.notes[0].startswith("OpenVINO's CPU plugin keeps int64 as 32 bits")


def refused(path, text):
    with pytest.raises(ModelError) as caught:
        inspect(path, timed=False)
    assert text in str(caught.value)


def test_bad_files_are_refused(tmp_path):
    refused(tmp_path / "none.xml", "none.xml: cannot be read: No such file or directory")
    path = tmp_path / "m.xml"
    path.write_text("<net><layers>")
    refused(path, "m.xml: is no OpenVINO IR, or is cut short: no element found")
    path.write_text("<html></html>")
    refused(path, "m.xml: is no OpenVINO IR: its root is <html>, not <net>")
    path.write_text('<!DOCTYPE net [<!ENTITY a "b">]><net>&a;</net>')
    refused(path, "m.xml: is no OpenVINO IR: it has a document type")


def sound(tmp_path):
    """Returns the file of a pixel shuffle."""
    writer = Writer()
    return writer.save(tmp_path, shuffle(writer, parameter(writer, 1, 12, 4, 5)))


def broken(tmp_path, old, new):
    """Returns the file of a pixel shuffle with a text replaced."""
    path = sound(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("<dim>12</dim>", "<dim>twelve</dim>", "layer x: ['1', 'twelve', '4', '5'] is no shape"),
        ('id="1" name', 'id="0" name', "two layers have the id '0'"),
        ('from-layer="0"', 'from-layer="77"', "leads from or to no port"),
        ('from-layer="0" from-port="0"', 'from-layer="2" from-port="2"', "layer Reshape_2 lies on a cycle"),
        ('offset="0"', 'offset="1000"', "layer Const_1 (Const): lies at 1000 to 1048 of m.bin, which has 128 bytes"),
        ('offset="0"', 'offset="-8"', "layer Const_1 (Const): 48 bytes at -8 do not fit its shape [6]"),
        ('size="48"', 'size="4"', "layer Const_1 (Const): 4 bytes at 0 do not fit its shape [6]"),
        ('size="48"', "", "layer Const_1 (Const): it has no offset and size"),
    ],
)
def test_broken_files_are_refused(tmp_path, old, new, text):
    refused(broken(tmp_path, old, new), text)


def test_missing_edges_and_weights_are_refused(tmp_path):
    path = broken(tmp_path, '<edge from-layer="0" from-port="0" to-layer="2" to-port="0" />', "")
    refused(path, "layer Reshape_2 (Reshape): nothing leads to its input 0")
    path = sound(tmp_path)
    (tmp_path / "m.bin").unlink()
    refused(path, "m.bin: cannot be read: No such file or directory")


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files_are_read_or_refused(seed, tmp_path):
    draw = random.Random(seed)
    path = sound(tmp_path)
    data = bytearray(path.read_bytes())
    for _ in range(draw.randint(1, 4)):
        data[draw.randrange(len(data))] = draw.choice(b'0123456789-,"<>/ az')
    path.write_bytes(data)
    try:
        inspect(path, timed=False)
    except ModelError as error:
        assert str(error)
