"""What the rules let go, and above all what stays: runs, candidates, logs, snapshots and Airflow's database."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from pipeline.core.places import place
from pipeline.core.settings import settings
from pipeline.lake.run_records import RunRecord
from pipeline.lake.runner import write_json
from pipeline.orchestration.retention.clean import clean
from pipeline.orchestration.retention.leftovers import leftovers, remove
from pipeline.orchestration.retention.metadata import NotCleaned, clean_metadata
from pipeline.orchestration.retention.rules import Age, AgeButNewest, RetentionRules, retention_rules
from pipeline.orchestration.retention.snapshots import old_snapshots
from tests.errors import raises
from tests.snapshots.lakes import stamp, write_columns

NOW = datetime(2026, 11, 22, tzinfo=UTC)
SECOND = 1 / 86400
TEN_DAYS = Age(days=10)
RULES = RetentionRules(
    runs=AgeButNewest(days=10, keep=1), candidates=TEN_DAYS, logs=TEN_DAYS, metadata=None, snapshots=None
)


def aged(path: Path, days: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text("x" * 10)
    time = (NOW - timedelta(days=days)).timestamp()
    os.utime(path, (time, time))
    return path


def run(data: Path, name: str, days: float, profile: str = "starter") -> Path:
    began = (NOW - timedelta(days=days)).isoformat(timespec="seconds")
    folder = settings().runs / name
    write_json(folder / "run.json", asdict(RunRecord(name, profile, (), (), None, None, began)))
    return folder


def found(data: Path, rules: RetentionRules = RULES) -> set[str]:
    return {str(left.path.relative_to(data)) for left in leftovers(settings(), rules, data / "logs", NOW)}


def test_old_runs_go_but_the_newest_of_each_profile(data: Path) -> None:
    run(data, "old", 30)
    run(data, "newest", 20)
    run(data, "only", 400, "other")
    aged(data / "runs" / "unrecorded" / "counts.json", 3)
    os.utime(data / "runs" / "unrecorded", (0, 0))
    assert found(data) == {"runs/old", "runs/unrecorded"}
    remove(list(leftovers(settings(), RULES, data / "logs", NOW)))
    assert sorted(path.name for path in (data / "runs").iterdir()) == ["newest", "only"]


def test_old_runs_of_a_store_go_too(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTLINE_LAKE", "memory://retention")
    run(data, "old", 30)
    run(data, "newest", 20)
    remove(list(leftovers(settings(), RULES, data / "logs", NOW)))
    assert [path.name for path in settings().runs.iterdir()] == ["newest"]


def test_a_candidate_goes_when_nobody_placed_it_in_time(data: Path) -> None:
    aged(data / "candidates" / "starter" / "starter-2026-11-09.abc" / "manifest.json", 11)
    aged(data / "candidates" / "starter" / "starter-2026-11-16.abc" / "manifest.json", 9)
    aged(data / "candidates" / "starter" / ".lock", 99)
    assert found(data) == {"candidates/starter/starter-2026-11-09.abc"}


def test_logs_go_by_when_they_were_last_written(data: Path) -> None:
    aged(data / "logs" / "dag_id=refresh" / "run_id=a" / "attempt=1.log", 11)
    aged(data / "logs" / "scheduler.log", 1)
    assert found(data) == {"logs/dag_id=refresh/run_id=a/attempt=1.log"}


def test_an_age_at_the_limit_stays_and_a_second_more_goes(data: Path) -> None:
    for name, days in (("at", 10), ("over", 10 + SECOND)):
        run(data, f"{name}-run", days)
        aged(data / "candidates" / "starter" / name / "manifest.json", days)
        aged(data / "logs" / f"{name}.log", days)
        unrecorded = aged(data / "runs" / f"{name}-unrecorded" / "counts.json", days).parent
        os.utime(unrecorded, (unrecorded / "counts.json").stat()[7:9])
    run(data, "newest", 0)
    assert found(data) == {"runs/over-run", "runs/over-unrecorded", "candidates/starter/over", "logs/over.log"}


def test_a_snapshot_at_the_limit_stays_and_a_second_more_goes(data: Path) -> None:
    snapshot(data, "2026-10-01", 30 + SECOND)
    snapshot(data, "2026-10-08", 30)
    snapshot(data, "2026-10-15", 0)
    gone = old_snapshots(data / "snapshots", AgeButNewest(days=30, keep=1), NOW)
    assert [path.name for path in gone] == ["starter-2026-10-01"]


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_so_many_of_the_newest_stay_whatever_their_age(data: Path, keep: int) -> None:
    for day in (1, 2, 3):
        run(data, f"run-{day}", 900 - day)
        snapshot(data, f"2020-01-0{day}", 900 - day)
    newest = AgeButNewest(days=10, keep=keep)
    rules = RULES.model_copy(update={"runs": newest, "snapshots": newest})
    names = {path.rpartition("/")[2] for path in found(data, rules)}
    assert names == {f"{name}{day}" for name in ("run-", "starter-2020-01-0") for day in range(1, 4 - keep)}


def test_rules_keep_one_at_least_and_have_an_age() -> None:
    assert AgeButNewest(days=0.001, keep=1).keep == 1
    for wrong in ({"days": 0, "keep": 1}, {"days": 1, "keep": 0}):
        with pytest.raises(ValidationError):
            AgeButNewest(**wrong)


def test_folders_of_logs_stay_while_something_is_in_them(data: Path, tmp_path: Path) -> None:
    logs = tmp_path / "airflow" / "logs"
    aged(logs / "both" / "old.log", 99)
    aged(logs / "both" / "young.log", 1)
    (logs / "empty" / "deeper").mkdir(parents=True)
    (logs / "link").symlink_to(tmp_path)
    clean({"AIRFLOW_HOME": str(tmp_path / "airflow")}, now=NOW)
    assert sorted(path.name for path in logs.iterdir()) == ["both", "link"]
    assert [path.name for path in (logs / "both").iterdir()] == ["young.log"]


def test_the_age_counts_from_the_time_of_cleaning(data: Path, tmp_path: Path) -> None:
    log = tmp_path / "airflow" / "logs" / "new.log"
    log.parent.mkdir(parents=True)
    log.write_text("x")
    airflow = {"AIRFLOW_HOME": str(tmp_path / "airflow")}
    assert clean(airflow, dry_run=True).leftovers == []
    assert [left.path for left in clean(airflow, dry_run=True, now=datetime(2200, 1, 1, tzinfo=UTC)).leftovers] == [log]


def test_null_keeps_everything(data: Path) -> None:
    run(data, "a", 999)
    run(data, "b", 999)
    aged(data / "logs" / "a.log", 999)
    nothing = RetentionRules(runs=None, candidates=None, logs=None, metadata=None, snapshots=None)
    assert found(data, nothing) == set()


def snapshot(data: Path, day: str, days: float, errata: str | None = None) -> Path:
    folder = data / "snapshots" / "starter" / f"starter-{day}"
    if errata:
        write_columns(folder, "errata", [{"last_snapshot": f"starter-{errata}"}])
    aged(stamp(folder) / "manifest.json", days)
    return folder


def test_snapshots_stay_unless_a_rule_says_so() -> None:
    assert retention_rules().snapshots is None


def test_a_snapshot_of_several_machines_goes_where_they_fetch_it_too(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTLINE_LAKE", "memory://retention_shared")
    snapshot(data, "2020-01-06", 2000)
    snapshot(data, "2026-11-16", 6)
    aged(data / "candidates" / "starter" / "starter-2026-11-16" / "manifest.json", 11)
    shared = place(str(settings().shared_snapshots)) / "starter"
    for day in ("2020-01-06", "2026-11-16"):
        (shared / f"starter-{day}" / "manifest.json").write_text("{}")
    rules = RULES.model_copy(update={"snapshots": AgeButNewest(days=30, keep=1)})
    assert found(data, rules) == {"snapshots/starter/starter-2020-01-06", "candidates/starter/starter-2026-11-16"}
    remove(list(leftovers(settings(), rules, data / "logs", NOW)))
    assert [folder.name for folder in shared.iterdir()] == ["starter-2026-11-16"]


def test_what_latest_or_errata_refer_to_stays_also_through_others(data: Path) -> None:
    snapshot(data, "2020-01-06", 2000)
    snapshot(data, "2021-01-04", 1900)
    snapshot(data, "2022-01-03", 1800, errata="2021-01-04")
    snapshot(data, "2023-01-02", 1700)
    snapshot(data, "2024-01-01", 1600)
    snapshot(data, "2026-11-16", 6, errata="2022-01-03")
    (data / "snapshots" / "starter" / "latest").write_text("starter-2024-01-01\n")
    gone = old_snapshots(data / "snapshots", AgeButNewest(days=30, keep=1), NOW)
    assert [path.name for path in gone] == ["starter-2020-01-06", "starter-2023-01-02"]
    kept = old_snapshots(data / "snapshots", AgeButNewest(days=30, keep=9), NOW)
    assert kept == []


def test_the_lake_reviews_and_answers_are_no_leftovers(data: Path, tmp_path: Path) -> None:
    for name in ("lake/symbols/library=a/a.parquet", "reviews.sqlite", "model/answers.sqlite"):
        aged(data / name, 9999)
    assert clean({"AIRFLOW_HOME": str(tmp_path / "airflow")}, now=NOW).leftovers == []


def test_a_dry_run_only_tells(data: Path, tmp_path: Path) -> None:
    log = aged(tmp_path / "airflow" / "logs" / "a" / "old.log", 999)
    airflow = {"AIRFLOW_HOME": str(tmp_path / "airflow")}
    told = clean(airflow, dry_run=True, now=NOW)
    assert [(left.kind, left.size, left.path) for left in told.leftovers] == [("log", 10, log)]
    assert log.is_file()
    assert told.metadata is None
    clean(airflow, now=NOW)
    assert not log.parent.exists()


def test_a_database_that_cannot_be_cleaned_says_where_to_do_it(tmp_path: Path) -> None:
    """A task of a worker has another address in the place of the database; a file of a local Airflow is no database."""
    (tmp_path / "airflow.db").write_text("this is no database")
    environment = os.environ | {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "airflow-db-not-allowed:///",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    with raises(NotCleaned, code="metadata_not_cleaned"):
        clean_metadata(TEN_DAYS, NOW, environment, dry_run=True)


@pytest.mark.parametrize(
    ("script", "end"),
    [("echo printed", "printed"), ("echo printed; echo failed >&2", "failed"), ("printf '%0700d' 0", "0" * 600)],
)
def test_the_error_has_the_end_of_what_airflow_reports(tmp_path: Path, script: str, end: str) -> None:
    (tmp_path / "airflow.db").touch()
    (tmp_path / "airflow").write_text(f"#!/bin/sh\n{script}\nexit 1\n")
    (tmp_path / "airflow").chmod(0o755)
    environment = {"AIRFLOW_HOME": str(tmp_path), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    with pytest.raises(NotCleaned) as refused:
        clean_metadata(TEN_DAYS, NOW, environment, dry_run=True)
    assert str(refused.value).rpartition(" Its output: ")[2] == end
