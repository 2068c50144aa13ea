"""Compiled modules as records: signatures as docstrings have them, and a real module, described and turned."""

from __future__ import annotations

import inspect
import string
import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.surface.extract.inspected import read_signature, record_of
from pipeline.api.surface.parse.module_model import UNSEEN_SIGNATURE, ModuleRecord
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource, SourceKind
from pipeline.execution.environments.inside.inspect_program import describe_module

PO, POK, KO = ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY
VP, VK = ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD

Signature = list[tuple[str, ParameterKind, str | None, str | None]]
LINES: list[tuple[str, Signature | None]] = [
    ("f()", []),
    # numpy.random.mtrand
    (
        "f(low, high=None, dtype=int)",
        [("low", POK, None, None), ("high", POK, "None", None), ("dtype", POK, "int", None)],
    ),
    ("f(d0, d1, ..., dn)", None),
    # Cython's embedsignature, in C and in Python
    (
        "A.f(self, double[:] a, int b=1)",
        [("self", POK, None, None), ("a", POK, None, "double[:]"), ("b", POK, "1", "int")],
    ),
    (
        "f(const char *name, *args, **kw) -> int",
        [("name", POK, None, "const char *"), ("args", VP, None, None), ("kw", VK, None, None)],
    ),
    ("f(np.ndarray[int64_t, ndim=2] a not None)", [("a", POK, None, "np.ndarray[int64_t, ndim=2]")]),
    ("f(a: int, b: str = 'x, )y') -> int", [("a", POK, None, "int"), ("b", POK, "'x, )y'", "str")]),
    ("f(a, *, object b=<object object at 0x7f>)", [("a", POK, None, None), ("b", KO, "...", "object")]),
    # `__text_signature__`, with what `inspect` refuses
    ("($self, obj, /, x=<unrepresentable>)", [("obj", PO, None, None), ("x", POK, "...", None)]),
    ("($module, /, data, wbits=MAX_WBITS)", [("data", POK, None, None), ("wbits", POK, "MAX_WBITS", None)]),
    # prose
    ("f(s) are functions of this module", None),
    ("f(x[, y])", None),
    ("f(a", None),
    ("g(a)", None),
    ("Makes an f(a).", None),
    ("", None),
]


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line for line, _ in LINES])
def test_signatures_that_docstrings_start_with(line: str, expected: Signature | None) -> None:
    found = read_signature(line, "f")
    told = None if found is None else [(p["name"], p["kind"], p["default"], p["annotation"]) for p in found]
    assert told == expected
    assert {p["known_from"] for p in found or ()} <= {ParameterSource.DOCSTRING}


@st.composite
def signatures(draw: st.DrawFn) -> inspect.Signature:
    names = draw(st.lists(st.text(string.ascii_lowercase, min_size=3, max_size=6), unique=True, max_size=5))
    names = [f"{name}_" for name in names]
    kinds = sorted(draw(st.sampled_from(list(inspect._ParameterKind))) for _ in names)
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    made, optional = [], False
    for at, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if kind in variadic and kind in kinds[:at]:
            continue
        optional = optional or draw(st.booleans())
        default = draw(st.one_of(st.integers(), st.text("a),='[]"), st.none())) if optional else inspect.Parameter.empty
        made.append(inspect.Parameter(name, kind, default=inspect.Parameter.empty if kind in variadic else default))
    return inspect.Signature(made)


@given(signatures())
def test_what_python_writes_is_read_back(signature: inspect.Signature) -> None:
    found = read_signature(f"f{signature}", "f")
    assert found is not None
    for parameter, (name, given_) in zip(found, signature.parameters.items(), strict=True):
        default = None if given_.default is given_.empty else repr(given_.default)
        assert (parameter["name"], parameter["kind"]) == (name, given_.kind.name.lower())
        assert parameter["default"] == default or eval(str(parameter["default"])) == given_.default


@given(st.text("f()[]{}=,'\"*/ \n\x00a:-><$", max_size=40))
def test_no_line_is_too_strange(line: str) -> None:
    read_signature(f"f({line}", "f")


def described(name: str, file: str) -> ModuleRecord:
    outcome, message, seen = describe_module(name)
    assert (outcome, message) == ("passed", "")
    assert seen is not None
    record = record_of(name, file, seen)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(record), type=ModuleRecord) == record
    return record


def test_a_compiled_module_of_the_standard_library() -> None:
    record = described("zlib", "zlib.cpython-311-x86_64-linux-gnu.so")
    assert (record.source, record.is_package, record.exports) == (SourceKind.INSPECTED, False, None)
    compress = record.definitions["compress"]
    assert [(p["name"], p["kind"], p["default"]) for p in compress.called] == [
        ("data", PO, None),
        ("level", POK, "-1"),
        ("wbits", POK, "15"),
    ]
    assert (compress.kind, compress.docstring) == ("function", inspect.cleandoc(zlib.compress.__doc__ or ""))
    limit = record.definitions["MAX_WBITS"]
    assert (limit.kind, limit.value, limit.labels) == ("attribute", "15", ["module-attribute"])
    assert record.definitions["error"].bases == ["Exception"]


def test_a_compiled_module_of_a_package() -> None:
    record = described("msgspec._core", "msgspec/_core.cpython-311-x86_64-linux-gnu.so")
    struct, meta = record.definitions["Struct"], record.definitions["Meta"]
    assert struct.kind == meta.kind == "class"
    assert [p["name"] for p in meta.members["__init__"].called][:3] == ["self", "gt", "ge"]
    assert meta.members["gt"].kind == "attribute"
    # `msgspec.json` hands the class on under the name that it calls itself
    decoder = record.definitions["JSONDecoder"]
    assert (decoder.kind, [p["name"] for p in decoder.members["decode"].called]) == ("class", ["self", "buf"])
    assert record.definitions["ValidationError"].bases == ["msgspec.DecodeError"]
    unseen = [name for name, d in record.definitions.items() if d.kind == "function" and UNSEEN_SIGNATURE in d.labels]
    assert unseen == []


def test_names_that_are_only_imported() -> None:
    # a module in Python will do: this is about where its names come from
    record = described("json.decoder", "json/decoder.py")
    assert record.exports is not None
    assert record.exports.parts == [("add", "JSONDecoder"), ("add", "JSONDecodeError")]
    named = described("json.scanner", "json/scanner.py")
    assert {name: d.target for name, d in named.definitions.items()} == {"make_scanner": None}
    tool = described("json.tool", "json/tool.py")
    assert [tool.definitions[name].target for name in ("argparse", "Path")] == ["argparse", "pathlib.Path"]
