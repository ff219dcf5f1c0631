# SPDX-License-Identifier: Apache-2.0
"""Tests of the target that patchfold registers with XLA: refused calls, and the layout of the interface."""

import re
import subprocess
from pathlib import Path

import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
import patchfold.jax  # noqa: E402, F401

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
        "Api": (
            "XLA_FFI_Api",
            (
                "struct_size extension_start api_version internal_api XLA_FFI_Error_Create XLA_FFI_Error_GetMessage "
                "XLA_FFI_Error_Destroy XLA_FFI_Handler_Register XLA_FFI_ThreadPool_Schedule XLA_FFI_ThreadPool_NumThreads"
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
            fields = [field for field in fields if field != "XLA_FFI_Handler_Register"]
            checks.append("static_assert(offsetof(x::Api, others) == offsetof(XLA_FFI_Api, XLA_FFI_Handler_Register));")
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
