# SPDX-License-Identifier: Apache-2.0
"""The rooms of the Python package, and the imports of its modules, for check_layers.py."""

import ast
import os
import re

PACKAGE = "python/patchfold"
# For each room: what it holds, and the rooms that it may import besides itself and the modules in the package's own folder.
TABLE = {
    "": ("errors, arguments, names of types, threads; _core, the compiled module", ""),
    "_arrays": ("arrays of every library: kinds, memory, devices", ""),
    "_operators": ("the operators by name, and what is made of them", "_arrays"),
    "_orders": ("in which order somebody else's columns hold an image", "_arrays _operators"),
    "_tiles": ("overlapping tiles: cutting arrays, and merging results", "_arrays"),
    "_explain.py": ("what operators and tilings do, as text and pictures", "_arrays _operators _tiles"),
    "vision": ("pictures for vision-language models: resizing, and tables of numbers for bytes", "_arrays _operators"),
    "keras.py": ("Keras's operators", "_operators"),
    "onnx": ("ONNX's operators; its node tests", "_arrays _operators"),
    "openvino": ("OpenVINO's operators; the library that it loads", "_operators"),
    "tensorflow": ("TensorFlow's operators and tensors", "_arrays _operators"),
    "_graphs.py": ("the functions that torch.compile calls as a whole", "_operators _tiles keras.py onnx openvino tensorflow"),
    "torch": ("torch's operators and modules", "_arrays _operators _graphs.py"),
    "jax": ("operators for JAX", "_arrays _operators"),
    "__init__.py": (
        "the public names",
        "_operators _orders _tiles _explain.py keras.py onnx openvino tensorflow _graphs.py torch jax monai torchio dask vision",
    ),
    "monai": ("MONAI's inference by windows", "_arrays _tiles torch"),
    "torchio": ("TorchIO's grids of patches", "_arrays _tiles torch"),
    "nnunet": ("nnU-Net's sliding windows, and its export of labels", "_arrays _tiles"),
    "dask": ("tiles and operators on dask's workers", "_arrays _operators _tiles"),
    "models": ("finds operators in models of other systems", "_arrays _orders __init__.py"),
    "transformers.py": ("transformers' image and video processors", "_arrays vision"),
    "diffusers.py": ("autoencoders in tiles", "_tiles models"),
    "onnxruntime": ("rewrites models for ONNX Runtime", "_arrays _operators _orders onnx models"),
}
NATIVE = re.compile(r'import_\("(patchfold[\w.]*)"\)')


def path_of(room):
    return f"{PACKAGE}/{room}".rstrip("/")


def file_of(root, parts):
    """Returns the file of a module of the package, or None if there is no such module."""
    module = "/".join(parts)
    return next(
        (path for path in (module + ".py", module + "/__init__.py", module + ".pyi") if (root / path).is_file()), None
    )


def imports(root, name, text):
    """Yields (line, file) of each import of a module of the package, also of imports in functions and for types only."""
    package = os.path.dirname(name).split("/")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ["python"]
            base = above + (node.module.split(".") if node.module else [])
            wanted = [(base + [each.name], base) for each in node.names]
        elif isinstance(node, ast.Import):
            wanted = [(["python", *each.name.split(".")],) for each in node.names]
        else:
            continue
        for choices in wanted:
            target = next(filter(None, (file_of(root, parts) for parts in choices)), None)
            if target:
                yield node.lineno, target


def lost(root, text):
    """Yields (line, module) of each import in the binding (python/native) of a module that the package lacks."""
    for match in NATIVE.finditer(text):
        if not file_of(root, ["python", *match[1].split(".")]):
            yield text.count("\n", 0, match.start()) + 1, match[1]
