"""`driftline verify` on a snapshot, on a broken one, and on what is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.families.all_families import INSTANCE_TABLES
from pipeline.snapshots.format.manifest import read_manifest
from pipeline.snapshots.format.rows import TABLES
from tests.cli.command import Driftline
from tests.snapshots.lakes import demo_snapshot, edit_manifest


@pytest.fixture
def snapshot(data: Path) -> Path:
    return demo_snapshot(data)


def test_a_whole_snapshot(driftline: Driftline, snapshot: Path) -> None:
    result = driftline("verify", snapshot, "--sample", 0)
    assert result.status == 0
    assert f"{snapshot}: {len(read_manifest(snapshot).files)} files, " in result.out
    assert "every check held" in result.out
    assert all(re.search(rf"\b[1-9]\d* {family}\b", result.out) for family in INSTANCE_TABLES)


def test_the_name_of_a_profile_stands_for_its_latest(driftline: Driftline, snapshot: Path) -> None:
    found = driftline("verify", "mine", "--json", "--sample", 0).json
    assert set(found) == {"snapshot", "problems", "files", "rows", "tables", "rebuilt"}
    assert found["rebuilt"] == {"outcomes": {}, "reasons": {}, "differing": [], "differing_basis": []}
    assert list(found["tables"]) == list(TABLES)
    assert sum(found["tables"].values()) == found["rows"]
    files = len(read_manifest(snapshot).files)
    assert (found["snapshot"], found["problems"], found["files"]) == (str(snapshot), [], files)


def test_problems_are_listed_as_they_are(driftline: Driftline, snapshot: Path) -> None:
    (snapshot / "[red]more[").write_text("")
    (snapshot / "README.md").write_text("")
    result, found = driftline("verify", snapshot), driftline("verify", snapshot, "--json")
    assert (result.status, found.status) == (1, 1)
    assert "[red]more[: not listed in the manifest\n" in result.out
    assert ": 2 checks failed" in result.out
    assert found.json["problems"] == result.out.splitlines()[:2]


def test_counts_of_a_broken_snapshot_are_those_of_its_manifest(driftline: Driftline, snapshot: Path) -> None:
    (snapshot / "data" / "completions.parquet").write_bytes(b"PAR1")
    counts, verdict = driftline("verify", snapshot).out.splitlines()[-2:]
    assert counts.startswith("by the manifest: ")
    assert "by the manifest" in verdict
    (snapshot / "data" / "completions.parquet").unlink()
    assert driftline("verify", snapshot).out.splitlines()[-2].startswith("by the manifest: ")


def test_what_is_made_again_is_told_with_the_reason_for_what_is_not(driftline: Driftline, snapshot: Path) -> None:
    result = driftline("verify", snapshot, "--no-artifacts")
    assert result.status == 0
    assert "made again: contexts: 2 same\n" in result.out
    assert "made again: scenes: 2 not rebuilt\n  2 artifacts were not to be read\n" in result.out
    assert "that is no problem of the snapshot, since it was made with other rules" in result.out
    found = driftline("verify", snapshot, "--no-artifacts", "--json").json["rebuilt"]
    assert found["outcomes"]["contexts"] == {"same": 2}
    assert found["reasons"]["scenes"] == {"artifacts were not to be read": 2}


def test_where_other_checks_failed_nothing_is_made_again(driftline: Driftline, snapshot: Path) -> None:
    (snapshot / "README.md").write_text("")
    assert "made again" not in driftline("verify", snapshot).out


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nonesuch", "nonesuch: no such folder, and no profile of that name has a snapshot"),
        ("../..", "no manifest.json, so this is not a snapshot"),
        (".", "no manifest.json, so this is not a snapshot"),
        ("[/bold]", "[/bold]: no such folder"),
        (__file__, "[snapshot_unknown]"),
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
    assert "not a manifest of format 1 or 2 (99, by driftline" in result.err


def test_a_latest_whose_folder_is_gone(driftline: Driftline, snapshot: Path) -> None:
    snapshot.rename(snapshot.with_name("elsewhere"))
    result = driftline("verify", "mine")
    assert result.status == 2
    assert "not a snapshot" in result.err
