"""Changes and signatures in words."""

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.api.history.change_text import phrases, signature, wrapped
from pipeline.api.history.parameters import written
from pipeline.core.vocabularies.changes import ChangeKind
from pipeline.core.vocabularies.samples import Evidence
from pipeline.core.vocabularies.surface import ParameterKind, ParameterSource
from pipeline.lake.rows import SymbolRow
from tests.api.history.releases import history
from tests.families.completions_and_migrations.rows import change


def row(kind: ChangeKind, **columns: Any) -> Any:
    return change(kind, "lib.f", "1.0", "2.0", **{"breaking": False, **columns})


SAID = {
    "`sort` added, optional (False)": row(
        ChangeKind.PARAMETER_ADDED_OPTIONAL, parameter="sort", new="sort: bool = False"
    ),
    "`sort` added, optional (a or b)": row(ChangeKind.PARAMETER_ADDED_OPTIONAL, parameter="sort", new="sort=a or b"),
    "`x` added, optional": row(ChangeKind.PARAMETER_ADDED_OPTIONAL, parameter="x", new="x=..."),
    "`x` added, optional (1)": row(ChangeKind.PARAMETER_ADDED_OPTIONAL, parameter="x", new="x: some words = 1"),
    "takes any further arguments by name: `**kw`": row(
        ChangeKind.PARAMETER_ADDED_OPTIONAL, parameter="kw", new="**kw: Any"
    ),
    "takes no further arguments by position any more": row(ChangeKind.PARAMETER_REMOVED, parameter="args", old="*args"),
    "`x` added, required": row(ChangeKind.PARAMETER_ADDED_REQUIRED, parameter="x", new="x: int"),
    "`x` removed; use `y`": row(ChangeKind.PARAMETER_REMOVED, parameter="x", old="x=1", replacement="`y`"),
    "`x` renamed to `y` (80% sure)": row(ChangeKind.PARAMETER_RENAMED, parameter="x", old="x", new="y", confidence=0.8),
    "default of `sort`: None → False": row(ChangeKind.PARAMETER_DEFAULT, parameter="sort", old="None", new="False"),
    "`x` is required now (default was 1)": row(ChangeKind.PARAMETER_REQUIRED, parameter="x", old="1"),
    "`x` is optional now (1)": row(ChangeKind.PARAMETER_OPTIONAL, parameter="x", new="1"),
    "became keyword-only: x": row(ChangeKind.PARAMETER_KIND, parameter="x", old="a", new="keyword_only"),
    "position changed: x (2→3)": row(ChangeKind.PARAMETER_MOVED, parameter="x", old="position 2", new="position 3"),
    "`x` deprecated": row(ChangeKind.PARAMETER_DEPRECATED, parameter="x", new="entirely"),
    "`x` deprecated as a name; use y": row(ChangeKind.PARAMETER_DEPRECATED, parameter="x", new="name", replacement="y"),
    "deprecated to give by position: x": row(ChangeKind.PARAMETER_DEPRECATED, parameter="x", new="by_position"),
    "type of `x`: int → str": row(ChangeKind.PARAMETER_TYPE, parameter="x", old="int", new="str"),
    "value: 1 → 2": row(ChangeKind.ATTRIBUTE_VALUE, old="1", new="2"),
    "returns: int → none": row(ChangeKind.RETURNS, old="int"),
    "is now a property, was an attribute": row(ChangeKind.KIND, old="attribute", new="property"),
    "must be awaited now": row(ChangeKind.ASYNC, old="not async", new="async"),
    "is no coroutine any more: do not await it": row(ChangeKind.ASYNC, old="async", new="not async"),
    "deprecated": row(ChangeKind.DEPRECATED),
    "deprecated; use lib.g": row(ChangeKind.DEPRECATED, replacement="lib.g"),
    "deprecated: take g instead": row(ChangeKind.DEPRECATED, new="take\n  g  instead", replacement="lib.g"),
    "deprecated to write x.a = …: set b": row(ChangeKind.USE_DEPRECATED, new="x.a = …: set b"),
    "no longer deprecated": row(ChangeKind.UNDEPRECATED, old="take g"),
    "removed (documented); use lib.g": row(
        ChangeKind.REMOVED, old="function ()", replacement="lib.g", evidence=Evidence.DOCUMENTED
    ),
    "removed (50% sure); use lib.g": row(ChangeKind.REMOVED, old="function ()", replacement="lib.g", confidence=0.5),
    "moved to lib.sub.f (executed, 95% sure)": row(
        ChangeKind.MOVED, new="lib.sub.f", evidence=Evidence.EXECUTED, confidence=0.95
    ),
}


@pytest.mark.parametrize("said", SAID)
def test_a_change_in_words(said: str) -> None:
    assert [phrase.text for phrase in phrases([SAID[said]])] == [said]


@pytest.mark.parametrize("breaking", [True, False])
@pytest.mark.parametrize("kind", ChangeKind)
def test_every_kind_has_words_and_keeps_whether_it_breaks(kind: ChangeKind, breaking: bool) -> None:
    (phrase,) = phrases([row(kind, parameter="x", old="a", new="b", breaking=breaking)])
    assert phrase.text
    assert phrase.breaking == breaking


def test_what_breaks_comes_first_and_what_is_the_same_is_said_once() -> None:
    changes = [
        row(ChangeKind.PARAMETER_ADDED_OPTIONAL, parameter="z", new="z=1"),
        *(
            row(ChangeKind.PARAMETER_KIND, parameter=name, old="", new="keyword_only", breaking=breaks)
            for name, breaks in (("a", True), ("b", False), ("c", True))
        ),
        row(ChangeKind.PARAMETER_KIND, parameter="d", old="", new="positional_only", breaking=True),
    ]
    assert [(phrase.text, phrase.breaking) for phrase in phrases(changes)] == [
        ("became keyword-only: a, c", True),
        ("became positional-only: d", True),
        ("`z` added, optional (1)", False),
        ("became keyword-only: b", False),
    ]


def state(source: str, name: str = "f") -> SymbolRow:
    read, _ = history(source)
    return next(r for r in read.tables["symbols"] if r["path"] == f"pkg.{name}")


@pytest.mark.parametrize(
    "written_as",
    [
        "def f(): ...",
        "def f(a, /): ...",
        "def f(a, /, b, *, c=1): ...",
        "def f(a=None, *args: int, b, **kwargs) -> dict[str, int]: ...",
        "def f(*, a: int = 1): ...",
    ],
)
def test_a_signature_is_written_as_in_the_source(written_as: str) -> None:
    (line,) = signature(state(written_as), 100)
    assert ast.dump(ast.parse(f"def {line}: ...")) == ast.dump(ast.parse(written_as))


def test_values_and_classes_have_one_too() -> None:
    assert signature(state("X: int = 3", "X"), 80) == ["X: int = 3"]
    assert signature(state("class C:\n    def __init__(self, a): ...", "C"), 80) == ["C(a)"]


def test_a_name_that_a_helper_still_accepts_is_not_what_one_should_write() -> None:
    known = state("def f(a, old=1): ...")["parameters"]
    shown = [known[0], known[1] | {"known_from": ParameterSource.HELPER, "kind": ParameterKind.KEYWORD_ONLY}]
    assert written(shown) == ["a"]


def test_a_long_signature_goes_on_below_its_first_parameter() -> None:
    assert wrapped("f(", ["alpha=1", "beta=2", "gamma=3"], ") -> int", 20) == [
        "f(alpha=1, beta=2,",
        "  gamma=3) -> int",
    ]
    head = "a_function_with_a_name_of_its_own("
    assert wrapped(head, ["alpha", "beta"], ")", 42) == [f"{head}alpha,", "    beta)"]


@given(st.lists(st.from_regex(r"[a-z]{1,30}", fullmatch=True)), st.integers(10, 120))
def test_wrapping_loses_nothing_and_is_as_narrow_as_the_names_allow(parts: list[str], width: int) -> None:
    lines = wrapped("f(", parts, ")", width)
    assert " ".join(line.strip() for line in lines) == f"f({', '.join(parts)})"
    assert all(len(line) <= width or "," not in line.rstrip(",") for line in lines)
