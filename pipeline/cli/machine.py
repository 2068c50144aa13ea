"""`driftline clean`, `driftline doctor` and `driftline migrate`: retention, the state of this machine, an old lake."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Annotated

import typer

from pipeline.cli.options import Json
from pipeline.cli.output import PROBLEM, fail, out, print_json, print_table, progress
from pipeline.core.credentials import cut_message
from pipeline.core.rules.load import RuleError
from pipeline.core.rules.profiles import load_profile, profile_names
from pipeline.core.settings import index_url, settings
from pipeline.execution.environments.diagnosis import Finding, diagnose
from pipeline.index.http import BadAnswer, Fetcher, NotFound, Unreachable
from pipeline.index.index import project
from pipeline.lake.old_layout import Migrated, has_old_layout, migrate_lake
from pipeline.orchestration.local_airflow.home import Server, home
from pipeline.orchestration.retention.clean import bytes_by_kind, clean
from pipeline.orchestration.retention.metadata import NotCleaned
from pipeline.quality.all_rules import CurationRules

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list removals.")]


def clean_up(dry_run: DryRun = False, json: Json = False) -> None:
    """Remove old runs, logs, unpublished candidates and rows of Airflow's database, by the limits of retention.yaml.

    Caches shrink below their limits, but items in use stay. The lake, snapshots, reviews and answers of models are
    never removed.

    Example: driftline clean --dry-run
    """
    try:
        with progress("looking for removals"):
            done = clean(Server(home(), 0).environment(), dry_run=dry_run)
    except NotCleaned as error:
        fail(error, PROBLEM)
    if json:
        print_json(asdict(done))
        return
    for leftover in done.leftovers if dry_run else ():
        out.print(f"{leftover.path}: {leftover.why}", markup=False)
    numbers = Counter(leftover.kind for leftover in done.leftovers)
    numbers.update({f"cache {cache.cache}": cache.removed for cache in done.caches})
    lines = [[kind, numbers[kind], size >> 20] for kind, size in bytes_by_kind(done).items()]
    print_table("Would be removed" if dry_run else "Removed", ["kind", "number", "MB"], lines)
    sizes = [[c.cache, c.after_bytes >> 20, c.limit_bytes >> 20, c.why_above] for c in done.caches if c.after_bytes]
    print_table("Caches", ["cache", "MB", "limit MB", "why above"], sizes)
    if done.metadata is None:
        out.print("Airflow's database was not cleaned: none is here, or no rule says so.")
    else:
        out.print(f"Airflow's database: {'looked at' if dry_run else 'cleaned'} (`airflow db clean`)")


def doctor(json: Json = False) -> None:
    """Look at interpreters, sandbox, package index, rules and disk.

    Example: driftline doctor
    """
    with progress("looking at interpreters and sandbox") as report:
        findings = [*diagnose()]
        report("asking the package index", 0, 0)
        findings.append(_index())
        report("reading the rules", 0, 0)
        findings.append(_rules())
    if json:
        print_json([asdict(finding) for finding in findings])
    else:
        print_table(
            "This machine",
            ["component", "works", "observed", "advice"],
            [[f.name, "yes" if f.works else "NO", f.observed, f.advice] for f in findings],
        )
    raise typer.Exit(0 if all(finding.works for finding in findings) else PROBLEM)


def _index() -> Finding:
    """Query the index for pip, which every usable index has."""
    advice = "check the network, pip's configuration, or DRIFTLINE_INDEX_URL"
    try:
        url = index_url()
        pip = project(Fetcher(timeout_s=settings().timeout_s, retries=0), url, "pip")
    except (Unreachable, NotFound, BadAnswer, RuntimeError) as error:
        return Finding("package index", False, str(error), advice)
    timed = any(file.uploaded for files in pip.releases.values() for file in files)
    observation = f"{cut_message(url)}, with{'' if timed else 'out'} upload times"
    return Finding("package index", timed, observation, "" if timed else "releases cannot be placed in time: " + advice)


def _rules() -> Finding:
    try:
        CurationRules.read().try_out()
        profiles = [load_profile(name).name for name in profile_names()]
    except RuleError as error:
        return Finding("curation rules", False, str(error), "correct the file and line named")
    return Finding("curation rules", True, f"profiles: {', '.join(profiles)}")


def migrate(json: Json = False) -> None:
    """Move a lake from before Delta Lake, in the data folder, into Delta tables. No stage runs again for it.

    If DRIFTLINE_LAKE names another place, the tables go there. An interrupted migration can be called again.

    Example: driftline migrate
    """
    old, root = settings().data / "lake", settings().lake_root
    if has_old_layout(old):
        with progress("migrating the lake"):
            done = migrate_lake(old, root)
    else:
        done = Migrated(0, 0)
    if json:
        print_json(asdict(done))
    elif done == Migrated(0, 0):
        out.print(f"{old} has no lake of the old layout: nothing was changed.", markup=False)
    else:
        out.print(f"{done.files} files and {done.states} states of stages are now in {root}.", markup=False)
