"""`driftline env`: pinned environments of releases, built, listed, handed on and taken away."""

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
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, out, print_json, print_table, progress, say
from pipeline.core.settings import index_url, settings
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.garbage_collection import Collection
from pipeline.execution.environments.publishing import lock_to_publish
from pipeline.execution.environments.records import Records
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.rules import environment_rules
from pipeline.execution.environments.store import EnvironmentStore
from pipeline.lake.schema import Row

SHOWN = 12
"""Digits of an id that a table shows; that many always suffice to name it."""

app = typer.Typer(no_args_is_help=True)

_MEANINGS = {str(outcome): outcome.meaning for outcome in EnvironmentOutcome}

Id = Annotated[str, typer.Argument(help="Id of an environment, or how it begins; `driftline env list` shows them.")]


@app.callback()
def environments() -> None:
    """Build, list and hand on pinned environments of releases, as of their day."""


@app.command()
def build(
    library: Annotated[str, typer.Argument(help="Name on the package index.")],
    version: Annotated[str, typer.Argument(help="Release to install.")],
    python: Annotated[str | None, typer.Option(help="Python as X.Y; default: the one of its day.")] = None,
    beside: Annotated[list[str] | None, typer.Option("--with", help="Requirement beside it; may be repeated.")] = None,
    tool: Annotated[list[str] | None, typer.Option(help="Tool of today beside it, such as pytest.")] = None,
    json: Json = False,
) -> None:
    """Build the environment of a release: its Python, and its dependencies as they were on its day.

    Ends with status 1 where it cannot be built; then every attempt is told, and what was missing.

    Example: driftline env build flask 1.0.2 --python 3.9 --with requests==2.25.0
    """
    wanted = _wanted(library, version, python, tuple(beside or ()), tuple(tool or ()))
    try:
        with progress(f"building the environment of {library} {version}") as tell:
            row = _store().build(wanted, lambda step: tell(step, 0, 0))
    except IndexUnreachable as error:
        fail(
            f"the package index did not answer, so nothing is known: {error}. Check DRIFTLINE_INDEX_URL and try again."
        )
    if json:
        print_json(_described(row))
    else:
        _tell(row)
    raise typer.Exit(0 if row["outcome"] == EnvironmentOutcome.BUILT else PROBLEM)


@app.command()
def show(id_: Id, json: Json = False) -> None:
    """Show an environment: what it was built for, and its lock.

    Example: driftline env show 8fbcd98976cf
    """
    rows = _of(id_)
    if json:
        print_json([_described(row) for row in rows])
        return
    for row in rows:
        _tell(row)
    out.print(rows[0]["lock"], markup=False)


@app.command("list")
def list_(json: Json = False) -> None:
    """List the environments, with what each was built for and when it was last used.

    Example: driftline env list
    """
    collection, by_lock = _collection(), _by_lock()
    on_disk = set(collection.environments())
    if json:
        print_json([_described(row) for rows in by_lock.values() for row in rows])
        return
    lines = [
        [
            lock_id[:SHOWN],
            rows[0]["python"],
            "; ".join(_named(row) for row in rows),
            _day(collection.last_used(lock_id)) if lock_id in on_disk else "taken away",
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
    """Take away environments that nobody uses, the one used longest ago first, until the rest is below a size.

    They come back from their locks when they are wanted. The setting DRIFTLINE_ENVIRONMENTS_GIB is the usual size.

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
        out.print(
            f"{len(done.removed)} taken away, {_gib(done.before_bytes)} GiB before, {_gib(done.after_bytes)} after"
        )
    if done.after_bytes > limit:
        kept = f"; {len(done.in_use)} in use stay" if done.in_use else ""
        say(f"still above {_gib(limit)} GiB{kept}")
    raise typer.Exit(0 if done.after_bytes <= limit else PROBLEM)


@app.command()
def export(
    id_: Id, output: Annotated[Path | None, typer.Option("--out", help="File to write; default: print it.")] = None
) -> None:
    """Hand on the lock of an environment, with hashes: a plain uv or pip makes the same of it anywhere.

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


def _wanted(
    library: str, version: str, python: str | None, pins: tuple[str, ...], tools: tuple[str, ...]
) -> EnvironmentRequest:
    """Read the words of the command line; what cannot be meant ends with status 2."""
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


def _by_lock() -> dict[str, list[Row]]:
    """Return what was built, by lock."""
    found: dict[str, list[Row]] = {}
    for row in sorted(Records(_folder() / "records").rows(), key=lambda row: (row["library"], row["version"])):
        found.setdefault(str(row["lock_id"]), []).append(row)
    return found


def _of(id_: str) -> list[Row]:
    """Return what one environment was built for."""
    found = {lock_id: rows for lock_id, rows in _by_lock().items() if lock_id.startswith(id_)}
    if len(found) != 1:
        problem = "no environment has that id" if not found else f"begins the ids of {len(found)} environments"
        fail(f"{id_}: {problem}; `driftline env list` shows them all", BAD_USAGE)
    return first(found.values())


def _described(row: Row) -> Row:
    path = _folder() / row["lock_id"] if row["lock_id"] else None
    return row | {"path": path if path and path.is_dir() else None}


def _tell(row: Row) -> None:
    for line in _lines(row):
        out.print(line, markup=False)


def _lines(row: Row) -> Iterator[str]:
    if row["outcome"] == EnvironmentOutcome.BUILT:
        yield f"{_named(row)} on Python {row['python_full']}"
        yield f"  as of   {row['cutoff']:%Y-%m-%d} ({row['rung']})"
        if row.get("moved"):
            yield f"  moved   {row['moved']}; everything else is as of that day"
        yield f"  id      {row['lock_id']}"
        yield f"  python  {_folder() / row['lock_id'] / 'bin' / 'python'}"
    elif row["outcome"] == EnvironmentOutcome.NO_FILES and not row["attempts"]:
        # The index itself says what is wrong, and nothing was tried.
        yield row["detail"]
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


def _named(row: Row) -> str:
    beside = [*row.get("pins", ()), *row.get("tools", ())]
    return f"{row['library']} {row['version']}" + (f" with {', '.join(beside)}" if beside else "")


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.2f}"
