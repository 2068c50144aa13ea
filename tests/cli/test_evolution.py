"""`driftline evolution` on a library whose history is known."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from tests.cli.command import Driftline
from tests.index_server import Index

TABLE = """\
demo: 4 final releases, 1.0 to 2.0
version  date        introduced  deprecated  removed  moved  modified  breaking     API
1.0      2021-01-01           ?           ?        ?      ?         ?         ?       4
1.1      2021-02-01           1           1        ·      ·         ·         ·       5
1.2      2021-03-01           1           1        ·      1         ·         ·       6
2.0      2021-04-01           ·           ·        2      ·         1         1       4
moved: or renamed. breaking: of the modified, those that can break calls. API: public paths.
"""


def test_a_line_for_each_release(driftline: Driftline, at_demo: Index) -> None:
    result = driftline("evolution", "demo")
    assert (result.status, result.out) == (0, TABLE)


def test_a_terminal_has_bars_where_there_is_room(
    driftline: Driftline, at_demo: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    for width, bars in ((140, True), (90, False)):
        monkeypatch.setattr("pipeline.cli.evolution.out", Console(highlight=False, force_terminal=True, width=width))
        assert ("█" in driftline("evolution", "demo").out) == bars


def test_json_has_a_row_for_each_release(driftline: Driftline, at_demo: Index) -> None:
    found = driftline("evolution", "demo", "--since", "1.2", "--json").json
    assert found["library"] == "demo"
    assert [row["version"] for row in found["releases"]] == ["1.2", "2.0"]
    assert found["releases"][1] == {
        "version": "2.0",
        "release_time": "2021-04-01T00:00:00+00:00",
        "major": True,
        "compared": True,
        "introduced": 0,
        "deprecated": 0,
        "removed": 2,
        "moved": 0,
        "modified": 1,
        "breaking": 1,
        "size": 4,
    }


def test_the_picture_is_written_and_is_the_same_again(driftline: Driftline, at_demo: Index, tmp_path: Path) -> None:
    pictures = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for picture in pictures:
        result = driftline("evolution", "demo", "--svg", picture)
        assert (result.status, result.out) == (0, TABLE)
        assert f"wrote {picture}" in result.err
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    description = ElementTree.parse(pictures[0]).findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert "2.0 (2021-04-01): 0 introduced, 0 deprecated, 2 removed" in description


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (["nonesuch"], 2, "error: the index does not know nonesuch"),
        (["demo", "--since", "newest"], 2, "--since 'newest' is not a version by PEP 440; write for example 2.0"),
        (["demo", "--since", "9"], 2, "--since 9: demo has no final release from there on; the newest is 2.0"),
        (["demo", "--svg", "/nonesuch/a.svg"], 1, "No such file or directory"),
    ],
)
def test_what_cannot_be_drawn(
    driftline: Driftline, at_demo: Index, arguments: list[str], status: int, complaint: str
) -> None:
    result = driftline("evolution", *arguments)
    assert (result.status, result.out) == (status, "")
    assert complaint in result.err


@pytest.mark.parametrize("arguments", [["--since", "2.1rc1"], ["--since", "2.1-RC.1", "--release", "2.1"]])
def test_releases_that_are_named_are_in_it(driftline: Driftline, at_demo: Index, arguments: list[str]) -> None:
    rows = driftline("evolution", "demo", *arguments, "--json").json["releases"]
    assert [(row["version"], row["compared"]) for row in rows] == [("2.1rc1", True), ("2.1", True)][: len(rows)]
    assert len(rows) == len(arguments) / 2


def test_what_was_left_out_is_said(driftline: Driftline, at_demo: Index) -> None:
    assert "left out: 2.1: " in driftline("evolution", "demo").err
    assert {reject["key"] for reject in driftline("evolution", "demo", "--json").json["rejects"]} == {
        "2.1rc1",
        "2.1",
        "2.2",
    }
