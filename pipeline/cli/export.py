"""`driftline export`: a snapshot as the files of a benchmark, for its own tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, print_json, print_table, say
from pipeline.cli.refresh import Json
from pipeline.cli.snapshots import SnapshotName, find_snapshot
from pipeline.crawl import CrawlRules, Fetcher
from pipeline.export import ExportError, IndexSources, NothingHeld, Written
from pipeline.export import export as export_snapshot
from pipeline.rules import load
from pipeline.settings import index_url, settings
from pipeline.terms import ExportFormat, NotHeld


def export(
    snapshot: SnapshotName,
    wanted: Annotated[ExportFormat, typer.Option("--format", help="Whose files to write.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="A folder that is new or empty.", show_default=False)],
    json: Json = False,
) -> None:
    """Write a snapshot as the files of VersiCode, LibEvolutionEval, GitChameleon, EvoCodeBench or Codev-Bench.

    What the format cannot hold is listed in NOT_HELD.json and, row by row, in NOT_HELD.jsonl. The sources of projects
    are fetched from the index. Ends with status 0, 1 where sources are missing, or 2 where
    there is nothing to export or nowhere to write it.

    Example: driftline export starter --format versicode --out exports/versicode
    """
    folder = find_snapshot(snapshot)
    try:
        written = export_snapshot(folder, wanted, out, _sources())
    except NothingHeld as error:
        fail(str(error), PROBLEM)
    except ExportError as error:
        fail(str(error), BAD_USAGE)
    if json:
        print_json({"snapshot": str(folder), "format": wanted, "out": str(out), **as_json(written)})
    else:
        _print(written, wanted, out)
    if any(reason == NotHeld.SOURCES_MISSING for _, reason in written.refused):
        raise typer.Exit(PROBLEM)


def _sources() -> IndexSources:
    current = settings()
    limits = load(current.rules / "crawl.yaml", CrawlRules).archive_limits
    return IndexSources(Fetcher(timeout_s=current.timeout_s), index_url, limits)


def as_json(written: Written) -> dict[str, Any]:
    """Return what came of an export for a program to read."""
    return {
        "files": dict(sorted(written.records.items())),
        "attached_files": written.attached,
        "rows_not_held": [
            {"table": config, "reason": reason, "rows": rows}
            for (config, reason), rows in sorted(written.refused.items())
        ],
        "columns_not_held": [
            {"table": config, "column": column, "rows": rows}
            for (config, column), rows in sorted(written.columns.items())
        ],
    }


def _print(written: Written, wanted: ExportFormat, out: Path) -> None:
    print_table(f"{wanted}: {out}", ("file", "records"), sorted(written.records.items()))
    meanings = {str(reason): reason.meaning for reason in NotHeld}
    for (config, reason), rows in sorted(written.refused.items()):
        say(f"{rows} rows of {config} left out, {reason}: {meanings[reason]}")
    attached = f", {written.attached} further files" if written.attached else ""
    say(
        f"{sum(written.records.values())} records{attached}; {len(written.columns)} columns that {wanted} has no field"
        f" for are in {out}/NOT_HELD.jsonl"
    )
