"""`driftline refresh`: the whole main job without Airflow."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from packaging.utils import InvalidName, canonicalize_name
from rich.markup import escape

from pipeline.cli.options import Families, Json, Libraries, ProfileName, Since, Sources, Until
from pipeline.cli.output import BAD_USAGE, PROBLEM, err, fail, notify, out, print_json, print_table, progress
from pipeline.core.progress import ReportProgress
from pipeline.core.settings import settings
from pipeline.core.vocabularies.changes import GONE
from pipeline.core.vocabularies.drafts import DraftStatus
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.rows import PublishedChangeRow
from pipeline.lake.runner import TRANSIENT, Count
from pipeline.lake.tables import Lake
from pipeline.llm.client.tally import added, usd
from pipeline.orchestration.check_libraries import check_names
from pipeline.orchestration.draftable import OF_KIND, Draftable, counted, draftable
from pipeline.orchestration.failures import REPORT_IT, InternalError, StageFailed, internal_errors
from pipeline.orchestration.publishing.finish_refresh import NoQueue
from pipeline.orchestration.publishing.publish_snapshot import NO_SNAPSHOT, publish_refresh
from pipeline.orchestration.refresh import (
    Drafts,
    Refresh,
    begin,
    checked,
    counts_of,
    drafts_of,
    empty_of,
    gaps_of,
    left_out,
    plan,
    run_group,
    totals,
)
from pipeline.orchestration.report.source import PAGE, write_report
from pipeline.orchestration.run_parameters import BadForm
from pipeline.orchestration.stages.groups import GROUPS
from pipeline.quality.all_rules import CurationRules
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.snapshot import Published


def refresh(
    libraries: Libraries = "",
    since: Since = None,
    until: Until = None,
    profile: ProfileName = "starter",
    families: Families = "",
    sources: Sources = "",
    json: Json = False,
) -> None:
    """Collect, analyse and prove the libraries of a profile, and publish the snapshot.

    Example: driftline refresh --libraries flask,markupsafe
    """
    request = read_refresh(libraries, since, until, profile, families, sources)
    finish(request, collect(request, begin(request)), json)


def finish(request: Refresh, problems: list[str], json: bool) -> None:
    """Publish what the stages of a refresh left, print its summary, and end with status 1 if there are problems."""
    published: Published | None = None
    try:
        with progress("publishing"):
            published = publish_refresh(request)
    except (*NO_SNAPSHOT, NoQueue) as error:
        problems.append(str(error))
    counts = counts_of(request)
    write_report(request)
    if json:
        print_json(as_json(request, published))
    else:
        print_summary(request, published)
    problems += _unfinished(counts)
    if problems:
        fail("\n".join(problems), PROBLEM)


def collect(request: Refresh, planned: Sequence[str]) -> list[str]:
    """Run every group of stages for some libraries of a refresh, and return a message on failed ones."""
    failed: list[str] = []
    total = len(planned) * len(GROUPS)
    with progress("refresh", total) as report:
        for place, library in enumerate(planned):
            for number, group in enumerate(GROUPS):
                step, done = f"{library}: {group}", place * len(GROUPS) + number
                if _run(request, group, library, partial(_report_stage, report, step, done, total)) is None:
                    failed.append(library)
                    break
    return [f"these libraries failed and are as they were before: {', '.join(failed)}"] if failed else []


def _unfinished(counts: list[Count]) -> list[str]:
    """Return messages on libraries that the index does not know, or whose work is unfinished after a temporary failure.

    Waiting drafts are no failure: rows keep texts of the offline drafter, and the summary has the reason.
    """
    passing = TRANSIENT - {RejectReason.DRAFT_WAITING}
    troubles = {
        (count.library, reason) for count in counts for reason in {*count.rejected, *count.noted} & set(passing)
    }
    gone = sorted(count.library for count in counts if RejectReason.NO_SUCH_LIBRARY in {*count.rejected, *count.noted})
    return [
        *(f"{library}: the index does not know it; correct or remove its name in the profile" for library in gone),
        *(f"{library}: {reason}; run the same command again to go on" for library, reason in sorted(troubles)),
    ]


def read_refresh(
    libraries: str, since: str | None, until: str | None, profile: str, families: str = "", sources: str = ""
) -> Refresh:
    """Turn the options of a refresh into its parameters, or end with an error."""
    names = _names(libraries)
    if libraries and not names:
        fail(f"--libraries {libraries!r} names no library", BAD_USAGE)
    for name in names:
        _check_name(name)
    request = Refresh(
        run=f"cli-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}",
        profile=profile,
        libraries=names,
        since=since,
        until=until,
        families=_names(families),
        sources=_names(sources),
    )
    try:
        period = request.period
    except ValueError as error:
        fail(f"--since and --until take a date such as 2026-11-16: {error}", BAD_USAGE)
    if period.since and period.until and period.since >= period.until:
        fail(f"--since {since} is not before --until {until}", BAD_USAGE)
    try:
        refresh = checked(asdict(request), request.run)
        check_names(refresh)
        return refresh
    except BadForm as error:
        fail(error, BAD_USAGE)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _check_name(library: str) -> None:
    try:
        canonicalize_name(library, validate=True)
    except InvalidName:
        fail(f"--libraries: {library!r} is not a name that a package index can have (PEP 508)", BAD_USAGE)


def _report_stage(report: ReportProgress, step: str, done: int, total: int, stage: str) -> None:
    report(f"{step}, {stage}", done, total)


def _run(request: Refresh, group: str, library: str, begin_stage: Callable[[str], object]) -> list[Count] | None:
    """Run a group of stages; errors of one library must not stop the others."""
    try:
        return run_group(request, group, library, begin_stage)
    except StageFailed as failed:
        notify(str(failed))
        return None
    except Exception as error:  # noqa: BLE001 - printed at once, and the command ends with status 1
        notify(f"{library}, {group}: {type(error).__name__}: {error}")
        return None


def drafts(libraries: Libraries = "", profile: ProfileName = "starter", json: Json = False) -> None:
    """Count rows that a model would improve, has improved or is asked for, by kind of draft and library.

    With --json there is a line for each row: kind, library, subject_id, status, detail. No model is asked.

    Example: driftline drafts --libraries click
    """
    request = read_refresh(libraries, None, None, profile)
    with progress("looking for rows that a model would improve"):
        rows = draftable(Lake(settings().lake_root), plan(request), CurationRules.read())
    if json:
        for row in rows:
            print(json_.dumps(asdict(row), ensure_ascii=False))  # noqa: T201 - the output itself
        return
    if not rows:
        err.print("nothing in the lake that a model would improve: `driftline refresh` comes first")
        return
    print_table("Drafts", ["kind", "library", *DraftStatus], _lines(rows))
    out.print()
    for status in DraftStatus:
        out.print(f"{status}: {status.meaning}", markup=False)


def _lines(rows: list[Draftable]) -> list[list[object]]:
    lines: list[list[object]] = []
    for kind in OF_KIND:
        of_kind = [row for row in rows if row.kind == kind]
        libraries = sorted({row.library for row in of_kind})
        for library in libraries:
            numbers = counted(row for row in of_kind if row.library == library)[kind]
            lines.append([kind, library, *(numbers.get(status, 0) for status in DraftStatus)])
        if len(libraries) > 1:
            numbers = counted(of_kind)[kind]
            lines.append([kind, "all", *(numbers.get(status, 0) for status in DraftStatus)])
    return lines


_LISTED = 5
"""Internal errors, and releases after a gap, in the summary; JSON has all."""


def as_json(done: Refresh, published: Published | None) -> dict[str, Any]:
    """Return the summary as JSON; `snapshot` and `report` are null where none was written."""
    counts = counts_of(done)
    return {
        "run": done.run,
        "stages": [asdict(count) for count in totals(counts)],
        "libraries": [asdict(count) for count in counts],
        "left_out": left_out(done),
        "gaps": gaps_of(done),
        "empty": [asdict(empty) for empty in empty_of(done)],
        "internal_errors": [asdict(error) for error in _errors(done)],
        "drafts": _drafts(drafts_of(done)),
        "snapshot": _snapshot(published) if published else None,
        "report": str(page) if (page := done.folder / PAGE).is_file() else None,
    }


def _drafts(drafts: Drafts) -> dict[str, Any]:
    model = None
    if drafts.tallies and drafts.spent:
        kinds = {kind: tally.as_json() for kind, tally in drafts.tallies.items()}
        model = added(drafts.tallies.values()).as_json() | {"nano_usd": drafts.spent.run, "kinds": kinds}
    return {"model": model, "improvable": drafts.improvable}


def _snapshot(published: Published) -> dict[str, Any]:
    return {
        "path": str(published.path),
        "manifest_sha256": published.manifest_sha256,
        "written": published.written,
        "rows": dict(published.rows),
    }


def print_summary(done: Refresh, published: Published | None) -> None:
    """Print the summary: stages, sources left out, errors, drafts, and the snapshot."""
    print_table(
        "Stages",
        ["stage", "in", "out", "rejected", "unchanged", "seconds", "MB", "why rejected"],
        [_line(count) for count in totals(counts_of(done))],
    )
    for block in _missing(done):
        out.print()
        for line in block:
            out.print(line, markup=False)
    if errors := _errors(done):
        out.print()
        for error in errors[:_LISTED]:
            out.print(f"Internal error: {error}", markup=False)
        more = f" ({len(errors) - _LISTED} more)" if len(errors) > _LISTED else ""
        out.print(f"{REPORT_IT[0].upper()}{REPORT_IT[1:]}. Traces: `--json`, the report{more}", markup=False)
    for line in draft_lines(drafts_of(done)):
        out.print()
        out.print(line, markup=False)
    if published:
        print_published(published)
    if (page := done.folder / PAGE).is_file():
        out.print(f"Report of this run: {page}", markup=False)


def _missing(done: Refresh) -> Iterator[list[str]]:
    """Yield what a refresh did not get, and why: sources left out, gaps between releases, and empty families."""
    if sources := left_out(done):
        yield [f"Left out: {source}: {why}" for source, why in sources.items()]
    if gaps := gaps_of(done):
        yield [
            f"Gap: {library}: what changed in {_some(versions)} is unknown, as the release just before was not taken."
            " Take consecutive releases in the profile"
            for library, versions in gaps.items()
        ]
    if empty := empty_of(done):
        yield [*map(str, empty)]


def _some(versions: list[str]) -> str:
    more = f" and {len(versions) - _LISTED} more" if len(versions) > _LISTED else ""
    return ", ".join(versions[:_LISTED]) + more


def _errors(done: Refresh) -> list[InternalError]:
    return internal_errors(Lake(settings().lake_root), plan(done))


def draft_lines(drafts: Drafts) -> Iterator[str]:
    """Yield requests to a model and their cost, or rows that a model would improve."""
    total = added(drafts.tallies.values())
    if drafts.tallies and drafts.spent:
        each = f", {usd(total.nano_usd_per_accepted)} each" if total.nano_usd_per_accepted is not None else ""
        yield (
            f"Model: {total.requests} requests ({total.retries} tried again), {usd(drafts.spent.run)};"
            f" {total.accepted} drafts accepted{each}, {total.refused} refused, {total.waiting} waiting"
        )
    if total.waiting:
        yield f"The next refresh repeats waiting requests: {total.stopped or 'their batch has not ended'}"
    if drafts.improvable:
        kinds = "; ".join(
            f"{kind} " + ", ".join(f"{number} {status}" for status, number in standings.items())
            for kind, standings in drafts.improvable.items()
        )
        yield f"No key in ANTHROPIC_API_KEY, so no model has drafted. One would improve: {kinds}"
        yield "`driftline drafts` lists them"


def print_published(published: Published) -> None:
    """Print the published snapshot, and the next commands."""
    out.print()
    print_table("Snapshot", ["configuration", "rows"], [[name, rows] for name, rows in published.rows.items()])
    out.print()
    news = "written" if published.written else "unchanged, nothing was written"
    out.print(f"[bold]{escape(str(published.path))}[/bold] ({news})")
    out.print(f"sha256 of its manifest: {published.manifest_sha256}")
    out.print()
    program = sys.argv[0] if Path(sys.argv[0]).name == "driftline" else "driftline"
    out.print("Next:")
    out.print(f"  {program} verify {published.path}", markup=False)
    out.print(f"  less {published.path}/README.md", markup=False)
    if (changed := _a_change(published.path)) is not None:
        out.print(f"  {program} history {changed['library']} {changed['path']}", markup=False)


def _a_change(snapshot: Path) -> PublishedChangeRow | None:
    """Return an example of a change: a removal, if there is any."""
    changes = Snapshot(snapshot).rows("changes", ("library", "path", "kind"))
    return min(changes, key=lambda row: (row["kind"] not in GONE, row["library"], row["path"]), default=None)


def _line(count: Count) -> list[object]:
    why = ", ".join(f"{reason} {number}" for reason, number in count.rejected.items())
    parts = ", ".join(f"{reason} {number}" for reason, number in count.noted.items())
    return [
        count.stage,
        count.units_in,
        count.units_out,
        sum(count.rejected.values()),
        count.unchanged,
        round(count.seconds, 1),
        count.peak_memory_bytes >> 20,
        "; ".join(filter(None, [why, f"and parts: {parts}" if parts else ""])),
    ]
