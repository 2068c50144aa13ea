"""`driftline verify`: is a snapshot what its manifest says, does it hold together, and does it come out again?"""

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
    """Check hashes, schemas, keys, vocabularies, references, counts and errata of a snapshot, and make rows again.

    A sample is made again from what the rows themselves say that they come from, by the functions of the pipeline, and
    compared byte by byte: docstrings from the artifact, examples from docstrings, instances from examples. What cannot
    be made again is named with the reason. Where other checks failed no row is made again.

    Example: driftline verify starter --sample 20
    """
    folder = find_snapshot(snapshot)
    try:
        with progress(f"checking {folder.name}"):
            problems = verify_snapshot(folder)
        manifest = Snapshot(folder).manifest
    except ValueError as error:
        fail(str(error), BAD_USAGE)
    drawn = Draw(sample, artifacts, seed)
    with progress(f"making a sample of {folder.name} again") as tell:
        made = rebuild_sample(folder, drawn, tell) if sample and not problems else Sample()
    problems += made.problems
    counts = _rows_of_tables(manifest)
    rows = sum(counts.values())
    if json:
        told = {"snapshot": str(folder), "problems": problems, "files": len(manifest.files), "rows": rows}
        print_json(told | {"tables": counts, "rebuilt": _as_json(made)})
    else:
        for line in (*problems, *_lines(made)):
            out.print(line, markup=False)
        out.print(", ".join(f"{rows} {config}" for config, rows in counts.items()), markup=False)
        verdict = f"{len(problems)} problems" if problems else "every check held"
        out.print(f"{folder}: {len(manifest.files)} files, {rows} rows: {verdict}", markup=False)
    raise typer.Exit(PROBLEM if problems else 0)


def _as_json(made: Sample) -> dict[str, object]:
    """Return what making rows again came to for a program."""
    return {
        "outcomes": tally(made.results),
        "reasons": reasons(made.results),
        "differing": [one.line for one in made.differing],
        "otherwise_made": list(made.otherwise_made),
    }


def _lines(made: Sample) -> Iterator[str]:
    """Yield what making rows again came to, a line for each configuration and for each reason."""
    why = reasons(made.results)
    for config, outcomes in tally(made.results).items():
        told = ", ".join(f"{outcomes[one]} {one.replace('_', ' ')}" for one in Rebuilding if one in outcomes)
        yield f"made again: {config}: {told}"
        yield from (f"  {number} {reason}" for reason, number in why.get(config, {}).items())
    if made.differing and made.otherwise_made:
        yield (
            f"{len(made.differing)} rows came out as others; that says nothing against the snapshot, since it was made"
            f" with other {', '.join(made.otherwise_made)}"
        )


def _rows_of_tables(manifest: Manifest) -> dict[str, int]:
    """Return what the manifest counts of each table, instance families first; `verify` held it against the files."""
    stated = {e.table: e.rows or 0 for e in manifest.files if e.table and e.path.startswith("data/")}
    return {config: stated[table] for config, table in TABLES.items() if table in stated}
