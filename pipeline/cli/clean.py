"""`driftline clean`: what of the past goes, by the rules of retention."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import PROBLEM, fail, out, print_json, print_table, progress
from pipeline.orchestration.local_airflow.home import Server, home
from pipeline.orchestration.retention.clean import bytes_by_kind, clean
from pipeline.orchestration.retention.metadata import NotCleaned

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")]


def clean_up(dry_run: DryRun = False, json: Json = False) -> None:
    """Remove old runs, logs, drafts that were never placed, and old rows of Airflow's database, as retention.yaml says.

    Caches are brought below their limits; what is in use stays. The lake, snapshots, reviews and the answers of models
    stay, whatever their age.

    Example: driftline clean --dry-run
    """
    try:
        with progress("looking for what may go"):
            done = clean(Server(home(), 0).environment(), dry_run=dry_run)
    except NotCleaned as error:
        fail(str(error), PROBLEM)
    if json:
        print_json(asdict(done))
        return
    for leftover in done.leftovers if dry_run else ():
        out.print(f"{leftover.path}: {leftover.why}", markup=False)
    numbers = Counter(leftover.kind for leftover in done.leftovers)
    numbers.update({f"cache {cache.cache}": cache.removed for cache in done.caches})
    lines = [[kind, numbers[kind], size >> 20] for kind, size in bytes_by_kind(done).items()]
    print_table("What would go" if dry_run else "What went", ["what", "number", "MB"], lines)
    sizes = [[c.cache, c.after_bytes >> 20, c.limit_bytes >> 20, c.why_above] for c in done.caches if c.after_bytes]
    print_table("Caches", ["cache", "MB", "limit MB", "why above"], sizes)
    if done.metadata is None:
        out.print("Airflow's database was not cleaned: none is here, or no rule says so.")
    else:
        out.print(f"Airflow's database: {'looked at' if dry_run else 'cleaned'} (`airflow db clean`)")
