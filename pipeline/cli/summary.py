"""The summary of a refresh: counts of every stage, where the snapshot is, and what to type next."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.markup import escape

from pipeline.cli.output import out, print_table
from pipeline.core.settings import settings
from pipeline.core.vocabularies.changes import GONE
from pipeline.lake.runner import Count
from pipeline.lake.schema import Row
from pipeline.lake.tables import Lake
from pipeline.llm.client.tally import added, usd
from pipeline.orchestration.failures import REPORT_IT, InternalError, internal_errors
from pipeline.orchestration.refresh import Drafts, Refresh, counts_of, drafts_of, empty_of, left_out, plan, totals
from pipeline.orchestration.report.source import PAGE
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.snapshot import Published

_SHOWN = 5
"""Internal errors that the summary names; all of them are in its JSON and in the report."""


def as_json(done: Refresh, published: Published | None) -> dict[str, Any]:
    """Return the summary for a program; `snapshot` and `report` are null where none was written."""
    counts = counts_of(done)
    return {
        "run": done.run,
        "stages": [asdict(count) for count in totals(counts)],
        "libraries": [asdict(count) for count in counts],
        "left_out": left_out(done),
        "empty": [asdict(empty) for empty in empty_of(done)],
        "internal_errors": [asdict(error) for error in _errors(done)],
        "drafts": _drafts(drafts_of(done)),
        "snapshot": _snapshot(published) if published else None,
        "report": str(page) if (page := done.folder / PAGE).is_file() else None,
    }


def _drafts(drafts: Drafts) -> dict[str, Any]:
    asked = None
    if drafts.asked and drafts.spent:
        kinds = {kind: tally.as_json() for kind, tally in drafts.asked.items()}
        asked = added(drafts.asked.values()).as_json() | {"nano_usd": drafts.spent.run, "kinds": kinds}
    return {"model": asked, "improvable": drafts.improvable}


def _snapshot(published: Published) -> dict[str, Any]:
    return {
        "path": str(published.path),
        "manifest_sha256": published.manifest_sha256,
        "written": published.written,
        "rows": dict(published.rows),
    }


def print_summary(done: Refresh, published: Published | None) -> None:
    """Print the summary for a person: the stages, what could not be asked, and what was published if anything was."""
    print_table(
        "Stages",
        ["stage", "in", "out", "rejected", "unchanged", "seconds", "MB", "why rejected"],
        [_line(count) for count in totals(counts_of(done))],
    )
    if sources := left_out(done):
        out.print()
    for source, why in sources.items():
        out.print(f"Left out: {source}: {why}", markup=False)
    if empty := empty_of(done):
        out.print()
    for one in empty:
        out.print(str(one), markup=False)
    if errors := _errors(done):
        out.print()
        for error in errors[:_SHOWN]:
            out.print(f"Internal error: {error}", markup=False)
        more = f" ({len(errors) - _SHOWN} more)" if len(errors) > _SHOWN else ""
        out.print(f"{REPORT_IT[0].upper()}{REPORT_IT[1:]}. Traces: `--json`, the report{more}", markup=False)
    for line in draft_lines(drafts_of(done)):
        out.print()
        out.print(line, markup=False)
    if published:
        print_published(published)
    if (page := done.folder / PAGE).is_file():
        out.print(f"Report of this run: {page}", markup=False)


def _errors(done: Refresh) -> list[InternalError]:
    return internal_errors(Lake(settings().lake), plan(done))


def draft_lines(drafts: Drafts) -> Iterator[str]:
    """Say for a person what a model was asked for and what that cost, or what one would improve."""
    asked = added(drafts.asked.values())
    if drafts.asked and drafts.spent:
        each = f", {usd(asked.nano_usd_per_accepted)} each" if asked.nano_usd_per_accepted is not None else ""
        yield (
            f"Model: {asked.requests} requests ({asked.retries} tried again), {usd(drafts.spent.run)};"
            f" {asked.accepted} drafts accepted{each}, {asked.refused} refused, {asked.waiting} waiting"
        )
    if asked.waiting:
        yield f"The next refresh asks for those that wait: {asked.stopped or 'their batch has not ended'}"
    if drafts.improvable:
        kinds = "; ".join(
            f"{kind} " + ", ".join(f"{number} {standing}" for standing, number in standings.items())
            for kind, standings in drafts.improvable.items()
        )
        yield f"No key in ANTHROPIC_API_KEY, so no model has drafted. One would improve: {kinds}"
        yield "`driftline drafts` names them"


def print_published(published: Published) -> None:
    """Print what was published for a person, and what to type next."""
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


def _a_change(snapshot: Path) -> Row | None:
    """Return a change of the snapshot that is worth a look: one that ends a life, if there is any."""
    changes = Snapshot(snapshot).rows("changes", ("library", "path", "kind"))
    return min(changes, key=lambda row: (row["kind"] not in GONE, row["library"], row["path"]), default=None)


def _line(count: Count) -> list[object]:
    why = ", ".join(f"{reason} {number}" for reason, number in count.rejected.items())
    parts = ", ".join(f"{reason} {number}" for reason, number in count.noted.items())
    return [
        count.stage,
        count.seen,
        count.made,
        sum(count.rejected.values()),
        count.unchanged,
        round(count.seconds, 1),
        count.peak_memory_bytes >> 20,
        "; ".join(filter(None, [why, f"and parts: {parts}" if parts else ""])),
    ]
