"""`driftline diff` on a library whose history is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.cli.diff import as_json
from pipeline.core.settings import settings
from pipeline.core.vocabularies.changes import ChangeKind, Work
from pipeline.core.vocabularies.review import RejectReason
from pipeline.families.proof import Runs
from pipeline.lake.rows import ChangeRow
from pipeline.lake.stage import Reject
from pipeline.lake.tables import Lake
from pipeline.quality.acceptance.changes import JudgedChange, failed, judge_change
from tests.cli.command import Driftline
from tests.families.completions_and_migrations.rows import change
from tests.index_server import Index

DIFF = """\
demo 1.0 → 2.0: 4 changes of 4 APIs
      1  Code that uses these fails: rewrite
      1  Write the new path
      1  Check your calls
      1  New

Code that uses these fails: rewrite (1)
  demo.wrong: removed

Write the new path (1)
  demo.make_loud: renamed to demo.make_louder (N% sure)

Check your calls (1)
  demo.greet: `punctuation` renamed to `punctuation_mark` (N% sure)

New (1)
  demo.summed: introduced
"""


def test_changes_stand_under_what_a_user_must_do(driftline: Driftline, at_demo: Index) -> None:
    result = driftline("diff", "demo", "1.0", "2.0")
    assert (result.status, re.sub(r"\d+% sure", "N% sure", result.out)) == (0, DIFF)


def test_a_deprecation_is_something_to_prepare_for(driftline: Driftline, at_demo: Index) -> None:
    result = driftline("diff", "demo", "1.1", "1.2")
    said = "demo.total: deprecated: total is deprecated, use summed instead\n"
    assert f"Prepare: deprecated, and what to use (1)\n  {said}" in result.out


def ran_otherwise(path: str, old_version: str, new_version: str) -> Any:
    """Return a change of behaviour as a refresh leaves it in the lake: one program, run in two releases."""
    results = {"old": "printed 'a'", "new": "printed 'b'", "evidence": "executed"}
    outcomes = {"old_outcome": "passed", "new_outcome": "failed_assertion", "snippet_id": "0" * 16}
    return change(ChangeKind.BEHAVIOUR, path, old_version, new_version, **results) | outcomes


def test_a_change_of_behaviour_in_the_lake_is_listed_between_its_releases(driftline: Driftline, at_demo: Index) -> None:
    rows = [ran_otherwise("demo.greet", "1.0", "1.1"), ran_otherwise("demo.greet", "1.2", "2.0")]
    Lake(settings().lake_root).write("behaviours", "demo", rows)
    displayed = driftline("diff", "demo", "1.0", "1.2").out
    assert "Check your calls (1)\n  demo.greet: other results: printed 'a' → printed 'b' (executed)\n" in displayed
    found = driftline("diff", "demo", "1.1", "2.0", "--json").json["changes"]
    ran = [each for each in found if each["kind"] == ChangeKind.BEHAVIOUR]
    assert [(each["path"], each["evidence"]) for each in ran] == [("demo.greet", "executed")]
    of_api = driftline("history", "demo", "demo.greet").out
    assert of_api.count("! other results: printed 'a' → printed 'b'") == 2


def test_a_lake_that_cannot_be_read_leaves_the_comparison_of_sources(driftline: Driftline, at_demo: Index) -> None:
    root = settings().lake_root
    Lake(root).write("behaviours", "demo", [ran_otherwise("demo.greet", "1.0", "1.1")])
    for file in (root / "behaviours").rglob("*.json"):
        file.write_text("{")
    for command in (("diff", "demo", "1.0", "2.0"), ("history", "demo", "demo.greet")):
        result = driftline(*command)
        assert result.status == 0
        assert "renamed to" in result.out
        assert "changes of behaviour are left out: " in result.err


def test_only_what_breaks(driftline: Driftline, at_demo: Index) -> None:
    only = ("diff", "demo", "1.0", "2.0", "--only", "breaking")
    assert driftline(*only).out.startswith("demo 1.0 → 2.0: 3 changes of 3 APIs\n")
    found = driftline(*only, "--json").json["changes"]
    assert [(each["path"], each["breaking"]) for each in found] == [
        ("demo.greet", True),
        ("demo.make_loud", True),
        ("demo.wrong", True),
    ]


def test_what_is_held_back_is_counted_with_the_reason_and_the_option(
    driftline: Driftline, index: Index, data: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "__all__ = ['f']\ndef f(a: int): ...\n"
    names = "".join(f"def f{number:02}(): ...\n" for number in range(22))
    old = {"lib/__init__.py": names + "from .part import f\n", "lib/part.py": module, "lib/inner.py": "LIMIT = 1\n"}
    new = {
        "lib/__init__.py": "from .part import f\n",
        "lib/part.py": module.replace("int", "str"),
        "lib/inner.py": "\n",
    }
    index.add_wheel("lib", "1.0", old, "2021-01-01T00:00:00Z")
    index.add_wheel("lib", "2.0", new, "2021-02-01T00:00:00Z")
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    told = driftline("diff", "lib", "1.0", "2.0").out
    assert f"\n{Work.REWRITE.value} (20 of 22)\n" in told
    held_back = told.partition("\nHeld back\n")[2].splitlines()
    assert [(line.split()[0], line.rpartition(": ")[2]) for line in held_back] == [
        ("2", "--only breaking"),
        ("1", "--only types"),
        ("1", "--only internal"),
    ]
    assert "lib.inner.LIMIT" in driftline("diff", "lib", "1.0", "2.0", "--only", "internal").out
    everything = driftline("diff", "lib", "1.0", "2.0", "--all").out
    assert "Held back" not in everything
    assert "lib.f21" in everything


def test_where_nothing_changed_it_says_so(driftline: Driftline, at_demo: Index) -> None:
    assert driftline("diff", "demo", "1.0", "1.0").out == "demo 1.0 → 1.0: no change\n"


@pytest.fixture
def at_shapes(index: Index, data: object, monkeypatch: pytest.MonkeyPatch) -> Index:
    """An index with a function that takes another shape."""
    index.add_wheel("lib", "1.0", {"lib.py": "def f(a, b=1, c=2): ...\n"}, "2021-01-01T00:00:00Z")
    index.add_wheel("lib", "2.0", {"lib.py": "def f(a, *, b=0, z=3): ...\n"}, "2021-02-01T00:00:00Z")
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    return index


def test_an_api_is_one_block_with_both_signatures_where_several_parameters_changed(
    driftline: Driftline, at_shapes: Index
) -> None:
    assert driftline("diff", "lib", "1.0", "2.0").out.split("\n\n")[1].splitlines() == [
        "Check your calls (1)",
        "  lib.f",
        "    ! `c` removed",
        "    ! became keyword-only: b",
        "    ! default of `b`: 1 → 0",
        "      `z` added, optional (3)",
        "      old: f(a, b=1, c=2)",
        "      new: f(a, *, b=0, z=3)",
    ]


def test_json_has_the_promised_form(driftline: Driftline, at_demo: Index) -> None:
    found = driftline("diff", "demo", "1.0", "2.0", "--json").json
    assert {key: found[key] for key in ("library", "old", "new")} == {"library": "demo", "old": "1.0", "new": "2.0"}
    keys = ["path", "canonical_path", "kind", "parameter", "old", "new", "breaking", "reach", "tag", "replacement"]
    keys += ["evidence", "confidence"]
    assert all(set(each) == set(keys) for each in found["changes"])
    assert {(each["path"], each["kind"], each["tag"], each["breaking"]) for each in found["changes"]} == {
        ("demo.greet", "parameter_renamed", "modified", True),
        ("demo.make_loud", "renamed", "deprecated", True),
        ("demo.summed", "introduced", "introduced", False),
        ("demo.wrong", "removed", "deprecated", True),
    }


def test_json_of_a_change_keeps_its_values() -> None:
    each = change(ChangeKind.RENAMED, "lib.f", "1.0", "2.0", new="lib.g", replacement="lib.g")
    assert (as_json(each)["new"], as_json(each)["replacement"]) == ("lib.g", "lib.g")


@pytest.mark.parametrize(("old", "new"), [("1.0", "1.0"), ("1.0", "v1.0.0")])
def test_a_release_does_not_differ_from_itself(driftline: Driftline, at_demo: Index, old: str, new: str) -> None:
    assert driftline("diff", "demo", old, new, "--json").json["changes"] == []


def test_back_is_the_other_way_round(driftline: Driftline, at_demo: Index) -> None:
    kinds = {each["path"]: each["kind"] for each in driftline("diff", "demo", "2.0", "1.2", "--json").json["changes"]}
    assert (kinds["demo.total"], kinds["demo.wrong"]) == ("introduced", "introduced")


def test_a_name_is_taken_as_the_index_takes_it(driftline: Driftline, at_demo: Index) -> None:
    assert driftline("diff", "Demo", "1.0", "1.1").out.startswith("Demo 1.0 → 1.1: ")


@pytest.mark.parametrize(
    ("library", "version", "complaint"),
    [
        ("nonesuch", "1.0", "the index does not know nonesuch"),
        ("../demo", "1.0", "'../demo' is not a name that a package index can have"),
        ("demo[/bold]", "1.0", "'demo[/bold]' is not a name"),
        ("", "1.0", "'' is not a name"),
        ("demo", "9.9", "demo 9.9: the index has no such release; the nearest are 1.2, 2.0"),
        ("young", "9.9", "young 9.9: the index has no such release; it has no final release"),
        ("demo", "newest", "'newest' is not a version by PEP 440; write for example 2.3.0"),
        ("demo", "[/bold]", "'[/bold]' is not a version by PEP 440"),
        ("demo", "2.2", "demo 2.2: the release has no usable file (the index lists no wheel"),
    ],
)
def test_what_cannot_be_compared(
    driftline: Driftline, at_demo: Index, library: str, version: str, complaint: str
) -> None:
    result = driftline("diff", library, version, "1.0")
    assert (result.status, result.out) == (2, "")
    assert f"error: {complaint}" in result.err or f": {complaint}" in result.err
    assert driftline("diff", library, "1.0" if library == "demo" else version, version, "--json").out == ""


def test_an_index_that_is_down_is_no_bad_usage(driftline: Driftline, at_nothing: None) -> None:
    result = driftline("diff", "demo", "1.0", "1.1")
    assert (result.status, result.out) == (1, "")
    assert "the index did not answer" in result.err
    assert "Connection refused" in result.err


def test_an_index_that_talks_nonsense(
    driftline: Driftline, index: Index, data: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    index.faults = {"/pypi/demo/json": [418], "/simple/demo/": [418]}
    result = driftline("diff", "demo", "1.0", "1.1")
    assert result.status == 1
    assert "status 418" in result.err


def test_an_address_that_is_none(driftline: Driftline, data: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", "not an address")
    result = driftline("diff", "demo", "1.0", "1.1")
    assert result.status == 1
    assert "not an address" in result.err


@pytest.mark.parametrize("version", ["2.1rc1", "v2.1-rc1", "2.1"])
def test_a_release_that_is_named_is_compared_be_it_early_or_withdrawn(
    driftline: Driftline, at_demo: Index, version: str
) -> None:
    result = driftline("diff", "demo", "1.0", version)
    assert (result.status, result.out.partition("\n")[0]) == (0, f"demo 1.0 → {version}: 4 changes of 4 APIs")


UNREAD = {
    "files that do not parse": ({"lib.py": "def f(:\n"}, "it has only 1 files that cannot be parsed"),
    "compiled modules": ({"lib.so": ""}, "it has only 1 compiled modules without a stub: lib"),
    "private modules": ({"lib/_a.py": "x = 1\n"}, "it has no public module"),
    "programs": ({"lib/__main__.py": "x = 1\n"}, "it has no public module"),
}


@pytest.mark.parametrize("case", UNREAD)
def test_of_a_release_of_which_nothing_was_read_it_is_not_said_that_nothing_changed(
    driftline: Driftline, index: Index, data: object, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    files, why = UNREAD[case]
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    index.add_wheel("lib", "1.0", files, "2021-01-01T00:00:00Z")
    result = driftline("diff", "lib", "1.0", "1.0")
    assert (result.status, result.out) == (2, "")
    assert f"lib 1.0: {RejectReason.NOTHING_READ.meaning} ({why})" in result.err


def test_what_could_not_be_read_is_said_beside_the_changes(
    driftline: Driftline, index: Index, data: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    deep = f"y = {'+'.join(['1'] * 6000)}\n"
    files = {"lib/__init__.py": deep, "lib/bad.py": "def f(:\n", "lib/fast.cpython-311-x86_64-linux-gnu.so": ""}
    index.add_wheel("lib", "1.0", files, "2021-01-01T00:00:00Z")
    index.add_wheel("lib", "2.0", {"lib/__init__.py": deep}, "2021-02-01T00:00:00Z")
    told = driftline("diff", "lib", "1.0", "1.0")
    assert told.out == "lib 1.0 → 1.0: no change in the readable files\n"
    assert [line.partition(": ")[2].partition(": ")[0] for line in told.err.splitlines()] == [
        "1.0 lib/bad.py",
        "1.0 lib/__init__.py",
        "1.0",
    ]
    rejects = driftline("diff", "lib", "1.0", "2.0", "--json").json["rejects"]
    assert [(reject["key"], reject["reason"]) for reject in rejects] == [
        ("1.0 lib/bad.py", "unparsed_source"),
        ("1.0 lib/__init__.py", "too_deep"),
        ("1.0", "compiled"),
        ("2.0 lib/__init__.py", "too_deep"),
    ]


def test_proving_leaves_out_what_is_refuted_and_nothing_else(
    driftline: Driftline, at_demo: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_changes(changes: Sequence[ChangeRow], *_: Any) -> list[JudgedChange]:
        return [judged(one) for one in changes]

    def judged(one: ChangeRow) -> JudgedChange:
        if one["kind"] == ChangeKind.REMOVED:
            return JudgedChange(one, Reject(one["id"], RejectReason.LABEL_REFUTED, "removed: demo.wrong runs"))
        if one["kind"] == ChangeKind.RENAMED:
            return failed(one, Reject(one["id"], RejectReason.INTERNAL_ERROR, "KeyError: 'a'\n  a.py:1 f"))
        return judge_change(one, Runs([]))

    monkeypatch.setattr("pipeline.orchestration.proving.run_changes", run_changes)
    result = driftline("diff", "demo", "1.0", "2.0", "--prove")
    assert "demo.make_loud: renamed" in result.out
    assert "demo.wrong: removed" not in result.out
    assert result.out.partition("\nRun in both releases: ")[2].splitlines() == [
        "1 change could be judged; 0 held, 1 refuted, 3 not decided",
        "  refuted: removed: demo.wrong runs",
        "  2 not decided: its path is not probed in the old release, not probed in the new one",
        "  1 not decided: internal_error: KeyError: 'a'",
    ]
