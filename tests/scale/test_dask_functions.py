# SPDX-License-Identifier: Apache-2.0
"""Tests that a run is continued with the same function only: which changes of a function count, and which do not."""

import importlib
import os
import subprocess
import sys
import types

import numpy as np
import pytest
from patchfold import InvalidValue
from patchfold.dask import apply_tiled, once

X = np.zeros((4, 4), np.float32)
BEGIN = "import dataclasses, enum, functools, logging, threading\nimport numpy as np\n"


def run(fn, out, **settings):
    return apply_tiled(fn, X, (4, 4), overlap=0, out=out, progress=False, **settings)


def function(source, name="mine"):
    """Returns f of a module with this source."""
    module = types.ModuleType(name)
    module.__file__ = __file__
    sys.modules[name] = module
    exec(compile(BEGIN + source, f"{name}.py", "exec"), module.__dict__)
    return module.f


def refused(fn, out, says, **settings):
    with pytest.raises(InvalidValue) as caught:
        run(fn, out, **settings)
    message = str(caught.value)
    assert f"belongs to a run with another function: {says} (see " in message, message
    assert "or another out, or overwrite=True to begin anew, or the same version= from the beginning" in message


CALLABLE = """
class Base:
    __slots__ = ("k",)
    kind = 1
    def shifted(self, t): return t + 1
class Shift(Base):
    @staticmethod
    def twice(t): return t * 2
    @property
    def more(self): return 3
    def __init__(self, k): self.k = k
    def __call__(self, t): return self.twice(self.shifted(t)) + self.k + self.more + self.kind
f = Shift(7)
"""
HELPERS = "def h(t): return t + 1\ndef g(t): return h(t)\n"
CLOSED = "def make(k):\n    def f(t): return (t, k)[0]\n    return f\n"
WEIGHTS = "w = np.arange(5000.0).reshape(50, 100)\n"
CACHED = "@functools.lru_cache\ndef g(k): return k + 1\n"
PARTIAL = "def g(t, a, b): return t\n"
DECORATED = """
def plus(k):
    def around(fn):
        @functools.wraps(fn)
        def inner(t): return fn(t) + k
        return inner
    return around
@plus(1)
def f(t): return t * 3
"""


@pytest.mark.parametrize(
    ("source", "before", "after", "says"),
    [
        ("def f(t): return t + 1", "+ 1", "+ 2", "fn > code"),
        ("def f(t): return t + 1", "+ 1", "+ 1.0", "fn > code"),
        ("def f(t): return t + 0.0", "+ 0.0", "+ -0.0", "fn > code"),
        ("def f(t): return t + 1", "t + 1", "t - 1", "fn > code"),
        ("def f(t): return np.maximum(t, 1)", "maximum", "minimum", "fn > code"),
        ("def f(t):\n    try: return t\n    except ValueError: return t + 1", "ValueError", "TypeError", "fn > code"),
        ("f = lambda t: t + 1", "+ 1", "+ 2", "fn > code"),
        ("def f(t):\n    def inner(): return 1\n    return t + inner()", "return 1", "return 2", "fn > code"),
        ("def f(t): return t + sum([2 * k for k in (1, 2)])", "2 * k", "3 * k", "fn > code"),
        ("def f(t): return t + ('b' in {'a', 'b', 'c'})", "'c'}", "'d'}", "fn > code"),
        ("def f(t, k=1): return t + k", "k=1", "k=2", "fn > default k"),
        ("def f(t, *, k=True): return t + k", "=True", "=1", "fn > default k"),
        (HELPERS + "def f(t): return g(t)", "+ 1", "+ 2", "fn > global g > global h > code"),
        (HELPERS + "def f(t): return g(t)", "def g(t): return h(t)", "def g(t): return t", "fn > global g > code"),
        (HELPERS + "f = functools.partial(functools.partial(g))", "+ 1", "+ 2", "fn > function > global h > code"),
        ("def g(t, k): return t + k\nf = functools.partial(g, k=1)", "=1", "=2", "fn > argument k"),
        ("def g(k, t): return t + k\nf = functools.partial(g, 1)", "(g, 1)", "(g, 2)", "fn > argument 0"),
        (CLOSED + "f = make(1)", "(1)", "(2)", "fn > closure k"),
        (CLOSED + WEIGHTS + "f = make(w[:4, :4])", "[:4, :4]", "[:4, 1:5]", "fn > closure k"),
        (CLOSED + WEIGHTS + "f = make({'w': [w]})", "5000.0", "5000", "fn > closure k"),
        (CLOSED + WEIGHTS + "w[49, 99] = 1\nf = make(w.astype(object))", "= 1", "= 2", "fn > closure k"),
        (CLOSED + "f = make({'a': 1, 'b': 2})", "'a': 1, 'b': 2", "'b': 2, 'a': 1", "fn > closure k"),
        (CLOSED + "f = make([len, lambda t: 1])", "t: 1", "t: 2", "fn > closure k"),
        ("K = 'a'\ndef f(t): return t + len(K)", "'a'", "'aa'", "fn > global K"),
        (WEIGHTS + "def f(t): return t + w[0, 1]", "reshape", "T.reshape", None),
        (WEIGHTS + "def f(t): return t + w[0, 1]", "np.arange(5000.0)", "np.arange(5000.0)[::-1]", "fn > global w"),
        ("def f(t): return t + f.k\nf.k = 1", "= 1", "= 2", "fn > attribute k"),
        (CALLABLE, "(7)", "(8)", "fn > attribute k"),
        (CALLABLE, "t + 1", "t + 2", "fn > class > base Base > shifted > code"),
        (CALLABLE, "t * 2", "t * 4", "fn > class > twice > staticmethod > code"),
        (CALLABLE, "return 3", "return 4", "fn > class > more > get > code"),
        (CALLABLE, "kind = 1", "kind = 2", "fn > class > base Base > kind"),
        (CALLABLE + "f = f.shifted", "t + 1", "t + 2", "fn > method > code"),
        (CALLABLE + "f = f.shifted", "(7)", "(8)", "fn > object > attribute k"),
        (CALLABLE + "def f(t): return Shift(1)(t)", "t + 1", "t + 2", "fn > global Shift > base Base > shifted > code"),
        (DECORATED, "* 3", "* 4", "fn > closure fn > code"),
        (DECORATED, "plus(1)", "plus(2)", "fn > closure k"),
        (CACHED + "def f(t): return t + g(1)", "k + 1", "k + 2", "fn > global g > wrapped > code"),
        ("@functools.singledispatch\ndef f(t): return t + 1", "+ 1", "+ 2", "fn > closure dispatch > closure registry"),
        ("g = np.vectorize(lambda v: v + 1)\nf = lambda t: g(t)", "+ 1", "+ 2", "fn > global g > attribute pyfunc > code"),
        ("class E(enum.Enum):\n    A = 1\ndef f(t): return t + E.A.value", "= 1", "= 2", "fn > global E > A"),
        (
            "@dataclasses.dataclass\nclass D:\n    k: int = 1\n    def __call__(self, t): return t + self.k\nf = D(5)",
            *("= 1", "= 2", "fn > class > __init__ > default k"),
        ),
    ],
)
def test_a_function_that_was_changed_is_refused(tmp_path, source, before, after, says):
    out = tmp_path / "y.zarr"
    assert source.count(before) == 1
    run(function(source), out)
    assert run(function(source), out).written == 0  # the same source, compiled again
    changed = function(source.replace(before, after))
    if says is None:  # another expression for the same value
        assert run(changed, out).written == 0
    else:
        refused(changed, out, says)
        assert run(changed, out, overwrite=True).written == 1
        assert run(changed, out).written == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(t): return t + 1", "# A comment.\n\n\ndef f(t):\n    # Another one.\n    return t + 1"),
        ("def f(t): return t + 1", "def f(t):\n    'Adds.'\n    return t + 1"),
        ("def f(t): return t + 1", "K = 3\ndef unused(t): return t + K\ndef f(t): return t + 1"),
        ("def f(t): return t + (__name__ == __file__)", "def f(t):\n    return t + (__name__ == __file__)"),
        ("def f(t: int): return t + 1", "def f(t: 'float') -> float: return t + 1"),
        (CALLABLE, CALLABLE.replace("    kind = 1\n", "").replace("+ 1\n", "+ 1\n    kind = 1\n")),
        (CALLABLE, "\n\n" + CALLABLE.replace("class Shift(Base):", "class Shift(Base):\n    'Shifts.'")),
        ("S = {'a', 'b', 'c'}\ndef f(t): return t + len(S)", "S = {'c', 'b', 'a'}\ndef f(t): return t + len(S)"),
        (PARTIAL + "f = functools.partial(g, a=1, b=2)", PARTIAL + "f = functools.partial(g, b=2, a=1)"),
    ],
)
def test_what_does_not_matter_is_not_seen(tmp_path, before, after):
    assert before != after
    run(function(before), tmp_path / "y.zarr")
    assert run(function(after, "renamed"), tmp_path / "y.zarr").written == 0


@pytest.mark.parametrize(
    "source",
    [
        "def f(t, n=3): return t if n == 0 else f(t + 1, n - 1)",
        "def g(t, n): return f(t, n - 1)\ndef f(t, n=3): return g(t, n) if n else t",
        "L = [1]\nL.append(L)\ndef f(t): return t + len(L)",
        "lock, log = threading.Lock(), logging.getLogger('x')\ndef f(t):\n    with lock: return t + 1",
        "model = None\ndef f(t):\n    global model\n    model = (model or 0) + 1\n    return t",
        CACHED + "def f(t): return t + g(1)",
        "class Net:\n    def __init__(self): super().__init__()\n    def __call__(self, t): return t\nf = Net()",
        "rng = np.random.default_rng(0)\ndef f(t): return t + np.float32(rng.bit_generator.seed_seq.entropy)",
        "f = np.sqrt",
        "from patchfold import space_to_depth\ndef f(t): return t + space_to_depth(np.ones((1, 1, 2, 2)), 2).sum()",
    ],
)
def test_a_run_goes_on_after_the_function_was_called(tmp_path, source):
    fn = function(source)
    run(fn, tmp_path / "y.zarr")
    assert run(fn, tmp_path / "y.zarr").written == 0
    assert run(function(source), tmp_path / "y.zarr").written == 0


SCRIPT = """
import sys
import numpy as np
import patchfold.dask
{comment}
NAMES = {{"red", "green", "blue", "black", "white"}}
class Net:
    def __init__(self, names): self.names = names
    def __call__(self, tile):
        import far
        from inner import near
        return tile + len(self.names) + ("red" in {{"red", "green", "blue"}}) + far.far(1) + near.near(1)
def load(names): return Net(frozenset(names))
for k, fn in enumerate((load(NAMES), patchfold.dask.once(load, NAMES))):
    report = patchfold.dask.apply_tiled(
        fn, np.zeros((4, 4)), (4, 4), overlap=0, out=f"{{sys.argv[1]}}/{{k}}.zarr", progress=False)
    print(report.written)
"""


def test_another_process_knows_the_function(tmp_path):
    def runs(name, comment="", seed="1"):
        (tmp_path / name).write_text(SCRIPT.format(comment=comment), encoding="utf-8")
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, tmp_path / name, tmp_path], capture_output=True, text=True, env=environment)
        return done.stdout.split() or done.stderr

    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "inner" / "near.py").write_text("def near(k): return k\n", encoding="utf-8")
    (tmp_path / "far.py").write_text("import far\ndef far(k): return k\n", encoding="utf-8")
    assert runs("script.py") == ["1", "1"]
    assert runs("renamed.py", "# A comment.", seed="2") == ["0", "0"]
    for file, module in (("far.py", "far"), ("inner/near.py", "inner.near")):
        before = (tmp_path / file).read_text(encoding="utf-8")
        (tmp_path / file).write_text(before.replace("return k", "return k + 1"), encoding="utf-8")
        assert f"another function: fn > class > __call__ > global module {module} > code (see" in runs("renamed.py")
        (tmp_path / file).write_text(before, encoding="utf-8")


def test_a_module_that_was_reloaded_and_one_that_was_edited(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    helper, main = tmp_path / "edited_helper.py", tmp_path / "edited_main.py"
    helper.write_text("K = 1\ndef add(t): return t + K\n", encoding="utf-8")
    main.write_text("import edited_helper as e\ndef f(t): return e.add(t)\n", encoding="utf-8")
    modules = [importlib.import_module(name) for name in ("edited_helper", "edited_main")]

    def reloaded():
        importlib.invalidate_caches()
        return [importlib.reload(module) for module in modules][1].f

    run(modules[1].f, tmp_path / "y.zarr")
    assert run(reloaded(), tmp_path / "y.zarr").written == 0
    helper.write_text("K = 1\n\ndef add(t): return t + K  # adds\n", encoding="utf-8")
    assert run(reloaded(), tmp_path / "y.zarr").written == 0
    for text, says in (
        ("K = 2\ndef add(t): return t + K\n", "fn > global e.add > global K"),
        ("K = 1\ndef add(t): return t - K\n", "fn > global e.add > code"),
    ):
        helper.write_text(text, encoding="utf-8")
        refused(reloaded(), tmp_path / "y.zarr", says)


def test_a_version_is_the_whole_identity(tmp_path):
    one, two = function("def f(t): return t + 1"), function("def f(t): return t + 2")
    run(one, tmp_path / "y.zarr", version="model 3")
    assert run(two, tmp_path / "y.zarr", version="model 3").written == 0
    refused(one, tmp_path / "y.zarr", "version", version="model 4")
    refused(one, tmp_path / "y.zarr", "version")
    run(one, tmp_path / "z.zarr")
    refused(one, tmp_path / "z.zarr", "version", version="model 3")


def test_the_version_of_a_library_is_seen(tmp_path, monkeypatch):
    identity = importlib.import_module("patchfold.dask._identity")
    run(function("def f(t): return np.sqrt(t)"), tmp_path / "y.zarr")
    monkeypatch.setattr(identity, "_version", lambda package: "99")
    refused(function("def f(t): return np.sqrt(t)"), tmp_path / "y.zarr", "fn > global np")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (CLOSED + "f = make(k for k in ())", "fn > closure k: generator: cannot pickle 'generator' object"),
        ("file = open(__file__)\ndef f(t): return t + (file is None)", "fn > global file: _io.TextIOWrapper: "),
        ("g = np.frompyfunc(lambda v: v + 1, 1, 1)\ndef f(t): return g(t).astype('f4')", "fn > global g: numpy.ufunc: "),
    ],
)
def test_a_part_that_cannot_be_read_needs_a_version(tmp_path, source, says):
    fn = function(source)
    with pytest.raises(InvalidValue) as caught:
        run(fn, tmp_path / "y.zarr")
    message = str(caught.value)
    assert f"fn: must consist of parts that a later run can compare, or have a version; given {says}" in message
    assert "expected version='name and version of the model', or patchfold.dask.once(load, path)" in message
    assert not list(tmp_path.iterdir())
    assert run(once(lambda: fn), None).shape == run(fn, None).shape == X.shape  # lazy results need no version
    if "file" not in source:
        assert run(fn, tmp_path / "y.zarr", version="1").written == 1


def test_torch_modules_are_their_weights(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is no part of this environment")

    def net(bias=0.0, layer="ReLU"):
        inner = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), getattr(torch.nn, layer)(), torch.nn.BatchNorm2d(1)).eval()
        for each in inner.parameters():
            torch.nn.init.constant_(each, 0.5)
        inner[0].bias.data += bias
        return inner

    def run_net(model, **settings):
        return run(lambda tile: model(torch.from_numpy(tile)[None, None])[0, 0].detach(), tmp_path / "y.zarr", **settings)

    run_net(net())
    assert run_net(net()).written == 0
    for changed in (net(bias=1e-6), net(layer="SiLU"), net().half()):
        refused_by = pytest.raises(InvalidValue, match="another function: fn > closure model > attribute _modules")
        with refused_by:
            run_net(changed)
