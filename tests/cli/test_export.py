"""`driftline export`: what it writes, and what it says of what it cannot use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.core.vocabularies.scenes import Scene
from pipeline.execution.environments.resolution.pinned import lock_id_of
from tests.cli.command import Driftline
from tests.evaluation.export.demo import project, scene, task
from tests.evaluation.export.rows import lake_tables, snapshot_of
from tests.families.completions_and_migrations.rows import releases
from tests.snapshots.lakes import edit_manifest


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    return snapshot_of(lake_tables(), tmp_path)


def test_an_export(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    result = driftline("export", snapshot, "--format", "versicode", "--out", tmp_path / "out")
    assert result.status == 0, result.text
    assert re.search(r"^token_completion\.json +1$", result.out, re.MULTILINE)
    assert "10 records in 10 files; " in result.err
    assert (tmp_path / "out" / "unsupported_columns.json").is_file()


def test_a_profile_and_a_program(
    driftline: Driftline, snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path))
    result = driftline("export", "mine", "--format", "gitchameleon", "--out", tmp_path / "out", "--json")
    assert result.status == 0, result.text
    assert result.json["files"] == {"ids.jsonl": 1, "problems.jsonl": 1}
    assert (result.json["attached_files"], result.json["unsupported_rows"]) == (1, [])
    assert {"table": "problems", "column": "canary", "rows": 1} in result.json["unsupported_columns"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere", "--format", "versicode", "--out", "out"), "no such folder, and no profile of that name"),
        (("{snapshot}", "--format", "humaneval", "--out", "out"), "'versicode'"),
        (("{snapshot}", "--format", "versicode"), "--out"),
        (
            ("{snapshot}", "--format", "versicode", "--out", "{snapshot}"),
            "is in the snapshot, which nothing may change",
        ),
        (("{snapshot}/data", "--format", "versicode", "--out", "out"), "no manifest.json, so this is not a snapshot"),
    ],
)
def test_bad_usage(
    arguments: tuple[str, ...], words: str, driftline: Driftline, snapshot: Path, data: Path, tmp_path: Path
) -> None:
    told = [argument.format(snapshot=snapshot) for argument in arguments]
    result = driftline("export", *(tmp_path / "out" if argument == "out" else argument for argument in told))
    assert result.status == 2
    assert words in result.err
    assert not (tmp_path / "out").exists()


def test_another_schema_version(driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    edit_manifest(snapshot, lambda manifest: manifest.update(format=99))
    result = driftline("export", snapshot, "--format", "versicode", "--out", tmp_path / "out")
    assert result.status == 2
    assert "publish it again with this driftline" in result.err


@pytest.mark.parametrize("format_", [ExportFormat.EVOCODEBENCH, ExportFormat.CODEVBENCH, ExportFormat.HARBOR])
def test_a_silent_index(format_: ExportFormat, at_nothing: None, driftline: Driftline, tmp_path: Path) -> None:
    of_project = project("0" * 64)
    rows = {
        "releases": releases("1.0", "2.0"),
        "projects": [of_project | {"lock_id": lock_id_of(of_project["python"], of_project["lock"])}],
        "published_repository_tasks": [task()],
        "published_scenes": [scene(Scene.COMPLETE_BLOCK)],
    }
    snapshot = snapshot_of(rows, tmp_path)
    result = driftline("export", snapshot, "--format", format_, "--out", tmp_path / "out")
    assert result.status == 1
    assert "127.0.0.1:1" in result.err
    assert not (tmp_path / "out").exists()


def test_sources_that_are_gone(at_demo: object, driftline: Driftline, snapshot: Path, tmp_path: Path) -> None:
    result = driftline("export", snapshot, "--format", "codevbench", "--out", tmp_path / "out")
    assert result.status == 1
    assert "codevbench supports none of the 7 rows, so nothing was written: sources_missing (7 of scenes)" in result.err
