"""Tests as scripts: what they print in the place of assertions, and which lines one assertion needs."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.vocabularies.changes import ChangeKind, Reach
from pipeline.core.vocabularies.review import RejectReason
from pipeline.core.vocabularies.running import Outcome
from pipeline.corpus.own_tests.refusal import Refused
from pipeline.corpus.usages.api import Api
from pipeline.corpus.witnesses.candidates import Catalogue, Cause, Failure, candidates, matched, text_of
from pipeline.corpus.witnesses.scripts import Line, loose_script_of, slice_to


def lines_of(body: str, preamble: str = "") -> list[Line]:
    code = "def test_it():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    row: Any = {"preamble": preamble, "code": code}
    return loose_script_of(row)[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert f(1) == 2", "print(f(1))\n"),
        ("assert 2 == f(1)", "print(f(1))\n"),
        ("assert f(1) == g(1)", "print(f(1) == g(1))\n"),
        ("assert f(1) is None", "print(f(1))\n"),
        ("assert f(1)", "print(bool(f(1)))\n"),
        ("assert not f(1)", "print(not f(1))\n"),
        ("assert isinstance(x, int)", "print(isinstance(x, int))\n"),
        ("assert_equal(f(1), 2)", "print(f(1))\n"),
        ("x = 2\nassert f(1) == x", "x = 2\nprint(f(1))\n"),
        ("x = [2]\nassert_equal(f(1), x)", "x = [2]\nprint(f(1))\n"),
        ("x = 2\nassert f(x) == x", "x = 2\nprint(f(x) == x)\n"),
        ("x = 2\nx += 1\nassert f(1) == x", "x = 2\nx += 1\nprint(f(1) == x)\n"),
        ("for x in (1, 2):\n    assert f(x) == 2", "for x in (1, 2):\n    print(f(x))\n"),
        ("with pytest.warns(UserWarning):\n    f(1)\nassert x == 1", "f(1)\nprint(x)\n"),
        # at a prompt an expression of a block shows its value, which nobody states
        (
            "with client:\n    client.get('/')\n    assert x == 1",
            "with client:\n    _ = client.get('/')\n    print(x)\n",
        ),
        (
            "with pytest.raises(demo.Bad):\n    f(1)",
            "try:\n    f(1)\nexcept demo.Bad as error:\n    print(type(error).__name__)\n",
        ),
        ("with pytest.raises((ValueError, KeyError)):\n    f(1)\nassert x == 1", "print(x)\n"),
        (
            "with pytest.raises(ValueError) as caught:\n    f(1)\nassert caught.value.args == (1,)",
            "try:\n    f(1)\nexcept ValueError as error:\n    caught = error\nprint(caught.args)\n",
        ),
        ("x = 1\nimport math\nassert math.pi == x", "import math\n\nx = 1\nprint(math.pi)\n"),
    ],
)
def test_what_is_asserted_is_printed(body: str, expected: str) -> None:
    assert text_of(lines_of(body)) == expected


@pytest.mark.parametrize(
    ("body", "preamble"),
    [("return\nassert f(1)", ""), ("global x\nassert x", ""), ("x = 2\nassert x == f()", "x = 1\ndef f(): return x\n")],
)
def test_what_would_mean_something_else_at_the_top_is_refused(body: str, preamble: str) -> None:
    with pytest.raises(Refused) as caught:
        lines_of(body, preamble)
    assert caught.value.reason is RejectReason.NAME_CONFLICT


def test_an_assertion_needs_what_binds_its_names_and_what_changes_their_objects() -> None:
    lines = lines_of(
        "g = Graph()\nother = 1\ng.add(1)\nfill(g)\nassert other == 1\nassert g.size == 2", "import json\n"
    )
    assert text_of(slice_to(lines, len(lines) - 1)) == "g = Graph()\ng.add(1)\nfill(g)\nprint(g.size)\n"


@pytest.mark.parametrize("is_tight", [False, True])
def test_an_assertion_needs_the_contexts_that_were_entered_before_it(is_tight: bool) -> None:
    entering = "stack = ExitStack()\nstack.enter_context(context())\n"
    lines = lines_of(f"{entering}other = 1\nassert url() == '/'")
    expected = "print(url())\n" if is_tight else f"{entering}print(url())\n"
    assert text_of(slice_to(lines, len(lines) - 1, tight=is_tight)) == expected


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("assert f(1) == 2", "assert g(1) == 2", 1),
        ("assert f(1) == 2", "assert g(1) == 3", 0),
        ("assert f(1)", "assert g(1)", 1),
        ("assert f(1)", "assert g(2)", 0),
        ("assert f(1) == 2\nassert f(3) == 4", "assert g(3) == 4", 1),
    ],
)
def test_assertions_that_expect_the_same_are_one_test(old: str, new: str, count: int) -> None:
    assert len(list(matched(lines_of(old), lines_of(new)))) == count


def test_forms_that_differ_in_what_no_assertion_needs_show_nothing() -> None:
    old, new = lines_of("x = f(1)\nassert x == 2"), lines_of("x = f(1)\nassert x == 2\nassert y == 3")
    assert candidates(old, new) == []


def test_forms_with_other_values_are_another_example() -> None:
    old, new = lines_of("x = f(1)\nassert x.y == 2"), lines_of("x = g(3)\nassert x.y == 2")
    assert candidates(old, new) == []
    assert len(candidates(old, lines_of("x = g(1)\nassert x.y == 2"))) == 1


def symbol(path: str, kind: str, *parameters: str) -> Any:
    row: Any = {"path": path, "canonical_path": path, "kind": kind, "labels": [], "bases": [], "returns": None}
    return row | {"file": "demo/__init__.py", "parameters": [{"name": name} for name in parameters]}


def change(path: str, kind: ChangeKind, new: str | None, parameter: str | None = None) -> Any:
    row: Any = {"id": path, "path": path, "canonical_path": path, "kind": kind, "new": new, "breaking": True}
    row |= {"old": None, "reach": Reach.LISTED, "parameter": parameter, "library": "demo"}
    return row | {"old_version": "1.0", "new_version": "2.0"}


def api(*names: str) -> Api:
    rows = [symbol("demo", "module"), *(symbol(f"demo.{name}", "function", "a", "b") for name in names)]
    return Api({row["path"]: row for row in rows}, ["demo"], {})


GONE = "AttributeError: module 'demo' has no attribute 'before'"
RENAMED = change("demo.before", ChangeKind.RENAMED, "demo.after")
CAUSES: dict[str, tuple[Any, int, str, tuple[str, str] | set[str]]] = {
    "the failing line uses what the exception names": (RENAMED, 2, GONE, ("demo.before", "demo.after")),
    "another line fails": (RENAMED, 1, GONE, {"demo.both"}),
    "the exception names something else": (RENAMED, 2, "AttributeError: 'x' has no attribute 'y'", {"demo.before"}),
    "the catalogue has no change of it": (change("demo.both", ChangeKind.REMOVED, None), 2, GONE, {"demo.before"}),
    "an annotation changed": (change("demo.before", ChangeKind.RETURNS, "int"), 2, GONE, {"demo.before"}),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_cause_is_the_change_of_what_the_failing_line_uses(case: str) -> None:
    changed, place, message, expected = CAUSES[case]
    texts = "x = demo.both()\nassert demo.{}(x) == 2"
    old, new = (lines_of(texts.format(name), "import demo\n") for name in ("before", "after"))
    (one, *_) = candidates(old, new)
    apis = {"1.0": api("both", "before"), "2.0": api("both", "after")}
    failure = Failure(place, Outcome.API_MISSING, message)
    cause = Catalogue([changed]).cause(one, apis, "1.0", "2.0", failure)
    assert ((cause.old_path, cause.new_path) if isinstance(cause, Cause) else set(cause)) == expected
