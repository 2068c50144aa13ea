"""`driftline verify`: is a snapshot what its manifest says, and does it hold together?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, out, print_json
from pipeline.cli.refresh import Json
from pipeline.publish import TABLES, Manifest, latest, read_manifest
from pipeline.publish import verify as verify_snapshot
from pipeline.settings import settings


def verify(
    snapshot: Annotated[str, typer.Argument(help="Folder of a snapshot, or the name of a profile for its latest.")],
    json: Json = False,
) -> None:
    """Check hashes, schemas, keys, vocabularies, references and counts of a snapshot.

    Example: driftline verify starter
    """
    folder = Path(snapshot)
    if not folder.is_dir():
        found = latest(settings().snapshots, snapshot)
        if found is None:
            fail(f"{snapshot}: no such folder, and no profile of that name has a snapshot", BAD_USAGE)
        folder = found
    try:
        problems = verify_snapshot(folder)
        manifest = read_manifest(folder)
    except ValueError as error:
        fail(str(error), BAD_USAGE)
    counts = _rows_of_tables(manifest)
    rows = sum(counts.values())
    if json:
        told = {"snapshot": str(folder), "problems": problems, "files": len(manifest.files), "rows": rows}
        print_json(told | {"tables": counts})
    else:
        for problem in problems:
            out.print(problem, markup=False)
        out.print(", ".join(f"{rows} {config}" for config, rows in counts.items()), markup=False)
        verdict = f"{len(problems)} problems" if problems else "every check held"
        out.print(f"{folder}: {len(manifest.files)} files, {rows} rows: {verdict}", markup=False)
    raise typer.Exit(PROBLEM if problems else 0)


def _rows_of_tables(manifest: Manifest) -> dict[str, int]:
    """Return what the manifest counts of each table, instance families first; `verify` held it against the files."""
    stated = {entry.table: entry.rows or 0 for entry in manifest.files if entry.table}
    return {config: stated[table] for config, table in TABLES.items() if table in stated}
