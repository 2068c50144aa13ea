"""`driftline export`: a snapshot as the files of a benchmark, for its own tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, print_json, print_table, progress, say
from pipeline.cli.snapshots import SnapshotName, Unnoticed, find_snapshot
from pipeline.core.rules.load import load
from pipeline.core.settings import index_url, settings
from pipeline.core.vocabularies.exports import ExportFormat, Unsupported
from pipeline.evaluation.export.folder import Written
from pipeline.evaluation.export.folder import export as export_snapshot
from pipeline.evaluation.export.format import ExportError, NothingExported, Unpack
from pipeline.evaluation.export.formats import FORMATS
from pipeline.evaluation.export.projects import from_index
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.families.repository_tasks.tree import Tree
from pipeline.index.http import Fetcher
from pipeline.snapshots.format.manifest import SnapshotError

SHOWN = 20
"""Files of which the command tells one by one; of more it tells by folder."""


def export(
    snapshot: SnapshotName,
    wanted: Annotated[ExportFormat, typer.Option("--format", help="Whose files to write.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="A folder that is new or empty.", show_default=False)],
    unnoticed: Unnoticed = False,
    json: Json = False,
) -> None:
    """Write a snapshot as the files of VersiCode, LibEvolutionEval, GitChameleon, EvoCodeBench or Codev-Bench.

    Unsupported columns and rows are in unsupported_columns.json and, row by row, in unsupported_columns.jsonl. Sources
    of projects are fetched from the index. Ends with status 0, 1 where sources are missing, or 2 where
    there is nothing to export or nowhere to write it.

    Example: driftline export starter --format versicode --out exports/versicode
    """
    folder = find_snapshot(snapshot)
    try:
        with progress(f"writing the files of {wanted}"):
            written = export_snapshot(folder, wanted, out, _sources(wanted), unnoticed=unnoticed)
    except NothingExported as error:
        fail(str(error), PROBLEM)
    except (ExportError, SnapshotError) as error:
        fail(str(error), BAD_USAGE)
    if json:
        print_json({"snapshot": str(folder), "format": wanted, "out": str(out), **as_json(written)})
    else:
        _print(written, wanted, out)
    if any(reason == Unsupported.SOURCES_MISSING for _, reason in written.refused):
        raise typer.Exit(PROBLEM)


def _sources(wanted: ExportFormat) -> Unpack:
    """Return what gives the sources of projects, which the formats whose tasks run in projects need."""
    current = settings()
    rules = load(current.rules / "repository.yaml", RepositoryRules)
    if not FORMATS[wanted].in_projects:
        return lambda row: Tree("", {}, rules)
    fetcher = Fetcher(timeout_s=current.timeout_s)
    return from_index(ProjectSources(current.cache / "projects", fetcher, index_url(), rules))


def as_json(written: Written) -> dict[str, Any]:
    """Return what came of an export for a program to read."""
    return {
        "files": dict(sorted(written.records.items())),
        "attached_files": written.attached,
        "unsupported_rows": [
            {"table": config, "reason": reason, "rows": rows}
            for (config, reason), rows in sorted(written.refused.items())
        ],
        "unsupported_columns": [
            {"table": config, "column": column, "rows": rows}
            for (config, column), rows in sorted(written.columns.items())
        ],
    }


def _by_folder(records: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the records of each file; where there are many, of each folder."""
    if len(records) <= SHOWN:
        return sorted(records.items())
    folders: Counter[str] = Counter()
    for file, number in records.items():
        folders[f"{file.partition('/')[0]}/" if "/" in file else file] += number
    return sorted(folders.items())


def _print(written: Written, wanted: ExportFormat, out: Path) -> None:
    print_table(f"{wanted}: {out}", ("file", "records"), _by_folder(written.records))
    meanings = {str(reason): reason.meaning for reason in Unsupported}
    for (config, reason), rows in sorted(written.refused.items()):
        say(f"{rows} rows of {config} left out, {reason}: {meanings[reason]}")
    attached = f", {written.attached} further files" if written.attached else ""
    records = f"{sum(written.records.values())} records in {len(written.records)} files{attached}"
    say(f"{records}; {len(written.columns)} columns without a field in {wanted} are in {out}/unsupported_columns.jsonl")
