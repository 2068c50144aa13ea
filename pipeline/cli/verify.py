"""`driftline verify`: check a snapshot against its manifest, its references, and a rebuild of some rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from pipeline.audit.rebuild.outcome import reasons, tally
from pipeline.audit.rebuild.sample import Draw, Sample, rebuild_sample
from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, out, print_json, progress
from pipeline.cli.snapshots import SnapshotName, find_snapshot
from pipeline.core.vocabularies.snapshots import Rebuilding
from pipeline.snapshots.format.manifest import Manifest
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.format.rows import TABLES
from pipeline.snapshots.verify import verify as verify_snapshot

_ROWS = 2

Rows = Annotated[int, typer.Option("--sample", min=0, help="Rows of each family to make again; 0 for none.")]
Artifacts = Annotated[
    bool, typer.Option(help="Read releases and projects again too, from the cache or the index.", show_default=True)
]
Seed = Annotated[str, typer.Option(help="Draw other rows; by default the manifest's hash decides.", show_default=False)]


def verify(
    snapshot: SnapshotName,
    sample: Rows = _ROWS,
    artifacts: Artifacts = True,
    seed: Seed = "",
    json: Json = False,
) -> None:
    """Check hashes, schemas, keys, vocabularies, references, counts and errata of a snapshot, and rebuild rows.

    A sample is rebuilt from the provenance of the rows, by the functions of the pipeline, and compared byte by byte:
    docstrings from the artifact, examples from docstrings, instances from examples. Columns that cannot be rebuilt are
    listed with the reason. If other checks fail, no row is rebuilt.

    Example: driftline verify starter --sample 20
    """
    folder = find_snapshot(snapshot)
    try:
        with progress(f"checking {folder.name}"):
            problems = verify_snapshot(folder)
        manifest = Snapshot(folder).manifest
    except ValueError as error:
        fail(error, BAD_USAGE)
    drawn = Draw(sample, artifacts, seed)
    with progress(f"making a sample of {folder.name} again") as report:
        rebuilt = rebuild_sample(folder, drawn, report) if sample and not problems else Sample()
    problems += rebuilt.problems
    counts = _rows_of_tables(manifest)
    rows = sum(counts.values())
    if json:
        fields = {"snapshot": str(folder), "problems": problems, "files": len(manifest.files), "rows": rows}
        print_json(fields | {"tables": counts, "rebuilt": _as_json(rebuilt)})
    else:
        for line in (*problems, *_lines(rebuilt)):
            out.print(line, markup=False)
        # A table that cannot be read has no other count.
        listed = "by the manifest: " if problems else ""
        out.print(listed + ", ".join(f"{rows} {config}" for config, rows in counts.items()), markup=False)
        verdict = f"{len(problems)} checks failed" if problems else "every check held"
        out.print(f"{folder}: {listed}{len(manifest.files)} files, {rows} rows: {verdict}", markup=False)
    raise typer.Exit(PROBLEM if problems else 0)


def _as_json(sample: Sample) -> dict[str, object]:
    """Return the results of the rebuild as JSON."""
    return {
        "outcomes": tally(sample.results),
        "reasons": reasons(sample.results),
        "differing": [result.line for result in sample.differing],
        "differing_basis": list(sample.differing_basis),
    }


def _lines(sample: Sample) -> Iterator[str]:
    """Yield the results of the rebuild, a line for each configuration and for each reason."""
    why = reasons(sample.results)
    for config, outcomes in tally(sample.results).items():
        outcomes_text = ", ".join(
            f"{outcomes[outcome]} {outcome.replace('_', ' ')}" for outcome in Rebuilding if outcome in outcomes
        )
        yield f"made again: {config}: {outcomes_text}"
        yield from (f"  {number} {reason}" for reason, number in why.get(config, {}).items())
    if sample.differing and sample.differing_basis:
        yield (
            f"{len(sample.differing)} rebuilt rows differ; that is no problem of the snapshot, since it was made"
            f" with other {', '.join(sample.differing_basis)}"
        )


def _rows_of_tables(manifest: Manifest) -> dict[str, int]:
    """Return the number of rows of each table from the manifest, which `verify` checked; instance families first."""
    counts = {e.table: e.rows or 0 for e in manifest.files if e.table and e.path.startswith("data/")}
    return {config: counts[table] for config, table in TABLES.items() if table in counts}
