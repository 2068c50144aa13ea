"""`driftline compare` on two snapshots, on one with itself, and on what is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.command import Driftline
from tests.families.completions_and_migrations.rows import LIBRARY
from tests.snapshots.lakes import demo_lake, publish_lake


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A snapshot, and one that follows it with other rules, without a completion and with another change."""
    data = tmp_path_factory.mktemp("published")
    lake = demo_lake(data / "lake")
    first = publish_lake(lake, data / "snapshots").path
    completions = lake.read("published_completions", LIBRARY)
    replaced = completions[1] | {"id": "f" * 32}
    lake.write("published_completions", LIBRARY, [replaced, *completions[2:]])
    changes = [row | {"breaking": not row["breaking"]} for row in lake.read("published_changes", LIBRARY)]
    lake.write("published_changes", LIBRARY, changes)
    return first, publish_lake(lake, data / "snapshots", rules="others").path


@pytest.fixture
def snapshots(published: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The same, in the data folder that the settings name."""
    monkeypatch.setenv("DRIFTLINE_DATA", str(published[0].parents[2]))
    return published


def test_a_snapshot_and_itself(driftline: Driftline, snapshots: tuple[Path, Path]) -> None:
    result = driftline("compare", snapshots[0], snapshots[0])
    assert result.status == 0
    assert result.out.endswith("the same, byte by byte\n")
    found = driftline("compare", snapshots[0], snapshots[0], "--json")
    assert (found.status, found.json["same"], found.json["columns"]) == (0, True, {})


def test_what_came_went_and_changed_is_told(driftline: Driftline, snapshots: tuple[Path, Path]) -> None:
    old, new = snapshots
    result = driftline("compare", old, "mine")
    assert result.status == 1
    assert result.out.startswith(f"{old.name} -> {new.name}\n")
    assert "rules: 1 changed (rules)\n" in result.out
    assert "releases: the same\n" in result.out
    assert "errata that are new: " in result.out
    assert "1 replaced" in result.out
    found = driftline("compare", old, new, "--json").json
    rows = found["rows"]["completions"]
    assert (rows["removed"], rows["replaced"], rows["added"], rows["deprecated_new"]) == (1, 1, 0, 2)
    assert rows["gone_share"] == round(2 / rows["old"], 6)
    assert found["rows"]["changes"]["changed"] == found["rows"]["changes"]["old"]
    assert found["columns"]["changes"]["breaking"]["distance"] == 1.0
    assert found["errata_by_reason"]["corrected"] == found["rows"]["changes"]["old"]


@pytest.mark.parametrize("name", ["nonesuch", "."])
def test_what_is_no_snapshot(
    driftline: Driftline, snapshots: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = driftline("compare", snapshots[0], name)
    assert (result.status, result.out) == (2, "")
    assert "Traceback" not in result.err


def test_a_table_that_cannot_be_read(driftline: Driftline, snapshots: tuple[Path, Path], tmp_path: Path) -> None:
    broken = Path(shutil.copytree(snapshots[1], tmp_path / "broken"))
    (broken / "data" / "flags.parquet").write_bytes(b"nothing of the kind")
    result = driftline("compare", snapshots[0], broken)
    assert result.status == 2
    assert "driftline verify" in result.err
