"""`driftline env`: pinned environments of releases."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from more_itertools import first
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, notify, out, print_json, print_table, progress
from pipeline.core.settings import index_url, settings
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.garbage_collection import Collection
from pipeline.execution.environments.publishing import lock_to_publish
from pipeline.execution.environments.records import Records
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.lake.rows import AnyRow, EnvironmentRow

LISTED = 12
"""Digits of an id in a table, which suffice to identify it."""

app = typer.Typer(no_args_is_help=True)

_MEANINGS = {str(outcome): outcome.meaning for outcome in EnvironmentOutcome}

Id = Annotated[str, typer.Argument(help="Id of an environment, or how it begins; `driftline env list` shows them.")]


@app.callback()
def environments() -> None:
    """Build, list and export pinned environments of releases, as of their day."""


@app.command()
def build(
    library: Annotated[str, typer.Argument(help="Name on the package index.")],
    version: Annotated[str, typer.Argument(help="Release to install.")],
    python: Annotated[str | None, typer.Option(help="Python as X.Y; default: the one of its day.")] = None,
    beside: Annotated[list[str] | None, typer.Option("--with", help="Further requirement; may be repeated.")] = None,
    tool: Annotated[list[str] | None, typer.Option(help="Extra tool, latest version, such as pytest.")] = None,
    json: Json = False,
) -> None:
    """Build the environment of a release: its Python, and its dependencies as they were on its day.

    Ends with status 1 if it cannot be built; then all attempts are listed, with what was missing.

    Example: driftline env build flask 1.0.2 --python 3.9 --with requests==2.25.0
    """
    request = _request(library, version, python, tuple(beside or ()), tuple(tool or ()))
    try:
        with progress(f"building the environment of {library} {version}") as report:
            row = _store().build(request, lambda step: report(step, 0, 0))
    except IndexUnreachable as error:
        fail(f"the package index did not answer: {error}. Check DRIFTLINE_INDEX_URL and try again.")
    if json:
        print_json(_described(row))
    else:
        _print(row)
    raise typer.Exit(0 if row["outcome"] == EnvironmentOutcome.BUILT else PROBLEM)


@app.command()
def show(id_: Id, json: Json = False) -> None:
    """Show the releases of an environment, and its lock.

    Example: driftline env show 8fbcd98976cf
    """
    rows = _of(id_)
    if json:
        print_json([_described(row) for row in rows])
        return
    for row in rows:
        _print(row)
    out.print(rows[0]["lock"], markup=False)


@app.command("list")
def list_(json: Json = False) -> None:
    """List the environments, with their releases and last use.

    Example: driftline env list
    """
    collection, by_lock = _collection(), _by_lock()
    on_disk = set(collection.environments())
    if json:
        print_json([_described(row) for rows in by_lock.values() for row in rows])
        return
    lines = [
        [
            lock_id[:LISTED],
            rows[0]["python"],
            "; ".join(_named(row) for row in rows),
            _day(collection.last_used(lock_id)) if lock_id in on_disk else "removed",
        ]
        for lock_id, rows in by_lock.items()
    ]
    print_table(f"Environments in {_folder()}", ["id", "python", "built for", "last used"], lines)
    out.print(f"{_gib(collection.bytes())} GiB on disk, limit {settings().environments_gib:g}", markup=False)


@app.command()
def gc(
    gib: Annotated[float | None, typer.Option(min=0, help="Size to stay below; default: the setting.")] = None,
    json: Json = False,
) -> None:
    """Remove unused environments, least recently used first, until the rest is below a size.

    They are rebuilt from their locks when needed. The setting DRIFTLINE_ENVIRONMENTS_GIB is the default size.

    Example: driftline env gc --gib 5
    """
    limit = settings().environments_bytes if gib is None else int(gib * (1 << 30))
    with progress("measuring the environments"):
        done = _collection().shrink(limit)
    if json:
        print_json(
            {
                "before_bytes": done.before_bytes,
                "after_bytes": done.after_bytes,
                "removed": done.removed,
                "in_use": done.in_use,
            }
        )
    else:
        out.print(f"{len(done.removed)} removed, {_gib(done.before_bytes)} GiB before, {_gib(done.after_bytes)} after")
    if done.after_bytes > limit:
        in_use = f"; {len(done.in_use)} in use stay" if done.in_use else ""
        notify(f"still above {_gib(limit)} GiB{in_use}")
    raise typer.Exit(0 if done.after_bytes <= limit else PROBLEM)


@app.command()
def export(
    id_: Id, output: Annotated[Path | None, typer.Option("--out", help="File to write; default: print it.")] = None
) -> None:
    """Write the lock of an environment, with hashes: uv or pip install the same from it anywhere.

    Example: driftline env export 8fbcd98976cf --out lock.txt && uv pip sync lock.txt
    """
    text = lock_to_publish(_of(id_))
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text)
    except OSError as error:
        fail(f"{output}: cannot be written: {error.strerror}")


def _request(
    library: str, version: str, python: str | None, pins: tuple[str, ...], tools: tuple[str, ...]
) -> EnvironmentRequest:
    """Parse the options of the command line; invalid ones end with status 2."""
    try:
        name = canonicalize_name(library, validate=True)
        Version(version)
        for requirement in (*pins, *tools):
            Requirement(requirement)
    except InvalidName:
        fail(f"{library!r} is not a name that a package index can have (PEP 508)", BAD_USAGE)
    except InvalidVersion:
        fail(f"{version!r} is not a version by PEP 440; write for example 2.3.0", BAD_USAGE)
    except InvalidRequirement as error:
        fail(f"not a requirement by PEP 508 (write for example requests==2.25.0): {error}", BAD_USAGE)
    if python and not re.fullmatch(r"3\.\d+", python):
        fail(f"--python {python}: write it as X.Y, for example 3.9", BAD_USAGE)
    return EnvironmentRequest(name, version, python, pins, tools)


def _folder() -> Path:
    return settings().cache / "environments"


def _store() -> EnvironmentStore:
    return EnvironmentStore(_folder(), index_url=index_url(), rules=environment_rules(), workers=settings().workers)


def _collection() -> Collection:
    return Collection(_folder())


def _by_lock() -> dict[str, list[EnvironmentRow]]:
    """Return the rows of environments by lock."""
    by_lock: dict[str, list[EnvironmentRow]] = {}
    for row in sorted(Records(_folder() / "records").rows(), key=lambda row: (row["library"], row["version"])):
        by_lock.setdefault(str(row["lock_id"]), []).append(row)
    return by_lock


def _of(id_: str) -> list[EnvironmentRow]:
    """Return the rows of one environment."""
    matching = {lock_id: rows for lock_id, rows in _by_lock().items() if lock_id.startswith(id_)}
    if len(matching) != 1:
        problem = "no environment has that id" if not matching else f"begins the ids of {len(matching)} environments"
        fail(f"{id_}: {problem}; `driftline env list` shows them all", BAD_USAGE)
    return first(matching.values())


def _described(row: EnvironmentRow) -> dict[str, object]:
    path = _folder() / row["lock_id"] if row["lock_id"] else None
    return row | {"path": path if path and path.is_dir() else None}


def _print(row: EnvironmentRow) -> None:
    for line in _lines(row):
        out.print(line, markup=False)


def _lines(row: EnvironmentRow) -> Iterator[str]:
    if row["outcome"] == EnvironmentOutcome.BUILT:
        yield f"{_named(row)} on Python {row['python_full']}"
        yield f"  as of   {row['cutoff']:%Y-%m-%d} ({row['rung']})"
        if row.get("moved"):
            yield f"  moved   {row['moved']}; everything else is as of that day"
        yield f"  id      {row['lock_id']}"
        yield f"  python  {_folder() / (row['lock_id'] or '') / 'bin' / 'python'}"
    elif row["outcome"] == EnvironmentOutcome.NO_FILES and not row["attempts"]:
        # The index explains the problem, and there was no attempt.
        yield row["detail"] or ""
    else:
        yield f"{_named(row)}: {_MEANINGS[row['outcome']]} ({row['outcome']})"
        yield from (f"  {line}" for line in (row["detail"] or "").splitlines())
        if row["missing"]:
            yield f"  missing on this system: {row['missing']}"
    if row["outcome"] != EnvironmentOutcome.BUILT or len(row["attempts"]) > 1:
        for tried in row["attempts"]:
            how = f"{tried['rung']} as of {tried['cutoff']:%Y-%m-%d}"
            how += f", {tried['moved']}" if tried.get("moved") else ""
            yield f"  tried   Python {tried['python']}, {how}: {tried['outcome']}"


def _named(row: AnyRow) -> str:
    beside = [*row.get("pins", ()), *row.get("tools", ())]
    return f"{row['library']} {row['version']}" + (f" with {', '.join(beside)}" if beside else "")


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.2f}"
