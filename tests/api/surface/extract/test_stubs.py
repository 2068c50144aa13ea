"""A stub beside its source: the source is what runs, the stub fills in what it leaves open."""

import importlib
from pathlib import Path

import pytest

from pipeline.api.surface.extract.stubs import STUB_ONLY, merge_stub
from pipeline.api.surface.parse.module_model import Definition, ModuleRecord, Parameter
from pipeline.api.surface.visit import visit_file
from pipeline.core.vocabularies.surface import ParameterKind
from tests.api.surface.trees import SURFACE_RULES, rows


def merged(source: str, stub: str) -> dict[str, Definition]:
    return merge_stub(visited(source, "pkg.py"), visited(stub, "pkg.pyi")).definitions


def visited(text: str, path: str) -> ModuleRecord:
    return visit_file("pkg", path, text.encode(), SURFACE_RULES)


def show(parameter: Parameter) -> str:
    stars: dict[str, str] = {
        ParameterKind.VAR_POSITIONAL: "*",
        ParameterKind.VAR_KEYWORD: "**",
        ParameterKind.KEYWORD_ONLY: "-",
    }
    annotation = f": {parameter['annotation']}" if parameter["annotation"] else ""
    default = f" = {parameter['default']}" if parameter["default"] else ""
    source = " (stub)" if parameter["known_from"] == "stub" else ""
    return f"{stars.get(parameter['kind'], '')}{parameter['name']}{annotation}{default}{source}"


@pytest.mark.parametrize(
    ("source", "stub", "expected", "returns"),
    [
        ("def f(a, b=1): ...", "def f(a: int, b: int = ...) -> str: ...", ["a: int", "b: int = 1"], "str"),
        ("def f(a: int) -> int: ...", "def f(a: float) -> float: ...", ["a: int"], "int"),
        ("def f(a, b): ...", "def f(a: int) -> str: ...", ["a: int", "b"], "str"),
        ("def f(*, b=1): ...", "def f(b: int = ...): ...", ["-b: int = 1"], None),
        (
            "def f(*args, **kwargs): ...",
            "def f(a: int, b: str = ..., *, c: bool = False): ...",
            ["a: int (stub)", "b: str = ... (stub)", "*args", "-c: bool = False (stub)", "**kwargs"],
            None,
        ),
        ("def f(a, **kw): ...", "def f(a, b: int = ..., **kw: int): ...", ["a", "-b: int = ... (stub)", "**kw: int"], None),
        ("def f(a, *args): ...", "def f(a, b: int, *, c: int): ...", ["a", "b: int (stub)", "*args"], None),
        # what the source cannot be given the stub cannot add
        ("def f(a): ...", "def f(a, b: int = ...): ...", ["a"], None),
        ("def f(*args, **kw): ...", "def f(__a: int, b: int): ...", ["b: int (stub)", "*args", "**kw"], None),
    ],
)  # fmt: skip
def test_functions(source, stub, expected, returns):
    found = merged(source, stub)["f"]
    assert ([show(p) for p in found.called], found.returns) == (expected, returns)


def test_overloads_speak_for_themselves():
    stub = "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\n"
    found = merged("def f(a): ...", stub)["f"]
    assert (found.overloads, [show(p) for p in found.called], found.returns) == (
        ["(a: int) -> int", "(a: str) -> str"],
        ["a"],
        None,
    )


def test_classes_attributes_and_properties():
    found = merged(
        "class C:\n    x = 1\n    def m(self, a): ...\n    @property\n    def p(self): ...\nY = make()\n",
        "class C(Base):\n    x: float\n    z: int\n    _w: int\n    def m(self, a: int) -> int: ...\n"
        "    def n(self) -> str: ...\n    @property\n    def p(self) -> str: ...\nY: list[int]\n",
    )
    members = found["C"].members
    told = {name: (member.kind, member.returns, member.value) for name, member in members.items()}
    assert told == {
        "x": ("attribute", "float", "1"),
        "m": ("function", "int", None),
        "p": ("property", "str", None),
        "z": ("attribute", "int", None),
        "n": ("function", "str", None),
    }
    assert [name for name in members if STUB_ONLY in members[name].labels] == ["z", "n"]
    assert (found["C"].bases, found["Y"].returns, found["Y"].value) == ([], "list[int]", "make()")


def test_marks_of_pep_702():
    stub = "from warnings import deprecated\n@deprecated('Use g instead')\ndef f() -> int: ...\n"
    mark = merged("def f(): ...", stub)["f"].deprecation
    assert mark is not None
    assert (str(mark["channel"]), mark["replacement"]) == ("decorator", "g")


STUB = """
from typing import Any, Protocol, TypedDict, TypeVar, Union
from typing_extensions import TypeAlias
from pkg._helper import helper
import os
__all__ = ["public", "helper"]
T = TypeVar("T")
Number = Union[int, float]
Path: TypeAlias = str
class Readable(Protocol): ...
class Options(TypedDict): ...
class More(Options): ...
def public() -> int: ...
class Public: ...
def _private() -> int: ...
"""


def test_names_that_only_the_stub_has():
    found = merged("x = 1\n", STUB)
    assert {name: STUB_ONLY in d.labels for name, d in found.items()} == {"x": False, "public": True, "Public": True}


def test_a_source_that_binds_as_it_runs_has_what_its_stub_tells():
    found = merged("for name in names: globals()[name] = make(name)\nx = 1\n", STUB)
    assert {name: d.labels for name, d in found.items() if name in {"public", "Public", "helper"}} == {
        "public": [],
        "Public": [],
        "helper": [],
    }
    assert not {"_private", "T", "Number", "Path", "Readable", "More", "os", "Any"} & set(found)


def test_private_bases_of_a_stub_hand_on_their_members():
    found = rows(
        {
            "pkg/__init__.py": "from ._fast import *\n",
            "pkg/__init__.pyi": """
                class _Root:
                    def argmax(self, axis: int = ...) -> int: ...
                class _Common(_Root):
                    @property
                    def T(self) -> Array: ...
                class _Unused: ...
                class Array(_Common):
                    def fill(self, value: float) -> None: ...
                """,
            "pkg/_fast.so": "",
        }
    )
    assert set(found) == {"pkg", "pkg.Array", "pkg.Array.T", "pkg.Array.argmax", "pkg.Array.fill"}
    assert [p["name"] for p in found["pkg.Array.argmax"]["parameters"]] == ["axis"]


def test_a_stub_tells_what_is_imported_from_a_compiled_module():
    found = rows(
        {
            "pkg/__init__.py": "from ._fast import Array, absolute, Seen\nfrom ._seen import Known, Made, made\n",
            "pkg/__init__.pyi": """
                class _Common:
                    def argmax(self, axis: int = ...) -> int: ...
                class Array(_Common):
                    def fill(self, value: float) -> None: ...
                absolute: Ufunc
                class Known:
                    def other(self) -> None: ...
                class Made:
                    def item(self) -> int: ...
                made: Ufunc
                """,
            "pkg/_fast.so": "",
            "pkg/_seen.py": "class Known:\n    def m(self): ...\nMade, made = kinds['made'], 1\n",
        }
    )
    assert {path: str(row["kind"]) for path, row in found.items() if path != "pkg"} == {
        "pkg.Array": "class",
        "pkg.Array.argmax": "method",
        "pkg.Array.fill": "method",
        "pkg.absolute": "attribute",
        "pkg.Seen": "attribute",
        "pkg.Known": "class",
        "pkg.Known.m": "method",
        "pkg.Made": "class",
        "pkg.Made.item": "method",
        "pkg.made": "attribute",
    }
    assert found["pkg.made"]["canonical_path"] == "pkg._seen.made"
    assert [path for path, row in found.items() if "opaque" in row["labels"]] == ["pkg.Seen"]


def test_kinds_and_imports_are_the_sources():
    found = merged("from ._impl import f\ndef g(): ...\n", "def f(a: int) -> int: ...\ng: int\n")
    assert (found["f"].kind, found["g"].kind, found["g"].returns) == ("import", "function", None)


def test_all_is_the_sources_where_it_can_be_read():
    stub = "__all__ = ['f', 'g']\ndef f() -> int: ...\n"
    read = merge_stub(visited("__all__ = ['f']\ndef f(): ...\n", "pkg.py"), visited(stub, "pkg.pyi"))
    unread = merge_stub(visited("__all__ = names()\ndef f(): ...\n", "pkg.py"), visited(stub, "pkg.pyi"))
    bare = merge_stub(visited("def f(): ...\n", "pkg.py"), visited(stub, "pkg.pyi"))
    assert read.exports is not None
    assert unread.exports is not None
    assert [name for _, name in read.exports.parts] == ["f"]
    assert [name for _, name in unread.exports.parts] == ["f", "g"]
    assert bare.exports is None


def test_neither_side_is_changed():
    source, stub = visited("def f(*args, **kw): ...\n", "pkg.py"), visited("def f(a: int) -> int: ...\n", "pkg.pyi")
    before = repr((source, stub))
    merge_stub(source, stub)
    assert repr((source, stub)) == before


@pytest.mark.parametrize("module", ["attr", "matplotlib.cm", "matplotlib.colors", "matplotlib.hatch", "numpy.linalg"])
def test_names_of_installed_libraries_are_those_that_run(module):
    running = importlib.import_module(module)
    file = Path(running.__file__ or "")
    place = module.replace(".", "/") + ("/__init__" if file.stem == "__init__" else "")
    source, stub = (
        visit_file(module, f"{place}{suffix}", file.with_suffix(suffix).read_bytes(), SURFACE_RULES)
        for suffix in (".py", ".pyi")
    )
    both = merge_stub(source, stub)
    public = {name for name in both.definitions if not name.startswith("_") and "%" not in name}
    assert set(source.definitions) <= set(both.definitions)
    assert {name for name in public - set(source.definitions) if not hasattr(running, name)} == set()
    before, after = (sum(bool(d.returns) for d in r.definitions.values()) for r in (source, both))
    assert after >= before
