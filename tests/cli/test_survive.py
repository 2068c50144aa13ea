"""`driftline survive` on a snapshot of one row, over an index on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit.survival.published import completion, environment, example, released
from tests.audit.survival.published import snapshot as written
from tests.cli.command import Driftline
from tests.index_server import File, Index

USE = example("one", "from lib import double\n", ("from lib import double\n", None))


@pytest.fixture
def file(index: Index, data: Path, monkeypatch: pytest.MonkeyPatch) -> File:
    monkeypatch.setenv("DRIFTLINE_INDEX_URL", index.simple)
    monkeypatch.setenv("DRIFTLINE_WORKERS", "1")
    return released(index)


@pytest.fixture
def snapshot(file: File, data: Path) -> Path:
    """The latest snapshot of a profile."""
    at = environment(file)
    tables = {"environments": [at], "snippets": [USE], "completions": [completion("c", USE, at)]}
    return written(data / "snapshots" / "mine" / "mine-2021-05-01", **tables)


def test_what_passes_is_told_and_ends_well(driftline: Driftline, snapshot: Path) -> None:
    result = driftline("survive", "mine")
    assert result.status == 0, result.text
    assert "mine-2021-05-01" in result.out
    assert "1 of 1 still pass" in result.out
    assert "100.0%" in result.out
    assert "1 rows added; 0 rows of this month existed" in result.err
    again = driftline("survive", snapshot, "--json")
    assert (again.status, again.json["added"], again.json["known"], again.json["lost"]) == (0, 0, 1, [])
    [told] = again.json["snapshots"]
    assert (told["rows"], told["survived"], told["share"]) == (1, 1, 1.0)


def test_what_does_not_pass_says_why_and_ends_with_one(
    driftline: Driftline, snapshot: Path, index: Index, file: File
) -> None:
    index.projects["lib"]["1.0"].remove(file)
    result = driftline("survive", "mine", "--share", "1")
    assert result.status == 1, result.text
    assert "0 of 1 still pass" in result.out
    assert "file gone 1" in result.out
    [lost] = driftline("survive", "mine", "--json").json["lost"]
    assert (lost["instance_id"], lost["reason"], lost["detail"]) == (
        "c",
        "file_gone",
        "the index has no longer: lib==1.0",
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody",), "no such folder, and no profile of that name has a snapshot"),
        (("mine", "--libraries", "lib,other"), "--libraries other: not in the snapshot, which has lib"),
        (("mine", "--share", "2"), "--share"),
    ],
)
def test_bad_usage(driftline: Driftline, snapshot: Path, arguments: tuple[str, ...], said: str) -> None:
    result = driftline("survive", *arguments)
    assert result.status == 2
    assert said in " ".join(result.err.split())


def test_a_folder_that_is_no_snapshot(driftline: Driftline, file: File, tmp_path: Path) -> None:
    result = driftline("survive", tmp_path)
    assert result.status == 2
    assert "this is not a snapshot" in " ".join(result.err.split())


def test_an_index_that_is_down_leaves_rows_for_the_next_call(
    driftline: Driftline, snapshot: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("urllib3.util.retry.time.sleep", lambda seconds: None)
    index.faults = {path: [503] * 99 for path in ("/pypi/lib/json", "/simple/lib/")}
    result = driftline("survive", "mine")
    assert result.status == 1
    assert "lib: 1 rows could not be judged and are tried again by the next call" in " ".join(result.err.split())
    index.faults.clear()
    assert driftline("survive", "mine").status == 0


def test_a_snapshot_of_other_columns_says_what_to_do(driftline: Driftline, file: File, tmp_path: Path) -> None:
    folder = written(tmp_path / "old", functions=[environment(file) | {"id": "f"}])
    result = driftline("survive", folder)
    assert result.status == 2
    assert "Driftline 0 published this snapshot, and this is" in " ".join(result.err.split())
