"""Old parameters, new parameters, and what changed between them."""

import ast
from typing import Any

import pytest

from pipeline.api.history.parameters import compare_parameters
from pipeline.api.surface.extract.signature_decorators import HelperRules, apply_helpers, read_parameters
from pipeline.core.rules.load import RULES, load
from pipeline.core.vocabularies.surface import ParameterSource
from pipeline.lake.rows import SymbolParameter
from tests.api.history.releases import TAGGING, changes

HELPERS = load(RULES / "helpers.yaml", HelperRules)
SOURCES = {str(source): source for source in ParameterSource}


def parameters(signature: str, **sources: str) -> list[SymbolParameter]:
    """Read `@decorator … (a, b=1)`; `sources` says where parameters are known from, if not from the signature."""
    decorators, _, inside = signature.rpartition("(")
    (function,) = ast.parse(f"{decorators}\ndef f({inside}: ...").body
    assert isinstance(function, ast.FunctionDef)
    found = apply_helpers(function.decorator_list, read_parameters(function.args), HELPERS)
    return [p | {"known_from": SOURCES[str(sources.get(p["name"], p["known_from"]))]} for p in found]


def described(old: list[Any], new: list[Any]) -> list[tuple[str, str | None, bool]]:
    found = compare_parameters(old, new, TAGGING)
    usual = {kind: tags.breaking for kind, tags in TAGGING.changes.items()}
    rows = [(str(d.kind), d.parameter, usual[d.kind] if d.breaking is None else d.breaking) for d in found]
    return sorted(rows, key=lambda row: (row[0], row[1] or ""))


CASES = [
    ("a", "a", []),
    ("a", "a, b", [("parameter_added_required", "b", True)]),
    ("a", "a, b=1", [("parameter_added_optional", "b", False)]),
    ("a", "a, *args, **kw", [("parameter_added_optional", "args", False), ("parameter_added_optional", "kw", False)]),
    ("*args, **kw", "*rest, **options", []),
    ("a, b=1", "a", [("parameter_removed", "b", True)]),
    ("a, *, b=1", "a, **kw", [("parameter_added_optional", "kw", False), ("parameter_removed", "b", False)]),
    ("a, **kw", "a", [("parameter_removed", "kw", True)]),
    ("path, b", "filename, b", [("parameter_renamed", "path", True)]),
    ("path, /", "filename, /", []),
    ("a_b, /, c", "pair, c", [("parameter_kind", "a_b", False)]),
    ("on_update=None", "token=None", [("parameter_added_optional", "token", False),
                                      ("parameter_removed", "on_update", True)]),
    ("json_data", "s, /", [("parameter_kind", "json_data", True), ("parameter_renamed", "json_data", True)]),
    ("__cmd, *a", "cmd, /, *a", [("parameter_kind", "__cmd", False), ("parameter_renamed", "__cmd", False)]),
    ("_key, b", "key, b", [("parameter_renamed", "_key", False)]),
    ("a, *, _b", "a, *, b", [("parameter_added_required", "b", True), ("parameter_removed", "_b", True)]),
    ("errors=None", "error=None", [("parameter_renamed", "errors", True)]),
    (
        "f, in_rows=1",
        "f, *, in_columns=1",
        [("parameter_kind", "in_rows", True), ("parameter_renamed", "in_rows", True)],
    ),
    ("f, in_rows=1, g=2", "f, *, in_columns=1", [
        ("parameter_added_optional", "in_columns", False),
        ("parameter_removed", "g", True),
        ("parameter_removed", "in_rows", True),
    ]),
    ("f, b=1, /", "f, *, bb=1", [
        ("parameter_kind", "b", True), ("parameter_kind", "f", False), ("parameter_renamed", "b", True)
    ]),
    ("f, a, b=1", "f, *, b=1", [("parameter_kind", "b", True), ("parameter_removed", "a", True)]),
    ("a: int", "b: str", [("parameter_added_required", "b", True), ("parameter_removed", "a", True)]),
    ("a, b", "b, a", [("parameter_moved", "a", True)]),
    ("a, b", "a, *, b", [("parameter_kind", "b", True)]),
    ("a, *, b", "a, b", [("parameter_kind", "b", False)]),
    ("a, /", "a", [("parameter_kind", "a", False)]),
    ("a=1", "a", [("parameter_required", "a", True)]),
    ("a", "a=1", [("parameter_optional", "a", False)]),
    ("a=1", "a=2", [("parameter_default", "a", True)]),
    ("a=None", "a=MISSING", [("parameter_default", "a", False)]),
    ("a=1", "a=True", [("parameter_default", "a", True)]),
    ("a='x'", 'a="x"', []),
    ("a: int", "a: str", [("parameter_type", "a", False)]),
    ("a: Literal['x']", "a: Literal['y']", [("parameter_type", "a", False)]),
    # what is pushed back by an insertion has not moved; the insertion breaks what was given by position
    ("a, c=1, d=1", "a, b=1, c=1, d=1", [("parameter_added_optional", "b", True)]),
    ("a, *args", "a, b=1, *args", [("parameter_added_optional", "b", True)]),
    ("a, *, c", "a, b=1, *, c", [("parameter_added_optional", "b", False)]),
    ("a, b, c, d", "d, a, b, c", [("parameter_moved", "d", True)]),
    ("a, b, c, d", "b, a, d, c", [("parameter_moved", "a", True), ("parameter_moved", "c", True)]),
    ("a, b, c, d", "c, a, d", [("parameter_moved", "a", True), ("parameter_removed", "b", True)]),
    # what `*args, **kw` take must be takeable by place and by name, as before
    ("a, b", "a, *args, **kw", [("parameter_added_optional", "args", False), ("parameter_added_optional", "kw", False),
                                ("parameter_removed", "b", False)]),
    ("a, b, c, *args, **kw", "a, c, *args, **kw", [("parameter_removed", "b", True)]),
    ("a, b, *args", "a, *args", [("parameter_removed", "b", True)]),
    ("a, b, **kw", "a, **kw", [("parameter_removed", "b", True)]),
    ("a, b, /, *args", "a, /, *args", [("parameter_removed", "b", False)]),
    ("a, b, /, c, *args", "a, /, c, *args", [("parameter_removed", "b", True)]),
    # an optional parameter with an underscore is nobody's business, unless others stand behind it
    ("a, _b=1", "a", [("parameter_removed", "_b", False)]),
    ("a, *, _b=1", "a", [("parameter_removed", "_b", False)]),
    ("a, _b=1, _c=2", "a", [("parameter_removed", "_b", False), ("parameter_removed", "_c", False)]),
    ("a, _b=1, c=2", "a, c=2", [("parameter_removed", "_b", True)]),
    ("a, _b", "a", [("parameter_removed", "_b", True)]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_parameters(old, new, expected):
    assert described(parameters(f"({old})"), parameters(f"({new})")) == expected


def test_griffe_is_not_said_to_report_what_breaks_nothing():
    (loosened,) = changes("def f(*, b): ...\n", "def f(b): ...\n")
    (tightened,) = changes("def f(b): ...\n", "def f(*, b): ...\n")
    assert (loosened["griffe_kind"], tightened["griffe_kind"]) == (None, "Parameter kind was changed")


RENAME = "@_api.rename_parameter('3.1', 's', 'text')\n(self, text)"
KEYWORD_ONLY = "@_api.make_keyword_only('3.1', 'b')\n(a, b=1)"
POSITION = "@_deprecate_positional_args\n(a, *, b=1)"
GOES = "@_api.delete_parameter('3.1', 'b')\n(a, b=1)"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # matplotlib: Annotation(s) became Annotation(text) in 3.1, and s went in 3.3
        ("(self, s)", RENAME, [("parameter_renamed", "s", False)]),
        (RENAME, "(self, text)", [("parameter_removed", "s", True)]),
        (RENAME, "(self, text, **kw)", [("parameter_added_optional", "kw", False), ("parameter_removed", "s", True)]),
        (RENAME, RENAME.replace("3.1", "3.2"), []),
        ("(self, text)", RENAME, [("parameter_deprecated", "s", False)]),
        ("(self, s, text)", RENAME, [("parameter_deprecated", "s", False), ("parameter_kind", "s", True)]),
        ("(a, b=1)", KEYWORD_ONLY, [("parameter_deprecated", "b", False)]),
        (KEYWORD_ONLY, "(a, *, b=1)", [("parameter_kind", "b", True)]),
        # scikit-learn 0.23: the star is in the signature at once
        ("(a, b=1)", POSITION, [("parameter_deprecated", "b", False)]),
        (POSITION, "(a, *, b=1)", [("parameter_kind", "b", True)]),
        (KEYWORD_ONLY, POSITION, []),
        ("(a, b=1)", GOES, [("parameter_deprecated", "b", False)]),
        (KEYWORD_ONLY, GOES, [("parameter_deprecated", "b", False)]),
        (GOES, "(a)", [("parameter_removed", "b", True)]),
        (GOES, "(a, b=1)", []),
        (
            "(a, **kw)",
            "@_api.delete_parameter('3.1', 'b')\n(a, **kw)",
            [("parameter_deprecated", "b", False)],
        ),
    ],
)
def test_what_a_helper_still_accepts(old, new, expected):
    assert described(parameters(old), parameters(new)) == expected


def test_differences_carry_the_name_to_use_instead():
    pairs = [("(self, s)", RENAME), (RENAME, "(self, text)"), ("(self, text)", RENAME), ("(path)", "(filename)")]
    found = [next(compare_parameters(parameters(old), parameters(new), TAGGING)) for old, new in pairs]
    assert [d.replacement for d in found] == ["text", "text", "text", "filename"]


@pytest.mark.parametrize("source", ["kwargs", "docstring", "stub"])
def test_what_became_explicit_neither_came_nor_went(source):
    hidden = parameters("(a, *, b=..., **kw)", b=source)
    assert described(hidden, parameters("(a, b=1, **kw)")) == []
    assert described(parameters("(a, *, b=1, **kw)"), hidden) == []
    assert described(parameters("(a, b=1, **kw)"), hidden) == [("parameter_kind", "b", True)]


def test_what_args_still_take_by_place_did_not_become_keyword_only():
    assert described(parameters("(a, b=1)"), parameters("(a, *args, b=..., **kw)", b="kwargs")) == [
        ("parameter_added_optional", "args", False),
        ("parameter_added_optional", "kw", False),
    ]


@pytest.mark.parametrize(
    ("source", "old", "new", "expected"),
    [
        ("docstring", "(a, *, b=..., **kw)", "(a, **kw)", [("parameter_removed", "b", False)]),
        ("docstring", "(a, *, b=...)", "(a)", [("parameter_removed", "b", False)]),
        ("docstring", "(a, **kw)", "(a, *, b=..., **kw)", [("parameter_added_optional", "b", False)]),
        ("kwargs", "(a, *, b=..., **kw)", "(a, **kw)", []),
        ("kwargs", "(a, *, b=..., **kw)", "(a)", [("parameter_removed", "b", True), ("parameter_removed", "kw", True)]),
        ("kwargs", "(a, **kw)", "(a, *, b, **kw)", [("parameter_added_required", "b", True)]),
        # a stub that came or went is no change of what runs
        ("stub", "(*args, **kw)", "(b=..., *args, **kw)", []),
        ("stub", "(b=..., *args, **kw)", "(*args, **kw)", []),
    ],
)
def test_what_only_the_body_the_docstring_or_a_stub_tells(source, old, new, expected):
    assert described(parameters(old, b=source), parameters(new, b=source)) == expected


def test_what_the_body_took_is_gone_where_it_is_seen_to_take_others_still():
    old = parameters("(a, *, b=..., c=..., **kw)", b="kwargs", c="kwargs")
    assert described(old, parameters("(a, *, c=..., **kw)", c="kwargs")) == [("parameter_removed", "b", False)]


def test_a_stub_that_was_there_before_tells_of_what_went():
    old = parameters("(a, b=..., *args, **kw)", a="stub", b="stub")
    new = parameters("(a, *args, **kw)", a="stub")
    assert described(old, new) == [("parameter_removed", "b", False)]


BASE = "class Base:\n    def __init__(self, a=1, b=2, **more): ...\n"
PASSES_ON = "class Sub(Base):\n    def __init__(self{}, **kw):\n        super().__init__({}**kw)\n"
EXPLICIT = "class Sub(Base):\n    def __init__(self, a=1, b=2): ...\n"
OF_BASES = [
    (
        BASE + EXPLICIT,
        BASE + PASSES_ON.format("", ""),
        ["parameter_added_optional kw", "parameter_kind a", "parameter_kind b"],
    ),
    (BASE + PASSES_ON.format("", ""), BASE + EXPLICIT, ["parameter_removed kw"]),
    (BASE + PASSES_ON.format("", ""), BASE + PASSES_ON.format("", "b=5, "), []),
    (BASE + PASSES_ON.format(", *, b=2", "b=b, "), BASE + PASSES_ON.format("", ""), []),
    (BASE + PASSES_ON.format(", *, b=2", "b=b, "), BASE + PASSES_ON.format("", "b=5, "), ["parameter_removed b"]),
    (BASE + PASSES_ON.format("", ""), BASE.replace("a=1", "a=7, c=3") + PASSES_ON.format("", ""), []),
]


@pytest.mark.parametrize(("old", "new", "expected"), OF_BASES)
def test_what_a_base_takes_is_not_gone(old: str, new: str, expected: list[str]) -> None:
    rows = [row for row in changes(old, new) if row["path"] == "pkg.Sub" and row["kind"].startswith("parameter")]
    assert [f"{row['kind']} {row['parameter']}" for row in rows] == expected


KEYWORDS = "def takes(token, *, leeway=0): ...\n"
HANDS_ON = {
    "to a function": (
        "def f(x, leeway=0): ...\n",
        KEYWORDS + "def f(x, **kw):\n    return takes(x, **kw)\n",
        ["parameter_added_optional kw 1.0", "parameter_kind leeway 1.0"],
    ),
    "to a method, which hands them on to a private one": (
        "class C:\n    def f(self, x, leeway=0): ...\n",
        "class C:\n    def f(self, x, **kw):\n        return self.g(x, **kw)\n"
        "    def g(self, x, **kw):\n        self._h(x, **kw)\n    def _h(self, x, leeway=0, **kw): ...\n",
        ["parameter_added_optional kw 1.0", "parameter_kind leeway 1.0"],
    ),
    "to a function without it": (
        "def f(x, leeway=0): ...\n",
        "def takes(x): ...\ndef f(x, **kw):\n    return takes(x, **kw)\n",
        ["parameter_added_optional kw 1.0", "parameter_removed leeway 1.0"],
    ),
    "to what no source shows": (
        "def f(x, leeway=0): ...\n",
        "import there\ndef f(x, **kw):\n    return there.takes(x, **kw)\n",
        ["parameter_added_optional kw 1.0", "parameter_removed leeway 0.9"],
    ),
    "as a dictionary": (
        "def f(x, *, leeway=0): ...\n",
        "def f(x, **kw):\n    return takes(kw)\n",
        ["parameter_added_optional kw 1.0", "parameter_removed leeway 0.9"],
    ),
    "to the own class": (
        "class C:\n    def __init__(self, *, a=1): ...\n    @classmethod\n    def f(cls, *, a=1): ...\n",
        "class C:\n    def __init__(self, *, a=1): ...\n    @classmethod\n    def f(cls, **kw): return cls(**kw)\n",
        ["parameter_added_optional kw 1.0"],
    ),
    "to a method of the base": (
        "class B:\n    def f(self, *, a=1): ...\nclass C(B):\n    def f(self, *, a=1): ...\n",
        "class B:\n    def f(self, *, a=1): ...\nclass C(B):\n    def f(self, **kw): return super().f(**kw)\n",
        ["parameter_added_optional kw 1.0"],
    ),
    "by a constructor to a method": (
        "class C:\n    def __init__(self, *, a=1): ...\n",
        "class C:\n    def __init__(self, **kw): self.set_up(**kw)\n    def set_up(self, *, a=1): ...\n",
        ["parameter_added_optional kw 1.0"],
    ),
    "to itself": (
        "def f(x, *, a=1): ...\n",
        "def f(x, **kw):\n    return f(x - 1, **kw)\n",
        ["parameter_added_optional kw 1.0", "parameter_removed a 1.0"],
    ),
    "to an argument": (
        "def f(g, *, a=1): ...\n",
        "def g(*, a=1): ...\ndef f(g, **kw):\n    return g(**kw)\n",
        ["parameter_added_optional kw 1.0", "parameter_removed a 0.9"],
    ),
    "to what no source shows, before it became explicit": (
        "import there\ndef f(x, **kw):\n    return there.takes(x, **kw)\n",
        "def f(x, *, leeway=0, **kw):\n    return there.takes(x, **kw)\n",
        ["parameter_added_optional leeway 0.6"],
    ),
    "by a constructor to a base that no source shows (urllib3: HTTPConnection)": (
        "from http.client import HTTPConnection as B\n"
        "class C(B):\n    def __init__(self, *args, **kw):\n        B.__init__(self, *args, **kw)\n",
        "from http.client import HTTPConnection as B\n"
        "class C(B):\n    def __init__(self, host, port=None, *, blocksize=1):\n        super().__init__(host, port)\n",
        [
            "parameter_added_optional blocksize 0.6",
            "parameter_added_optional port 0.6",
            "parameter_added_required host 0.6",
            "parameter_removed args 0.2",
            "parameter_removed kw 0.6",
        ],
    ),
    "by a constructor to one that hands them on to an unobservable one (urllib3: HTTPSConnection)": (
        "from http.client import HTTPConnection as H\nclass _B(H):\n"
        "    def __init__(self, *args, **kw):\n        H.__init__(self, *args, **kw)\n"
        "class C(_B):\n    def __init__(self, host, **kw):\n        _B.__init__(self, host, **kw)\n",
        "from http.client import HTTPConnection as H\nclass _B(H):\n"
        "    def __init__(self, *args, **kw):\n        H.__init__(self, *args, **kw)\n"
        "class C(_B):\n    def __init__(self, host, *, blocksize=1):\n        super().__init__(host)\n",
        ["parameter_added_optional blocksize 0.6", "parameter_removed kw 0.6"],
    ),
    "by a constructor to a base without a constructor, whose base no source shows": (
        "from there import B\nclass _M(B): ...\nclass C(_M):\n    def __init__(self, *, a=1): ...\n",
        "from there import B\nclass _M(B): ...\nclass C(_M):\n    def __init__(self, **kw): super().__init__(**kw)\n",
        ["parameter_added_optional kw 1.0", "parameter_removed a 0.9"],
    ),
    "by a constructor to a base that takes other names": (
        "class _B:\n    def __init__(self, b=1): ...\nclass C(_B):\n    def __init__(self, *, a=1): ...\n",
        "class _B:\n    def __init__(self, b=1): ...\n"
        "class C(_B):\n    def __init__(self, **kw): super().__init__(**kw)\n",
        ["parameter_added_optional kw 1.0", "parameter_removed a 1.0"],
    ),
    "by a constructor to object": (
        "class C:\n    def __init__(self, *, a=1): ...\n",
        "class C:\n    def __init__(self, **kw): super().__init__(**kw)\n",
        ["parameter_added_optional kw 1.0", "parameter_removed a 1.0"],
    ),
    "set before": (
        "def f(*, leeway=0, b=1): ...\n",
        "def takes(*, leeway=0): ...\ndef f(**kw):\n    kw['leeway'] = 1\n    return takes(**kw)\n",
        ["parameter_added_optional kw 1.0", "parameter_removed b 1.0", "parameter_removed leeway 1.0"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), HANDS_ON.values(), ids=HANDS_ON)
def test_what_kwargs_are_handed_on_to_is_not_gone(old: str, new: str, expected: list[str]) -> None:
    rows = [row for row in changes(old, new) if row["kind"].startswith("parameter")]
    assert [f"{row['kind']} {row['parameter']} {row['confidence']}" for row in rows] == expected


HANDED_ARGS = {
    "to a method": (
        "class C:\n    def __init__(self, *args, **kw): self.update(*args, **kw)\n    def update(self, **kw): ...\n",
        "class C:\n    def __init__(self, other=(), /, **kw): ...\n    def update(self, **kw): ...\n",
        ["parameter_added_optional other 0.6", "parameter_removed args 0.2 breaking"],
    ),
    "to a base that no source shows": (
        "import x\nclass C(x.B):\n    def __init__(self, *args, k=1): super().__init__(*args)\n",
        "import x\nclass C(x.B):\n    def __init__(self, a, k=1): super().__init__(a)\n",
        [
            "parameter_added_required a 1.0 breaking",
            "parameter_kind k 1.0",
            "parameter_removed args 0.2 breaking",
        ],
    ),
    "counted": (
        "def f(*args):\n    if len(args) > 1:\n        raise TypeError\n",
        "def f(other=()): ...\n",
        ["parameter_added_optional other 0.6", "parameter_removed args 0.2 breaking"],
    ),
    "all taken by the body": (
        "def f(*args):\n    return [a for a in args]\n",
        "def f(other=()): ...\n",
        ["parameter_added_optional other 1.0 breaking", "parameter_removed args 1.0 breaking"],
    ),
    "all taken by a function of Python": (
        "import os\ndef f(*args):\n    return os.path.join(*args)\n",
        "def f(other=()): ...\n",
        ["parameter_added_optional other 1.0 breaking", "parameter_removed args 1.0 breaking"],
    ),
    "to functions of Python that take one": (
        "def f(*args):\n    return set(*args), ', '.join(*args)\n",
        "def f(other=()): ...\n",
        ["parameter_added_optional other 0.6", "parameter_removed args 0.2 breaking"],
    ),
    "to a method that is called as a function of Python": (
        "import there\ndef f(*args):\n    return there.print(*args)\n",
        "def f(other=()): ...\n",
        ["parameter_added_optional other 0.6", "parameter_removed args 0.2 breaking"],
    ),
    "all taken by a format": (
        "def f(*args):\n    return '{} {}'.format(*args)\n",
        "def f(other=()): ...\n",
        ["parameter_added_optional other 1.0 breaking", "parameter_removed args 1.0 breaking"],
    ),
    "keywords to what no source shows": (
        "import x\ndef f(a, **kw):\n    return x.g(a, **kw)\n",
        "import x\ndef f(a, *, size=None):\n    return x.g(a, size=size)\n",
        ["parameter_added_optional size 0.6", "parameter_removed kw 0.6 breaking"],
    ),
    "keywords to what the sources show": (
        "def f(a, **kw): ...\n",
        "def f(a): ...\n",
        ["parameter_removed kw 1.0 breaking"],
    ),
    "another keyword is none of their places": (
        "def f(*args):\n    g(*args)\n",
        "def f(*args, k=1):\n    g(*args)\n",
        ["parameter_added_optional k 1.0"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), HANDED_ARGS.values(), ids=HANDED_ARGS)
def test_args_that_are_handed_on_may_be_no_more_than_what_stands_there_now(
    old: str, new: str, expected: list[str]
) -> None:
    rows = [row for row in changes(old, new) if row["kind"].startswith("parameter")]
    lines = [f"{row['kind']} {row['parameter']} {row['confidence']} {'breaking' * row['breaking']}" for row in rows]
    assert [line.strip() for line in lines] == expected


UNPACKED = {
    "click: Context.invoke becomes explicit": (
        "class C:\n    def f(*args, **kw):\n        self, cmd = args[:2]\n",
        "class C:\n    def f(self, cmd, /, *args, **kw): ...\n",
        [],
    ),
    "the same without a slash": (
        "class C:\n    def f(*args, **kw):\n        self, cmd = args[:2]\n",
        "class C:\n    def f(self, cmd, *args, **kw): ...\n",
        [],
    ),
    "one more": (
        "def f(*args):\n    a, b = args\n",
        "def f(*args):\n    if len(args) != 3:\n        raise TypeError\n    a, b, c = args\n",
        ["parameter_added_required c"],
    ),
    "the rest is open": ("def f(*args):\n    a, *rest = args\n", "def f(a, /, *args): ...\n", []),
    "only by place now": (
        "def f(a, **kw): ...\n",
        "def f(*args, **kw):\n    a, = args\n",
        ["parameter_kind a"],
    ),
    "only sometimes": (
        "def f(*args):\n    if args:\n        return\n    a, = args\n",
        "def f(a, /): ...\n",
        ["parameter_added_required a", "parameter_removed args"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), UNPACKED.values(), ids=UNPACKED)
def test_what_a_body_unpacks_args_into(old: str, new: str, expected: list[str]) -> None:
    rows = [row for row in changes(old, new) if row["kind"].startswith("parameter")]
    assert [f"{row['kind']} {row['parameter']}" for row in rows] == expected
