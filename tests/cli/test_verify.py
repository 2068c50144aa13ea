"""`driftline verify` on a snapshot, on a broken one, and on what is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.publish import FAMILIES, TABLES
from pipeline.publish.snapshot import TEXTS
from tests.cli.command import Driftline
from tests.publish.lakes import edit_manifest, fill, publish_lake, tables

FILES = len(TABLES) + len(TEXTS)


@pytest.fixture
def snapshot(data: Path) -> Path:
    return publish_lake(fill(data / "lake", tables()), data / "snapshots").path


def test_a_whole_snapshot(driftline: Driftline, snapshot: Path) -> None:
    result = driftline("verify", snapshot)
    assert result.status == 0
    assert f"{snapshot}: {FILES} files, " in result.out
    assert "every check held" in result.out
    assert all(re.search(rf"\b[1-9]\d* {family}\b", result.out) for family in FAMILIES)


def test_the_name_of_a_profile_stands_for_its_latest(driftline: Driftline, snapshot: Path) -> None:
    found = driftline("verify", "mine", "--json").json
    assert set(found) == {"snapshot", "problems", "files", "rows", "tables"}
    assert list(found["tables"]) == list(TABLES)
    assert sum(found["tables"].values()) == found["rows"]
    assert (found["snapshot"], found["problems"], found["files"]) == (str(snapshot), [], FILES)


def test_problems_are_listed_as_they_are(driftline: Driftline, snapshot: Path) -> None:
    (snapshot / "[red]more[").write_text("")
    (snapshot / "README.md").write_text("")
    result, found = driftline("verify", snapshot), driftline("verify", snapshot, "--json")
    assert (result.status, found.status) == (1, 1)
    assert "[red]more[: not listed in the manifest\n" in result.out
    assert "2 problems" in result.out
    assert found.json["problems"] == result.out.splitlines()[:2]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nonesuch", "nonesuch: no such folder, and no profile of that name has a snapshot"),
        ("../..", "no manifest.json, so this is not a snapshot"),
        (".", "no manifest.json, so this is not a snapshot"),
        ("[/bold]", "[/bold]: no such folder"),
        (__file__, "no such folder"),
    ],
)
def test_what_is_no_snapshot(
    driftline: Driftline, snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = driftline("verify", name)
    assert (result.status, result.out) == (2, "")
    assert complaint in result.err


def test_a_snapshot_of_another_time(driftline: Driftline, snapshot: Path) -> None:
    edit_manifest(snapshot, lambda manifest: manifest.update(format=99))
    result = driftline("verify", snapshot)
    assert (result.status, result.out) == (2, "")
    assert "not a manifest of format 1, which this version of driftline reads" in result.err


def test_a_latest_whose_folder_is_gone(driftline: Driftline, snapshot: Path) -> None:
    snapshot.rename(snapshot.with_name("elsewhere"))
    result = driftline("verify", "mine")
    assert result.status == 2
    assert "not a snapshot" in result.err
