"""`driftline history` on a library whose history is known."""

from __future__ import annotations

import pytest

from tests.cli.command import Driftline
from tests.index_server import Index


def test_a_life_is_told_in_order(driftline: Driftline, at_demo: Index) -> None:
    result = driftline("history", "demo", "demo.total")
    assert result.status == 0
    head, *lines = result.out.splitlines()
    assert head == "demo.total in 4 final releases of demo, 1.0 (2021-01-01) to 2.0 (2021-04-01)"
    assert lines[0] == "  1.1: introduced"
    assert lines[-1] == "  2.0: gone; 1.2 is the last that has it; use demo.summed"
    assert any("marked as deprecated" in line for line in lines)
    assert "left out: 2.1: withdrawn by its authors" in result.err


def test_json_has_lives_states_and_changes(driftline: Driftline, at_demo: Index) -> None:
    found = driftline("history", "demo", "demo.total", "--json").json
    assert (found["library"], found["path"]) == ("demo", "demo.total")
    assert found["releases"] == ["1.0", "1.1", "1.2", "2.0"]
    (life,) = found["lives"]
    assert (life["introduced_in"], life["deprecated_in"], life["removed_in"]) == ("1.1", "1.2", "2.0")
    assert {change["kind"] for change in found["changes"]} == {"introduced", "deprecated", "removed"}
    assert {reject["reason"] for reject in found["rejects"]} == {"yanked", "pre_release", "no_files"}
    assert found["states"]


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("demo.totl", "did you mean demo.total"),
        ("make_louder", "did you mean demo.make_louder"),
        ("numpy.linalg.qr", "it offers 7 other paths"),
        ("[/bold]", "it offers 7 other paths"),
        ("", "it offers 7 other paths"),
    ],
)
def test_an_unknown_path_leads_to_near_ones(driftline: Driftline, at_demo: Index, path: str, meant: str) -> None:
    result = driftline("history", "demo", path)
    assert result.status == 1
    assert f"{path}: no release in the lake has it\n  {meant}" in result.out


def test_an_unknown_path_as_json(driftline: Driftline, at_demo: Index) -> None:
    result = driftline("history", "demo", "demo.totl", "--json")
    assert (result.status, result.json["lives"]) == (1, [])


@pytest.mark.parametrize(
    ("library", "complaint"),
    [
        ("nonesuch", "nonesuch: nonesuch: the index does not know the name"),
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
