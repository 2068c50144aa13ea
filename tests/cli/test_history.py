"""`driftline history` on a library whose history is known."""

from __future__ import annotations

import re

import pytest
from rich.console import Console

from tests.cli.command import Driftline
from tests.index_server import Index

LIFE = """\
demo.total in 4 final releases of demo, 1.0 (2021-01-01) to 2.0 (2021-04-01)

  introduced in 1.1 (2021-02-01)
  deprecated    since 1.2 (2021-03-01): “total is deprecated, use summed instead”
  removed in    2.0 (2021-04-01); 1.2 is the last that has it
  use instead   demo.summed
  lived         59 days, 2 releases

Last signature, 1.2
  total(numbers)

What happened   (! can break code that was right)
  1.1  2021-02-01    introduced
  1.2  2021-03-01    deprecated
  2.0  2021-04-01  ! removed; use demo.summed
"""


def test_a_life_in_a_file_is_complete_without_colours_and_bars(driftline: Driftline, at_demo: Index) -> None:
    result = driftline("history", "demo", "demo.total")
    assert (result.status, result.out) == (0, LIFE)
    assert "left out: 2.1: withdrawn by its authors" in result.err


def test_a_terminal_has_a_timeline_and_colours(
    driftline: Driftline, at_demo: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.cli.history.out", Console(highlight=False, force_terminal=True, width=60))
    shown = driftline("history", "demo", "demo.total").out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert shown != plain
    assert "  1.0 ░█▒░ 2.0\n      █ there   ▒ deprecated   ░ not there\n" in plain
    assert all(len(line) <= 60 for line in plain.splitlines()[1:])


def test_json_has_lives_states_and_changes(driftline: Driftline, at_demo: Index) -> None:
    found = driftline("history", "demo", "demo.total", "--json").json
    assert (found["library"], found["path"], found["alias_of"], found["public_as"]) == ("demo", "demo.total", None, [])
    assert found["releases"] == ["1.0", "1.1", "1.2", "2.0"]
    assert found["release_times"]["2.0"] == "2021-04-01T00:00:00+00:00"
    (life,) = found["lives"]
    assert (life["introduced_in"], life["deprecated_in"], life["removed_in"]) == ("1.1", "1.2", "2.0")
    assert [change["kind"] for change in found["changes"]] == ["introduced", "deprecated", "removed"]
    assert {reject["reason"] for reject in found["rejects"]} == {"yanked", "pre_release", "no_files"}
    assert found["states"]


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_the_same_question_has_the_same_answer(driftline: Driftline, at_demo: Index, json: list[str]) -> None:
    assert (
        driftline("history", "demo", "demo.greet", *json).out == driftline("history", "demo", "demo.greet", *json).out
    )


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("demo.totl", "did you mean demo.total"),
        ("make_louder", "did you mean demo.make_louder"),
        ("other.place.greet", "did you mean demo.greet"),
        ("numpy.linalg.qr", "it offers 7 other paths"),
        ("[/bold]", "it offers 7 other paths"),
        ("", "it offers 7 other paths"),
    ],
)
def test_an_unknown_path_leads_to_near_ones(driftline: Driftline, at_demo: Index, path: str, meant: str) -> None:
    result = driftline("history", "demo", path)
    assert result.status == 1
    assert f"{path}: no final release has it\n  {meant}" in result.out


def test_a_private_path_is_said_to_be_one(driftline: Driftline, at_demo: Index) -> None:
    result = driftline("history", "demo", "demo._inner.greet")
    assert result.status == 1
    assert "demo._inner.greet: private by its name, `_inner`; only public paths have histories\n" in result.out


def test_members_of_a_compiled_module_are_unknown_not_absent(
    driftline: Driftline, index: Index, data: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    files = {"lib/__init__.py": "def parse(a): ...\n", "lib/fast.so": ""}
    for version in ("1.0", "1.1"):
        index.add_wheel("lib", version, files, "2021-01-01T00:00:00Z")
    index.add_wheel("lib", "1.2", files | {"lib/fast.pyi": "def other(a): ...\n"}, "2021-02-01T00:00:00Z")
    result = driftline("history", "lib", "lib.fast.parse")
    assert result.status == 1
    assert "lib.fast.parse: whether it exists is unknown; the sources do not show the members of\n" in result.out
    assert "  lib.fast in 1.0 to 1.1\n  did you mean lib.parse, " in result.out
    hiding = driftline("history", "lib", "lib.fast.parse", "--json").json["unobservable"]
    assert [(row["path"], row["first_version"], row["last_version"]) for row in hiding] == [("lib.fast", "1.0", "1.1")]


@pytest.fixture
def at_lib(index: Index, data: object, monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index with a library whose paths have other names."""
    files = {
        "lib/__init__.py": "from .core import f\nfrom .place import g\nfrom .place import here\n__all__ = ['f', 'g']\n",
        "lib/core.py": "def f(a): ...\n",
        "lib/place/__init__.py": "from lib.place._in import g\n__all__ = []\ndef here(): ...\n",
        "lib/place/_in.py": "def g(a): ...\n",
    }
    index.add_wheel("lib", "1.0", files, "2021-01-01T00:00:00Z")
    files |= {"lib/core.py": "def f(a, b=1): ...\n"}
    index.add_wheel("lib", "1.1", files, "2022-03-01T00:00:00Z")
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    monkeypatch.setenv("DRIFTLINE_WORKERS", "1")
    return index


def test_an_alias_is_told_the_life_of_what_it_names(driftline: Driftline, at_lib: Index) -> None:
    result = driftline("history", "lib", "lib.core.f")
    assert result.status == 0
    assert (
        "lib.core.f is another name of lib.f, whose life is this\n  there since   1.0 (2021-01-01), the" in result.out
    )
    assert "  lived         1 year 2 months, 2 releases, and lives on\n" in result.out
    assert "  1.1  2022-03-01    `b` added, optional (1)\n" in result.out
    assert driftline("history", "lib", "lib.core.f", "--json").json["alias_of"] == "lib.f"


def test_where_a_definition_stands_leads_to_its_public_path(driftline: Driftline, at_lib: Index) -> None:
    result = driftline("history", "lib", "lib.place._in.g")
    assert result.status == 1
    assert "its public path is lib.g\n" in result.out
    assert driftline("history", "lib", "lib.place._in.g", "--json").json["public_as"] == ["lib.g"]


def test_an_unknown_path_as_json(driftline: Driftline, at_demo: Index) -> None:
    result = driftline("history", "demo", "demo.totl", "--json")
    assert (result.status, result.json["lives"]) == (1, [])


@pytest.mark.parametrize(
    ("library", "complaint"),
    [
        ("nonesuch", "the index does not know nonesuch"),
        ("a b", "'a b' is not a name that a package index can have"),
        ("young", "young: 0.1rc1: a pre-release or development release"),
    ],
)
def test_a_library_without_a_history(driftline: Driftline, at_demo: Index, library: str, complaint: str) -> None:
    result = driftline("history", library, "x.y")
    assert (result.status, result.out) == (2, "")
    assert f"error: {complaint}" in result.err


def test_an_index_that_is_down(driftline: Driftline, at_nothing: None) -> None:
    result = driftline("history", "demo", "demo.total")
    assert (result.status, result.out) == (1, "")
    assert "the index did not answer" in result.err


def test_releases_that_are_named_are_in_it(driftline: Driftline, at_demo: Index) -> None:
    named = ["--release", "2.1rc1", "--release", "v2.1"]
    assert driftline("history", "demo", "demo.total", *named).out.startswith("demo.total in 6 releases of demo, 1.0 (")
    assert driftline("history", "demo", "demo.total", *named, "--json").json["releases"][-2:] == ["2.1rc1", "2.1"]
    # they are in no other answer
    assert driftline("history", "demo", "demo.total", "--json").json["releases"][-1] == "2.0"


@pytest.mark.parametrize(
    ("version", "complaint"),
    [
        ("9.9", "demo 9.9: the index has no such release; the nearest are 1.2, 2.0"),
        ("2.2", "demo 2.2: the release has no usable file"),
        ("newest", "'newest' is not a version by PEP 440"),
    ],
)
def test_a_release_that_is_named_must_be_there(
    driftline: Driftline, at_demo: Index, version: str, complaint: str
) -> None:
    result = driftline("history", "demo", "demo.total", "--release", version)
    assert (result.status, result.out) == (2, "")
    assert complaint in result.err
