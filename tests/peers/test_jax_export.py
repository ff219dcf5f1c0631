# SPDX-License-Identifier: Apache-2.0
"""Tests jax.export of functions that call patchfold.jax: another process runs the exported programs, whose batch size is
symbolic.

Also tests the target that patchfold registers with XLA: refused calls, and the layout of the interface.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import patchfold
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import patchfold.jax as pj  # noqa: E402
from jax import export  # noqa: E402

ALLOWED = [export.DisabledSafetyCheck.custom_call("patchfold")]


def exported(function: Any, shape: str, **options: Any) -> Any:
    given = jax.ShapeDtypeStruct(export.symbolic_shape(shape), jnp.float32)
    return export.export(jax.jit(function), disabled_checks=ALLOWED, **options)(given)


def data(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).random(shape, np.float32)


# (function of patchfold.jax, patchfold's function for NumPy, shape with a symbolic batch size b, extents after the batch
# axis)
CALLS: dict[str, tuple[Any, Any, str, tuple[int, ...]]] = {
    "unfold": (
        lambda x: pj.unfold(x, 3, padding=1),
        lambda x: patchfold.unfold(x, 3, padding=1),
        "b, 3, 16, 16",
        (3, 16, 16),
    ),
    "two axes": (
        lambda x: pj.unfold(x, (3, 3)),
        lambda x: patchfold.unfold(x, (3, 3)),
        "b, 2 * b, 3, 5, 5",
        (None, 3, 5, 5),  # type: ignore[dict-item]
    ),
    "reflect": (
        lambda x: pj.unfold(x, 3, padding=1, padding_mode="reflect"),
        lambda x: patchfold.unfold(x, 3, padding=1, padding_mode="reflect"),
        "b, 3, 8, 8",
        (3, 8, 8),
    ),
    "fold": (lambda x: pj.fold(x, (4, 5), 2), lambda x: patchfold.fold(x, (4, 5), 2), "b, 8, 12", (8, 12)),
    "space_to_depth": (
        lambda x: pj.space_to_depth(x, 2),
        lambda x: patchfold.space_to_depth(x, 2),
        "b, 3, 4, 4",
        (3, 4, 4),
    ),
    "copy": (pj.copy, patchfold.copy, "b, 3", (3,)),
    "patchify": (*[lambda x: patchfold.patchify(x, 4)] * 2, "b, 3, 8, 8", (3, 8, 8)),
    "rearrange": (*[lambda x: patchfold.rearrange(x, "b (h p) c -> b h (p c)", p=2)] * 2, "b, 6, 3", (6, 3)),
    "vmap": (
        jax.vmap(lambda one: pj.unfold(one, (2, 2))),
        lambda x: patchfold.unfold(x, (2, 2)),
        "b, 3, 4, 4",
        (3, 4, 4),
    ),
    "gradient": (
        jax.grad(lambda x: (pj.unfold(x, 3) ** 2).sum()),
        lambda x: patchfold.fold(2 * patchfold.unfold(x, 3), (6, 6), 3),
        "b, 3, 6, 6",
        (3, 6, 6),
    ),
    "coverage": (
        lambda x: pj.fold(x, (4, 5), 2) / pj.coverage((4, 5), 2),
        lambda x: patchfold.fold(x, (4, 5), 2) / patchfold.coverage((4, 5), 2),
        "b, 8, 12",
        (8, 12),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_open_batch(name: str) -> None:
    ours, neutral, shape, rest = CALLS[name]
    program = exported(ours, shape)
    for batch in (1, 3, 8):
        x = data(batch, *(2 * batch if size is None else size for size in rest))
        np.testing.assert_array_equal(program.call(x), neutral(x), strict=True)


def test_a_program_runs_in_another_process(tmp_path: Path) -> None:
    pytest.importorskip("flatbuffers", reason="JAX writes programs with it")
    path = tmp_path / "program"
    path.write_bytes(exported(lambda x: pj.unfold(x, 3), "b, 3, 16, 16").serialize())
    x = data(5, 3, 16, 16)
    np.save(tmp_path / "x.npy", x)
    program = (
        "import sys, numpy as np, patchfold.jax; from jax import export; from pathlib import Path;"
        "folder = Path(sys.argv[1]);"
        "run = export.deserialize(bytearray((folder / 'program').read_bytes())).call;"
        "np.save(folder / 'y.npy', run(np.load(folder / 'x.npy')))"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path], env={**os.environ, "JAX_PLATFORMS": "cpu"}, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), patchfold.unfold(x, 3), strict=True)


def test_derivatives_of_a_program() -> None:
    program = exported(lambda x: pj.unfold(x, 3), "b, 3, 6, 6")
    x = data(4, 3, 6, 6)
    gradient = jax.grad(lambda x: (program.call(x) ** 2).sum())(x)
    np.testing.assert_array_equal(gradient, patchfold.fold(2 * patchfold.unfold(x, 3), (6, 6), 3), strict=True)


@pytest.mark.parametrize(
    ("call", "shape", "words"),
    [
        (lambda x: pj.unfold(x, 3), "8, 3, h, w", "an open extent counts as 1 here: only a batch that"),
        (
            lambda x: pj.unfold(x, (1, 1)),
            "8, 3, h, 4",
            "unfold: x: may be open only along a batch that the result has; given (8, 3, h, 4)",
        ),
        (
            lambda x: pj.space_to_batch(x, 2),
            "b, 3, 4, 4",
            "x: may be open only along a batch that the result has; given (b, 3, 4, 4)",
        ),
        (lambda x: pj.batch_to_space(x, 2), "b, 3, 4, 4", "an open extent counts as 1 here: only a batch that"),
    ],
)
def test_other_open_extents_are_refused(call: Any, shape: str, words: str) -> None:
    with pytest.raises(patchfold.InvalidValue) as caught:
        exported(call, shape)
    assert words in str(caught.value), str(caught.value)


@pytest.mark.parametrize("platforms", [["rocm"], ["tpu"], ["cpu", "tpu"]])
def test_other_platforms_are_refused(platforms: list[str]) -> None:
    with pytest.raises(patchfold.InvalidValue) as caught:
        exported(lambda x: pj.unfold(x, 3), "b, 3, 16, 16", platforms=platforms)
    assert str(caught.value) == (
        "jax.export: platforms: cannot be exported for this platform, where patchfold calls Python; "
        f"given {', '.join(platforms)}, expected platforms=['cpu', 'cuda']"
    )


ROOT = Path(__file__).parents[2]


def test_a_program_of_another_shape_is_refused_and_not_run():
    """Passes buffers that do not fit the call, as any user of jax.ffi can."""
    call = "unfold f32 1x1x4x4 kernel_size=2,2"
    wrong = jax.ffi.ffi_call("patchfold", jax.ShapeDtypeStruct((1, 4, 8), jnp.float32))
    for text in (call, "unfold f32", "nonsense", ""):
        with pytest.raises(Exception, match="shapes|must read|no operator"):
            wrong(jnp.ones((1, 1, 4, 4)), call=text).block_until_ready()
    typed = jax.ffi.ffi_call("patchfold", jax.ShapeDtypeStruct((1, 4, 9), jnp.int8))
    with pytest.raises(Exception, match="element type"):
        typed(jnp.ones((1, 1, 4, 4), jnp.int8), call=call).block_until_ready()
    none = jax.ffi.ffi_call("patchfold", jax.ShapeDtypeStruct((1, 4, 9), jnp.float32))
    with pytest.raises(Exception, match="must have an argument"):
        none(call=call).block_until_ready()
    with pytest.raises(Exception, match="must have an attribute"):
        none(jnp.ones((1, 1, 4, 4))).block_until_ready()


def test_the_layout_of_the_interface_is_that_of_the_header(tmp_path):
    """Compares every struct and number of python/native/xla_ffi.hpp with the header of this jaxlib."""
    ours = (ROOT / "python" / "native" / "xla_ffi.hpp").read_text()
    names = {
        "Extension": ("XLA_FFI_Extension_Base", ["struct_size", "type", "next"], None),
        "Version": ("XLA_FFI_Api_Version", ["struct_size", "extension_start", "major_version", "minor_version"], None),
        "Metadata": ("XLA_FFI_Metadata", ["struct_size", "api_version", "traits"], None),
        "MetadataExtension": ("XLA_FFI_Metadata_Extension", ["extension_base", "metadata"], None),
        "ErrorCreateArgs": ("XLA_FFI_Error_Create_Args", ["struct_size", "extension_start", "message", "errc"], None),
        "ErrorDestroyArgs": ("XLA_FFI_Error_Destroy_Args", ["struct_size", "extension_start", "error"], None),
        "ScheduleArgs": (
            "XLA_FFI_ThreadPool_Schedule_Args",
            ["struct_size", "extension_start", "ctx", "task", "data"],
            None,
        ),
        "NumThreadsArgs": (
            "XLA_FFI_ThreadPool_NumThreads_Args",
            ["struct_size", "extension_start", "ctx", "num_threads"],
            None,
        ),
        "StreamGetArgs": ("XLA_FFI_Stream_Get_Args", ["struct_size", "extension_start", "ctx", "stream"], None),
        "Api": (
            "XLA_FFI_Api",
            (
                "struct_size extension_start api_version internal_api XLA_FFI_Error_Create XLA_FFI_Error_GetMessage "
                "XLA_FFI_Error_Destroy XLA_FFI_Handler_Register XLA_FFI_Stream_Get XLA_FFI_ThreadPool_Schedule "
                "XLA_FFI_ThreadPool_NumThreads"
            ).split(),
            None,
        ),
        "Buffer": ("XLA_FFI_Buffer", ["struct_size", "extension_start", "dtype", "data", "rank", "dims"], None),
        "Buffers": (
            "XLA_FFI_Args",
            ["struct_size", "extension_start", "size", "types", "args"],
            ("XLA_FFI_Rets", ["struct_size", "extension_start", "size", "types", "rets"]),
        ),
        "ByteSpan": ("XLA_FFI_ByteSpan", ["ptr", "len"], None),
        "Attributes": ("XLA_FFI_Attrs", ["struct_size", "extension_start", "size", "types", "names", "attrs"], None),
        "CallFrame": (
            "XLA_FFI_CallFrame",
            ["struct_size", "extension_start", "api", "ctx", "stage", "args", "rets", "attrs"],
            None,
        ),
    }
    numbers = {
        "extension_metadata": "XLA_FFI_Extension_Metadata",
        "version_major": "XLA_FFI_API_MAJOR",
        "version_minor": "XLA_FFI_API_MINOR",
        "error_invalid_argument": "XLA_FFI_Error_Code_INVALID_ARGUMENT",
        "error_resource_exhausted": "XLA_FFI_Error_Code_RESOURCE_EXHAUSTED",
        "error_internal": "XLA_FFI_Error_Code_INTERNAL",
        "type_buffer": "XLA_FFI_ArgType_BUFFER",
        "attribute_string": "XLA_FFI_AttrType_STRING",
        "stage_execute": "XLA_FFI_ExecutionStage_EXECUTE",
    }
    assert set(re.findall(r"(?m)^struct (\w+) \{", ours)) == set(names)
    assert set(re.findall(r"(?m)^inline constexpr int (\w+)", ours)) == set(numbers)
    checks = [f"static_assert(x::{own} == {theirs});" for own, theirs in numbers.items()]
    checks.append("static_assert(x::type_buffer == XLA_FFI_RetType_BUFFER);")
    bytes_of = {"PRED": 1, "S4": 0, "U4": 0, "TOKEN": 0, "C64": 8, "C128": 16, "BF16": 2, "F4E2M1FN": 0}
    header = (Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h").read_text()
    for name in re.findall(r"XLA_FFI_DataType_(\w+) = ", header):
        bits = re.match(r"[A-Z]+(\d+)", name)
        size = bytes_of.get(name, int(bits[1]) // 8 if bits else 0)
        checks.append(f"static_assert(x::element_size(XLA_FFI_DataType_{name}) == {size});")
    for own, (theirs, fields, other) in names.items():
        body = re.search(rf"(?ms)^struct {own} \{{(.*?)^\}};", ours)
        assert body
        members = re.findall(r"(?m)^  [^\n/]*?\(?\*?(\w+)(?:\[\d+\])?\)?(?:\([^\n]*\))?;", body[1])
        if own == "Api":  # patchfold gives one name to the unused functions between the used ones
            members.remove("others")
            checks.append("static_assert(offsetof(x::Api, others) == offsetof(XLA_FFI_Api, XLA_FFI_Type_Register));")
        for name, its in [(theirs, fields), *([other] if other else [])]:
            for mine, field in zip(members, its, strict=True):
                checks.append(f"static_assert(offsetof(x::{own}, {mine}) == offsetof({name}, {field}));")
                checks.append(f"static_assert(sizeof(x::{own}::{mine}) == sizeof({name}::{field}));")
    include = Path(jax.ffi.include_dir())
    if not include.is_dir():
        pytest.fail(f"jaxlib has no headers in {include}")
    source = tmp_path / "layout.cpp"
    source.write_text(
        f'#include "{ROOT}/python/native/xla_ffi.hpp"\n#include "xla/ffi/api/c_api.h"\n'
        "namespace x = patchfold::python::xla;\n" + "\n".join(checks) + "\n"
    )
    subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{include}", source], check=True)
