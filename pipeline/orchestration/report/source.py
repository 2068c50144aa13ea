"""Where a report comes from: the run or snapshot that is meant, and the ones before them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.errors import CodedError
from pipeline.core.rules.profiles import profile_names
from pipeline.core.settings import settings
from pipeline.lake.run_records import (
    RunRecord,
    read_record,
    record_end,
    recorded_runs,
    run_before,
    unrecorded_runs,
)
from pipeline.lake.tables import Lake, replacing
from pipeline.llm.summary import spent_by, tallies_of
from pipeline.orchestration.draftable import counted, draftable
from pipeline.orchestration.failures import failures_of, internal_errors
from pipeline.orchestration.publishing.publish_snapshot import publication_of, published_of
from pipeline.orchestration.refresh import Refresh, counts_of, empty_of, sources_left_out, totals
from pipeline.orchestration.report.data import DraftsSummary, Ran, Report, report_of
from pipeline.orchestration.report.page import page_of
from pipeline.orchestration.report.reviewing import review_figures
from pipeline.quality.all_rules import CurationRules
from pipeline.snapshots.format.names import latest
from pipeline.snapshots.shared import fetch_snapshots

PAGE = "report.html"
"""The page's name in the folder of its run."""


class NoReportError(CodedError, LookupError):
    """There is no such run or snapshot; the message says what there is."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a report is of: a run, a snapshot, or a run with what it published."""

    run: Path | None
    snapshot: Path | None


def find(name: str | None) -> Meant:
    """Return what a name means: a run, a folder of a run or snapshot, or a profile for its latest snapshot.

    None is the newest run. Of a snapshot the run that wrote it is found too, where its record is still here.

    Errors: NoReportError where nothing has that name.
    """
    runs = recorded_runs(settings().runs)
    if (profile := _profile_of(name, runs)) is not None:
        fetch_snapshots(profile)
    return _run_of(name, runs)


def _is(name: str | None, folder: Path, record: RunRecord) -> bool:
    """Say whether a name is that of a run or of its folder; none is that of any run."""
    return name is None or name in (record.run, folder.name) or Path(name).resolve() == folder.resolve()


def _profile_of(name: str | None, runs: Sequence[tuple[Path, RunRecord]]) -> str | None:
    """Return the profile whose snapshots a name leads to, None where it is a place, or nothing that is known."""
    of_runs = [record.profile for folder, record in runs if _is(name, folder, record)]
    profiles = {*profile_names(), *(record.profile for _, record in runs)}
    return of_runs[-1] if of_runs else name if name in profiles else None


def _run_of(name: str | None, runs: Sequence[tuple[Path, RunRecord]]) -> Meant:
    if name is None:
        if not runs:
            raise NoReportError(
                f"no run with a record in {settings().runs}: `driftline refresh` leaves one{_without()}",
                code="report_no_run",
            )
        return _of_run(runs[-1][0])
    for folder, record in runs:
        if _is(name, folder, record):
            return _of_run(folder)
    path = Path(name)
    snapshot = path if (path / "manifest.json").is_file() else latest(settings().snapshots, name)
    if snapshot is None:
        if Path(name).name in unrecorded_runs(settings().runs):
            raise NoReportError(
                f"{name}: this run {_NO_RECORD}; name the snapshot that it published, or a later run",
                code="report_no_record",
            )
        named = ", ".join(record.run for _, record in runs[-3:])
        listed = f"the last runs are {named}" if named else "no run has a record yet"
        raise NoReportError(
            f"{name}: no run, no snapshot's folder, and no profile with a snapshot; {listed}", code="report_unknown"
        )
    return Meant(_writer_of(snapshot.resolve(), runs), snapshot)


def _writer_of(snapshot: Path, runs: Sequence[tuple[Path, RunRecord]]) -> Path | None:
    """Return the last run that came to a snapshot."""
    for folder, record in reversed(runs):
        if record.profile == snapshot.parent.name and _snapshot_of(folder) == snapshot:
            return folder
    return None


_NO_RECORD = "has no record (run.json) that can be read, as runs of an older Driftline have none"


def _without() -> str:
    """Tell of folders of runs that have no record, if there are any."""
    names = unrecorded_runs(settings().runs)
    return f"; {', '.join(names[-3:])}: {_NO_RECORD}" if names else ""


def _of_run(folder: Path) -> Meant:
    snapshot = _snapshot_of(folder)
    return Meant(folder, snapshot if snapshot and (snapshot / "manifest.json").is_file() else None)


def _snapshot_of(folder: Path) -> Path | None:
    record = read_record(folder)
    published = published_of(_refresh(record)) if record else None
    return published.path.resolve() if published else None


def report(meant: Meant) -> Report:
    """Make the report of what is meant, against the run and the snapshot before.

    Errors: ValueError where a snapshot cannot be read; RuleError where a rule file is wrong.
    """
    ran = _ran(meant.run) if meant.run else None
    earlier = run_before(settings().runs, ran.record) if ran else None
    before = _ran(_refresh(earlier).folder) if earlier else None
    older = _older(meant.snapshot, before) if meant.snapshot else None
    drafts = _drafts(ran.record) if ran else None
    sources = sources_left_out(Lake(settings().lake_root), ran.record.libraries) if ran else {}
    errors = internal_errors(Lake(settings().lake_root), ran.record.libraries) if ran else []
    review = review_figures(settings(), CurationRules.read().annotation)
    empty = empty_of(_refresh(ran.record)) if ran and ran.record.profile in profile_names() else []
    return report_of(ran, meant.snapshot, before, older, drafts, sources, review, empty, errors)


def write_report(refresh: Refresh) -> Path | None:
    """Write the page of a run that has come to its end into its folder; None where no record of it began."""
    fetch_snapshots(refresh.profile)
    record_end(refresh.folder)
    if read_record(refresh.folder) is None:
        return None
    path = refresh.folder / PAGE
    write_page(report(_of_run(refresh.folder)), path)
    return path


def write_page(report: Report, path: Path) -> None:
    """Write a report as a page, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(page_of(report), encoding="utf-8")


def _refresh(record: RunRecord) -> Refresh:
    return Refresh(record.run, record.profile, record.libraries, record.since, record.until, record.families)


def _ran(folder: Path) -> Ran:
    record = read_record(folder)
    assert record is not None
    refresh = _refresh(record)
    counts = counts_of(refresh)
    spent = spent_by(settings().answers, CurationRules.read().models, record.run).run
    states = failures_of(folder), publication_of(refresh)
    return Ran(record, counts, totals(counts), _snapshot_of(folder), *states, spent)


def _older(snapshot: Path, before: Ran | None) -> Path | None:
    """Return the snapshot to compare with: what the run before published, or else the one before by name."""
    if before and before.snapshot and before.snapshot != snapshot.resolve():
        return before.snapshot if (before.snapshot / "manifest.json").is_file() else None
    beside: Sequence[Path] = [path.parent for path in snapshot.resolve().parent.glob("*/manifest.json")]
    older = [path for path in beside if _order(path) < _order(snapshot) and not path.name.startswith(".")]
    return max(older, key=_order) if older else None


def _order(snapshot: Path) -> tuple[str, int]:
    """Return what snapshots of a profile are in order by: the day in the name, then the revision."""
    name, _, revision = snapshot.name.partition(".r")
    return re.sub(r"^.*?(\d{4}-\d{2}-\d{2})$", r"\1", name), int(revision) if revision.isdecimal() else 1


def _drafts(record: RunRecord) -> DraftsSummary:
    rules = CurationRules.read()
    numbers = counted(draftable(Lake(settings().lake_root), record.libraries, rules))
    folder = _refresh(record).folder
    return DraftsSummary(tallies_of(folder), spent_by(settings().answers, rules.models, record.run), numbers)
