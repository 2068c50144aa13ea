"""`driftline export`: the files of the benchmarks."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, print_json, print_table, progress
from pipeline.cli.snapshots import SnapshotName, find_snapshot
from pipeline.core.rules.load import load
from pipeline.core.settings import index_url, settings
from pipeline.core.vocabularies.exports import ExportFormat, Unsupported
from pipeline.evaluation.export.folder import ExportSummary
from pipeline.evaluation.export.folder import export as export_snapshot
from pipeline.evaluation.export.format import ExportError, NothingExported, Unpack
from pipeline.evaluation.export.formats import FORMATS
from pipeline.evaluation.export.projects import from_index
from pipeline.evaluation.export.records import BadRecord, detect
from pipeline.evaluation.export.samples import write_samples
from pipeline.families.repository_tasks.rules import RepositoryRules
from pipeline.families.repository_tasks.sdists import ProjectSources
from pipeline.families.repository_tasks.tree import Tree
from pipeline.index.http import Fetcher
from pipeline.snapshots.format.manifest import SnapshotError

LISTED = 20
"""Files that the command lists one by one; more are listed by folder."""


def export(
    snapshot: SnapshotName,
    export_format: Annotated[ExportFormat, typer.Option("--format", help="Whose files to write.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="A folder that is new or empty.", show_default=False)],
    json: Json = False,
) -> None:
    """Write a snapshot as the files of VersiCode, LibEvolutionEval, GitChameleon, EvoCodeBench, Codev-Bench or Harbor.

    Unsupported columns and rows are in unsupported_columns.json and, row by row, in unsupported_columns.jsonl. Sources
    of projects are fetched from the index; for Harbor empty answers are run that may pass. Ends with status 0, 1 if
    sources are missing, or 2 if there is nothing to export or nowhere to write it.

    Example: driftline export starter --format versicode --out exports/versicode
    """
    folder = find_snapshot(snapshot)
    try:
        with progress(f"writing the files of {export_format}"):
            written = export_snapshot(folder, export_format, out, _sources(export_format))
    except NothingExported as error:
        fail(error, PROBLEM)
    except (ExportError, SnapshotError) as error:
        fail(error, BAD_USAGE)
    if json:
        print_json({"snapshot": str(folder), "format": export_format, "out": str(out), **as_json(written)})
    else:
        _print(written, export_format, out)
    if any(reason == Unsupported.SOURCES_MISSING for _, reason in written.refused):
        raise typer.Exit(PROBLEM)


def _sources(export_format: ExportFormat) -> Unpack:
    """Return a function for the sources of projects, which formats with tasks in projects need."""
    current = settings()
    rules = load(current.rules / "repository.yaml", RepositoryRules)
    if "projects" not in FORMATS[export_format].layout.configs:
        return lambda row: Tree("", {}, rules)
    fetcher = Fetcher(timeout_s=current.timeout_s)
    return from_index(ProjectSources(current.cache / "projects", fetcher, index_url(), rules))


def as_json(written: ExportSummary) -> dict[str, Any]:
    """Return the result of an export as JSON."""
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
    """Return the numbers of records by file, or by folder where there are many files."""
    if len(records) <= LISTED:
        return sorted(records.items())
    folders: Counter[str] = Counter()
    for file, number in records.items():
        folders[f"{file.partition('/')[0]}/" if "/" in file else file] += number
    return sorted(folders.items())


def _print(written: ExportSummary, export_format: ExportFormat, out: Path) -> None:
    print_table(f"{export_format}: {out}", ("file", "records"), _by_folder(written.records))
    meanings = {str(reason): reason.meaning for reason in Unsupported}
    for (config, reason), rows in sorted(written.refused.items()):
        notify(f"{rows} rows of {config} left out, {reason}: {meanings[reason]}")
    attached = f", {written.attached} further files" if written.attached else ""
    records = f"{sum(written.records.values())} records in {len(written.records)} files{attached}"
    notify(
        f"{records}; {len(written.columns)} columns have no field in {export_format}: {out}/unsupported_columns.jsonl"
    )


BAD_LISTED = 10
"""Bad records that are listed; the others are counted."""

Format = Annotated[
    ExportFormat | None, typer.Option("--format", help="Format of the file; by default its fields decide.")
]


def format_of(file: Path, export_format: ExportFormat | None) -> ExportFormat:
    """Return the requested format of a file, or that of its first record; ends with status 2 if there is none."""
    if not file.is_file():
        fail(f"{file}: no such file" if not file.exists() else f"{file} is a folder; name a file in it", BAD_USAGE)
    detected = export_format or detect(file)
    if detected is None:
        fail(
            f"{file}: the fields of its first record are those of no format ({', '.join(ExportFormat)}); name one with"
            " --format",
            BAD_USAGE,
        )
    return detected


@contextmanager
def as_samples(file: Path, export_format: ExportFormat | None, answers: Path | None = None) -> Iterator[Path]:
    """Yield a file of samples: the file itself, or a conversion of a benchmark's file.

    Errors: ExportError for an unusable file of a benchmark.
    """
    if export_format is None:
        if answers:
            raise ExportError(
                f"--answers {answers}: {file} is of no benchmark's format, so it has no records to answer",
                code="answers_without_records",
            )
        yield file
        return
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as samples:
        converted = write_samples(file, export_format, samples, answers)
        samples.flush()
        content = f"{converted.answers} answers" if converted.answers else f"{converted.samples} references"
        notify(f"{file}: read as {export_format}, {content}")
        report_bad(file, converted.bad)
        yield Path(samples.name)


def report_bad(file: Path, bad: Sequence[BadRecord]) -> None:
    """Print the bad records with reasons."""
    for record in bad[:BAD_LISTED]:
        notify(f"{file}: record {record.number}: {record.detail}")
    if len(bad) > BAD_LISTED:
        notify(f"{file}: {len(bad) - BAD_LISTED} more records could not be used")
