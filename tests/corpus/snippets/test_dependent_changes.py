"""Both forms of a function of a dependent are snippets where its releases use the library differently in it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pipeline.corpus.snippets.dependent_changes import ApiUse, changed_functions
from tests.corpus.snippets.rows import TIME, sample_row
from tests.corpus.snippets.test_code_samples import refused, run, snippets

HEAD = "import lib\n\n\n"
MAKES = "def read(name):\n    thing = lib.make()\n    print(name, thing, lib.CONSTANT)\n    return thing\n"
FINDS = MAKES.replace("lib.make()", "lib.find(name)")
OTHER = "def first():\n    return lib.make(), lib.find(1), lib.CONSTANT\n"


def release(version: str, text: str, number: int = 1, **columns: Any) -> Any:
    """A file of a release of the package `user` for a release of the library, a day after the one before."""
    place = f"pkg:pypi/user@{number}"
    return sample_row(HEAD + text, version, place=place, created_time=TIME + timedelta(days=number), **columns)


def forms(*rows: Any) -> list[tuple[str, str]]:
    """Return the release and the first line with the library of each form of `read`."""
    return sorted(
        (row["version"], row["code"].split("\n")[1].strip())
        for row in snippets(run(*rows))
        if "def read" in row["code"]
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (MAKES, FINDS, ["thing = lib.make()", "thing = lib.find(name)"]),
        (MAKES, MAKES.replace("make()", "make(a=2)"), ["thing = lib.make()", "thing = lib.make(a=2)"]),
        (MAKES, MAKES.replace("return thing", "return [thing]"), []),
        (MAKES, MAKES, []),
        (MAKES + FINDS, FINDS, []),
        (MAKES, FINDS.replace("read", "write"), []),
    ],
    ids=["other API", "other argument", "other code", "the same", "twice in a release", "another function"],
)
def test_both_forms_are_snippets_where_uses_differ(old: str, new: str, expected: list[str]) -> None:
    # What the other function shows leaves nothing for which one form alone would be kept.
    assert [line for _, line in forms(release("1", OTHER + old), release("2", OTHER + new, 2))] == expected


def test_a_form_that_others_show_is_an_example_of_nothing() -> None:
    rows = snippets(run(release("1", OTHER + MAKES), release("2", OTHER + FINDS, 2)))
    assert [row["example_of"] for row in rows if "def read" in row["code"]] == [[], []]
    assert [row["example_of"] for row in rows if "def first" in row["code"]] == [
        ["lib.CONSTANT", "lib.find", "lib.make"]
    ]


def test_the_last_of_several_releases_for_one_release_of_the_library_counts() -> None:
    changed = MAKES.replace("name, thing", "thing, name")
    rows = release("1", OTHER + MAKES), release("1", OTHER + changed, 2), release("2", OTHER + FINDS, 3)
    kept = [row["code"] for row in snippets(run(*rows)) if "def read" in row["code"]]
    assert sorted(kept) == sorted([changed, FINDS])


def test_a_file_may_move_into_a_folder_of_sources() -> None:
    moved = release("2", OTHER + FINDS, 2, file="src/user/core.py")
    assert forms(release("1", OTHER + MAKES), moved) == [("1", "thing = lib.make()"), ("2", "thing = lib.find(name)")]


def test_what_another_package_has_is_not_compared() -> None:
    other = release("2", OTHER + FINDS, 2, origin="pypi:other")
    assert forms(release("1", OTHER + MAKES), other) == [("1", "thing = lib.make()")]


IN_CLASSES = [
    ("class A(lib.Base):\n    def f(self):\n        lib.make()\n", "class A(lib.Base):\n    def f(self):\n        lib.find(1)\n", 1),
    ("class A(lib.Base):\n    def f(self):\n        lib.make()\n", "class B(lib.Base):\n    def f(self):\n        lib.find(1)\n", 0),
    ("class A:\n    class B:\n        x = lib.make()\n", "class A:\n    class B:\n        x = lib.find(1)\n", 1),
    ("class A:\n    x: int = lib.make()\n", "class A:\n    x: int = lib.find(1)\n", 1),
    ("class A:\n    x = lib.make()\n", "class A:\n    y = lib.find(1)\n", 0),
    ("x = lib.make()\n", "x = lib.find(1)\n", 0),
    ("@lib.shared\ndef f(): pass\n", "@lib.make\ndef f(): pass\n", 1),
    ("async def f(): lib.make()\n", "async def f(): lib.find(1)\n", 1),
    ("class A:\n    T[" + "1+" * 2000 + "1] = lib.make()\n", "class A:\n    x = lib.find(1)\n", 0),
    ("@show.register\ndef f(a): lib.make()\n", "@show.register\ndef f(a): lib.find(1)\n", 0),
    ("def _(a): lib.make()\n", "def _(a): lib.find(1)\n", 0),
    ("def f(:", "def f(): lib.find(1)\n", 0),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "count"), IN_CLASSES)
def test_what_a_form_is_called(old: str, new: str, count: int) -> None:
    first: Any = {"source": "downstream", "origin": "a", "file": "a.py", "preamble": HEAD, "created_time": TIME}
    rows: list[Any] = [
        {**first, "id": v, "version": v, "place": v, "code": code} for v, code in (("1", old), ("2", new))
    ]
    uses = {"1": frozenset({ApiUse("lib.make", ())}), "2": frozenset({ApiUse("lib.find", ())})}
    pairs = list(changed_functions(rows, lambda row: uses[row["id"]]))
    assert [(one["id"], other["id"]) for one, other in pairs] == [("1", "2")] * count


def test_code_without_a_licence_is_refused_here_too() -> None:
    rows = release("1", OTHER + MAKES, licence=None), release("2", OTHER + FINDS, 2)
    assert ("licence", "1") in {(reason, detail.split()[2].rstrip(":")) for reason, detail in refused(run(*rows))}
