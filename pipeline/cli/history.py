"""`driftline history`: when an API came, changed and went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from difflib import get_close_matches
from typing import Annotated

import typer
from rich.markup import escape

from pipeline.api.history.change_text import counted_releases
from pipeline.api.history.history import History, history_of
from pipeline.cli.life import Page, life_lines
from pipeline.cli.options import Json, Named
from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, out, print_json, progress, say_left_out
from pipeline.orchestration.adhoc import NoAnswerError, Tables, tables_from_index

PIPED = 100
"""Columns of a signature that no terminal limits."""


def history(
    library: Annotated[str, typer.Argument(help="Name on the package index.")],
    api: Annotated[str, typer.Argument(help="Public path, as code would write it.")],
    release: Named = None,
    json: Json = False,
) -> None:
    """Tell the life of an API over all final releases of its library, and those that are named.

    Ends with status 1 where no release has the path as a public one.

    Example: driftline history flask flask.Markup
    """
    try:
        with progress(f"reading {library}") as tell:
            tables = tables_from_index(library, tell, release or ())
    except NoAnswerError as error:
        fail(str(error), BAD_USAGE)
    life = history_of(tables.symbols, tables.lifecycles, tables.changes, api, tables.importable)
    if json:
        print_json(as_json(library, life, tables))
    else:
        _print(library, life, tables)
    raise typer.Exit(0 if life.exists or life.leads_to else PROBLEM)


def _print(library: str, history: History, tables: Tables) -> None:
    first, last = (f"{r['version']} ({r['release_time']:%Y-%m-%d})" for r in (tables.releases[0], tables.releases[-1]))
    counted = counted_releases([row["version"] for row in tables.releases])
    read = f"{counted} of {escape(library)}, {first} to {last}"
    out.print(f"[bold]{escape(history.path)}[/bold] in {read}\n")
    for line in life_lines(history, tables.releases, Page(out.width if out.is_terminal else PIPED, out.is_terminal)):
        out.print(line)
    for told in _not_public(history, tables.paths):
        out.print(told, markup=False)
    say_left_out(tables.rejects)


def _not_public(history: History, paths: tuple[str, ...]) -> Iterator[str]:
    """Say of a path without a life what it is instead, and what may have been meant."""
    if history.exists or history.leads_to:
        return
    if history.importable:
        first, last = history.importable[0]["first_version"], history.importable[-1]["last_version"]
        yield f"{history.path}: can be imported in {first}{f' to {last}' if last else ' and since'}, but is not public"
    elif private := next((part for part in history.path.split(".") if part[:1] == "_" and part[:2] != "__"), None):
        yield f"{history.path}: private by its name, `{private}`; histories are told of public paths"
    elif history.public_as:
        yield f"{history.path}: not public there; it is the place where the definition stands"
    elif hiding := history.unobservable:
        last = hiding[-1]["last_version"]
        yield f"{history.path}: whether it exists is unknown; the sources do not show the members of"
        yield f"  {hiding[0]['path']} in {hiding[0]['first_version']}{f' to {last}' if last else ' and since'}"
    else:
        yield f"{history.path}: no final release has it"
    near = history.public_as or near_paths(history.path, paths)
    if history.public_as:
        yield f"  its public path{'s are' if len(near) > 1 else ' is'} {', '.join(near)}"
    else:
        yield f"  did you mean {', '.join(near)}?" if near else f"  it offers {len(paths)} other paths"


def near_paths(path: str, paths: tuple[str, ...]) -> list[str]:
    """Return up to three public paths that somebody who wrote `path` may have meant: of that name, or alike."""
    name = path.rpartition(".")[2]
    same_name = sorted((p for p in paths if name and p.rpartition(".")[2] == name), key=lambda p: (p.count("."), p))
    alike = get_close_matches(path, paths, n=3)
    return list(dict.fromkeys([*alike[:1], *same_name, *alike]))[:3]


def as_json(library: str, history: History, tables: Tables) -> dict[str, object]:
    """Return a history in the form that `driftline history --json` promises."""
    return {
        "library": library,
        "path": history.path,
        "alias_of": history.leads_to.path if history.leads_to else None,
        "public_as": history.public_as,
        "unobservable": history.unobservable,
        "releases": [row["version"] for row in tables.releases],
        "release_times": {row["version"]: row["release_time"].isoformat() for row in tables.releases},
        "lives": history.lifetimes,
        "states": history.states,
        "changes": history.changes,
        "alias_history": _rows(history.leads_to),
        "rejects": [asdict(reject) for reject in tables.rejects],
    }


def _rows(history: History | None) -> dict[str, object] | None:
    return {"lives": history.lifetimes, "states": history.states, "changes": history.changes} if history else None
