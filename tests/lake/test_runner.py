"""The runner: done work is skipped, killed work is done again, counts add up."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake import schema
from pipeline.lake.delta import DeltaPartitions
from pipeline.lake.reads import Read
from pipeline.lake.rows import FlagRow, RejectRow
from pipeline.lake.runner import (
    Count,
    Stage,
    StageStates,
    behind_inputs,
    drop_former_stages,
    last_counts,
    read_counts,
    run_stage,
    write_json,
)
from pipeline.lake.stage import Output, Reject
from pipeline.lake.tables import Lake
from tests.errors import raises


def reject_row(key: str) -> RejectRow:
    return {"stage": "made", "library": "demo", "key": key, "reason": "yanked", "detail": "x"}


def stage(run: Callable[[Lake, str], Output], *, depends: Any = None, reads: tuple[str, ...] = ("snippets",)) -> Stage:
    return Stage("made", 1, reads, ("flags",), lambda: depends, lambda lake, library, _: run(lake, library))


def flags(count: int, *, rejects: int = 0, reason: RejectReason = RejectReason.YANKED) -> Output:
    rows: list[FlagRow] = [
        {"id": f"{n}", "library": "demo", "instance_id": "i", "kind": "audit", "evidence": "drawn"}
        for n in range(count)
    ]
    refused = [Reject("same key", reason, f"number {n}") for n in range(rejects)]
    return Output({"flags": rows}, count + rejects, count, refused)


def run(stage: Stage, tmp_path: Path) -> Count:
    return run_stage(stage, "demo", Lake(tmp_path / "lake"), tmp_path / "counts")


def tree(tmp_path: Path) -> dict[str, dict[str, str]]:
    """Return the sha256 of all files that the lake names, by table."""
    lake = Lake(tmp_path / "lake")
    return {name: lake.hashes(name, "demo") for name in ("flags", "rejects", "stage_states")}


def test_a_second_run_does_nothing_and_changes_nothing(tmp_path: Path) -> None:
    calls = []
    made = stage(lambda lake, library: calls.append(library) or flags(3, rejects=2))  # type: ignore[func-returns-value]
    first, before = run(made, tmp_path), tree(tmp_path)
    second = run(made, tmp_path)
    assert calls == ["demo"]
    assert tree(tmp_path) == before
    assert (first.units_in, first.units_out, first.rejected, first.unchanged) == (5, 3, {"yanked": 2}, 0)
    assert (second.units_in, second.units_out, second.rejected, second.unchanged) == (5, 0, {}, 5)
    assert (second.units_out_before, second.rejected_before) == (first.units_out, first.rejected)
    assert [count.unchanged for count in read_counts(tmp_path / "counts")] == [5]


@pytest.mark.parametrize("change", ["rules", "input", "output", "version"])
def test_a_stage_runs_again_when_something_it_depends_on_changed(tmp_path: Path, change: str) -> None:
    calls: list[str] = []

    def work(lake: Lake, library: str) -> Output:
        calls.append(library)
        return flags(1)

    run(stage(work, depends={"limit": 1}), tmp_path)
    lake = Lake(tmp_path / "lake")
    again = stage(work, depends={"limit": 2 if change == "rules" else 1})
    if change == "input":
        lake.write("snippets", "demo", [])
    if change == "output":
        lake.path("flags", "demo").write_bytes(b"")
    if change == "version":
        again = Stage(again.name, 2, again.reads, again.writes, again.depends, again.run)
    run(again, tmp_path)
    assert len(calls) == 2


def test_rejects_with_the_same_key_are_all_kept(tmp_path: Path) -> None:
    run(stage(lambda lake, library: flags(0, rejects=3)), tmp_path)
    rows = Lake(tmp_path / "lake").read("rejects", "demo")
    assert [row["key"] for row in rows] == ["same key", "same key #2", "same key #3"]


def test_a_stage_that_met_a_passing_failure_is_tried_again(tmp_path: Path) -> None:
    calls: list[str] = []

    def work(lake: Lake, library: str) -> Output:
        calls.append(library)
        return flags(1, rejects=1, reason=RejectReason.INDEX_UNREACHABLE)

    for _ in range(2):
        run(stage(work), tmp_path)
    assert len(calls) == 2


def test_a_stage_is_behind_until_it_has_run_on_what_its_tables_hold(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    passing = stage(lambda lake, library: flags(1, rejects=1, reason=RejectReason.DRAFT_WAITING))

    def behind(made: Stage) -> list[str]:
        return behind_inputs([made], "demo", lake)

    assert behind(passing) == [], "nothing is known of this library"
    StageStates(lake, "demo").write("other", {"fingerprint": "f", "outputs": {}, "units_in": 0})
    assert behind(passing) == ["made"], "it never ran"
    run(passing, tmp_path)
    assert behind(passing) == [], "it will be run again, but its rows fit what they were made of"
    assert behind(replace(passing, version=2)) == []
    lake.write("snippets", "demo", [])
    assert behind(passing) == ["made"]
    run(passing, tmp_path)
    assert behind(passing) == []
    lake.write("flags", "demo", [])
    assert behind(passing) == ["made"], "it was killed after it had written its rows"


def test_a_source_that_met_a_passing_failure_goes_on_from_where_it_was_and_says_so_again(tmp_path: Path) -> None:
    """It reads no table, so it is asked each time; to forget how far it came would cost what it was given."""
    given: list[Any] = []

    def ask(lake: Lake, library: str, progress: Any) -> Output:
        given.append(progress)
        return replace(flags(1, rejects=1, reason=RejectReason.RATE_LIMITED), progress="half")

    source = Stage("made", 1, (), ("flags",), lambda: None, ask)
    counts = [run(source, tmp_path) for _ in range(2)]
    assert given == [None, "half"]
    assert [(count.rejected, count.unchanged) for count in counts] == [({"rate_limited": 1}, 0)] * 2


def test_counts_that_do_not_add_up_are_an_error() -> None:
    with raises(ValueError, "3 in", "1 rejected"):
        Output({}, 3, 1, [Reject("a", RejectReason.YANKED, "")])


def test_a_stage_must_write_the_tables_it_declares(tmp_path: Path) -> None:
    with raises(ValueError, "declared tables"):
        run(stage(lambda lake, library: Output({"drafts": []}, 0, 0)), tmp_path)


def _killed_while_writing(root: Path, after: int) -> None:
    """Run the stage in a process of its own that dies before the given commit or at the given file."""
    left = after

    def dying(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(*args)

        return call

    for name in ("_put", "_commit"):
        pytest.MonkeyPatch().setattr(DeltaPartitions, name, dying(getattr(DeltaPartitions, name)))
    run(stage(lambda lake, library: flags(3, rejects=1)), root)


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5, 6])
def test_killed_at_any_moment_and_started_again(tmp_path: Path, after: int) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=_killed_while_writing, args=(tmp_path / "killed", after)
    )
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    made = stage(lambda lake, library: flags(3, rejects=1))
    run(made, tmp_path / "killed")
    run(made, tmp_path / "whole")
    assert tree(tmp_path / "killed") == tree(tmp_path / "whole")


def _slow_run(root: Path, calls: Path) -> None:
    def work(lake: Lake, library: str) -> Output:
        with calls.open("a") as file:
            file.write("x")
        time.sleep(0.5)
        return flags(2)

    run(stage(work), root)


def test_two_refreshes_at_once_take_turns_and_the_work_is_done_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_slow_run, args=(tmp_path, tmp_path / "calls")) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    assert (tmp_path / "calls").read_text() == "x"


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = stage(lambda lake, library: flags(3))
    run(made, tmp_path)
    before = tree(tmp_path)
    monkeypatch.setattr(Path, "write_bytes", _no_space)
    with raises(OSError, "No space left"):
        run(stage(lambda lake, library: flags(4), depends="new"), tmp_path)
    assert tree(tmp_path) == before
    assert not list(tmp_path.rglob("*.tmp"))


def _no_space(path: Path, content: bytes) -> int:
    with path.open("wb") as file:
        file.write(content[:10])
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("changed", ["snippets", "flags", "rejects"])
def test_another_declared_column_of_what_is_read_or_written_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    made = stage(lambda lake, library: flags(2))
    assert run(made, tmp_path).units_out == 2
    assert run(made, tmp_path).unchanged == 2
    schemas = shutil.copytree(schema.SCHEMAS, tmp_path / "schemas")
    declared = schemas / f"{changed}.yaml"
    column = '  - {name: added, type: string, nullable: true, meaning: "for a test"}'
    declared.write_text(declared.read_text().replace("columns:", f"columns:\n{column}", 1))
    monkeypatch.setattr(schema, "SCHEMAS", schemas)
    schema.table.cache_clear()
    try:
        assert run(made, tmp_path).units_out == 2
        assert run(made, tmp_path).unchanged == 2
    finally:
        schema.table.cache_clear()


def test_a_stage_that_reads_other_columns_or_rows_runs_again(tmp_path: Path) -> None:
    calls: list[str] = []

    def work(lake: Lake, library: str) -> Output:
        calls.append(library)
        return flags(1)

    for read in (Read("snippets", ("code",)), Read("snippets", ("path",)), Read("snippets", ("path",), {"source": ()})):
        for _ in range(2):
            run(replace(stage(work), partly={"snippets": read}), tmp_path)
    assert len(calls) == 3


def test_counts_of_earlier_releases_are_read(tmp_path: Path) -> None:
    earlier = {"stage": "acceptance", "library": "demo", "seen": 3, "made": 0, "made_before": 2, "rejected": {}}
    write_json(tmp_path / "demo.acceptance.json", earlier | {"unchanged": 3})
    assert read_counts(tmp_path) == [Count("acceptance", "demo", 3, 0, {}, 3, units_out_before=2)]


def test_states_of_earlier_releases_are_read(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    StageStates(lake, "demo").write("acceptance", {"fingerprint": "f", "outputs": {}, "seen": 3, "made": 2})
    (count,) = last_counts(lake, "demo")
    assert (count.units_in, count.unchanged, count.units_out_before) == (3, 3, 2)


def test_states_of_stages_that_had_another_name_are_counted_by_today_s(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for name, number in (("gate", 3), ("problems_gate", 4), ("flags", 5), ("review", 6), ("migrated_code", 7)):
        StageStates(lake, "demo").write(name, {"fingerprint": "f", "outputs": {}, "seen": number, "made": 2})
    assert [(count.stage, count.units_in) for count in last_counts(lake, "demo")] == [
        ("acceptance", 3),
        ("flags", 5),
        ("model_migrations", 7),
        ("problems_acceptance", 4),
    ]


def test_rejects_and_states_of_removed_stages_are_dropped(tmp_path: Path) -> None:
    made, lake = stage(lambda lake, library: flags(1, rejects=1)), Lake(tmp_path / "lake")
    run(made, tmp_path)
    run(replace(made, name="removed"), tmp_path)
    drop_former_stages(lake, "demo", {"made"})
    assert {row["stage"] for row in lake.read("rejects", "demo")} == {"made"}
    assert [count.stage for count in last_counts(lake, "demo")] == ["made"]
    before = lake.versions()
    drop_former_stages(lake, "demo", {"made"})
    assert lake.versions() == before
    assert run(made, tmp_path).unchanged == 2


def test_nothing_is_dropped_of_a_library_that_no_stage_wrote(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    drop_former_stages(lake, "demo", {"made"})
    assert lake.versions() == {}
