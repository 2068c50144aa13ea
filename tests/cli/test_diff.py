"""`driftline diff` on a library whose history is known."""

from __future__ import annotations

import pytest

from pipeline.cli.diff import GROUPS, as_json, grouped
from pipeline.lake import Row
from pipeline.terms import ChangeKind
from tests.cli.command import Driftline
from tests.index_server import Index
from tests.instances.rows import change


def test_changes_stand_under_what_a_user_must_do(driftline: Driftline, at_demo: Index) -> None:
    result = driftline("diff", "demo", "1.0", "2.0")
    assert result.status == 0
    head, *groups = [block.splitlines() for block in result.out.strip().split("\n\n")]
    assert head == ["demo 1.0 to 2.0: 4 changes"]
    assert {group[0]: [line.split(":")[0].strip() for line in group[1:]] for group in groups} == {
        "Gone: code that uses these fails (1)": ["demo.wrong"],
        "Renamed or moved: write the new path (1)": ["demo.make_loud"],
        "Changed so that calls can fail: check them (1)": ["demo.greet [punctuation]"],
        "New (1)": ["demo.summed"],
    }
    assert "demo.make_loud -> demo.make_louder; use demo.make_louder (breaking)" in result.out


def test_a_deprecation_is_something_to_prepare_for(driftline: Driftline, at_demo: Index) -> None:
    result = driftline("diff", "demo", "1.1", "1.2")
    assert "Deprecated: prepare for the removal (1)\n  demo.total" in result.out


def row(kind: ChangeKind, breaking: bool) -> Row:
    return change(kind, "lib.f", "1.0", "2.0", breaking=breaking)


@pytest.mark.parametrize("breaking", [True, False])
@pytest.mark.parametrize("kind", ChangeKind)
def test_every_change_stands_in_one_group(kind: ChangeKind, breaking: bool) -> None:
    ((_, group),) = grouped([row(kind, breaking)])
    assert group == [row(kind, breaking)]


def test_groups_come_in_the_order_of_urgency() -> None:
    changes = [
        row(ChangeKind.PARAMETER_ADDED_OPTIONAL, False),
        row(ChangeKind.INTRODUCED, False),
        row(ChangeKind.DEPRECATED, False),
        row(ChangeKind.PARAMETER_REMOVED, True),
        row(ChangeKind.MOVED, True),
        row(ChangeKind.REMOVED, True),
    ]
    assert [title for title, _ in grouped(changes)] == [title for title, _ in GROUPS]
    assert [group for _, group in grouped(changes)] == [[each] for each in reversed(changes)]


def test_json_has_the_promised_form(driftline: Driftline, at_demo: Index) -> None:
    found = driftline("diff", "demo", "1.0", "2.0", "--json").json
    assert {key: found[key] for key in ("library", "old", "new")} == {"library": "demo", "old": "1.0", "new": "2.0"}
    keys = ["path", "canonical_path", "kind", "parameter", "old", "new", "breaking", "tag", "replacement", "evidence"]
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
    assert driftline("diff", "Demo", "1.0", "1.1").out.startswith("Demo 1.0 to 1.1: ")


@pytest.mark.parametrize(
    ("library", "version", "complaint"),
    [
        ("nonesuch", "1.0", "nonesuch 1.0: nonesuch: the index does not know the name"),
        ("../demo", "1.0", "'../demo' is not a name that a package index can have"),
        ("demo[/bold]", "1.0", "'demo[/bold]' is not a name"),
        ("", "1.0", "'' is not a name"),
        ("demo", "9.9", "demo 9.9: the index has no such release; the newest are 1.0, 1.1, 1.2, 2.0"),
        ("young", "9.9", "young 9.9: the index has no such release; it has no final release"),
        ("demo", "newest", "'newest' is not a version by PEP 440; write for example 2.3.0"),
        ("demo", "[/bold]", "'[/bold]' is not a version by PEP 440"),
        ("demo", "2.1rc1", "2.1rc1: a pre-release or development release"),
        ("demo", "v2.1-rc1", "2.1rc1: a pre-release or development release"),
        ("demo", "2.1", "2.1: withdrawn by its authors"),
        ("demo", "2.2", "2.2: the release has no usable file"),
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
