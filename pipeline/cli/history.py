"""`driftline history`: when an API came, changed and went."""

from __future__ import annotations

from dataclasses import asdict
from difflib import get_close_matches
from typing import Annotated

import typer
from rich.markup import escape

from pipeline.cli.output import BAD_USAGE, PROBLEM, fail, out, print_json, progress, say
from pipeline.cli.refresh import Json
from pipeline.lifecycle import describe
from pipeline.ondemand import Answer, NoAnswerError, history_from_index

SHOWN = 5
"""What had to be left out is often a hundred files of Python 2; a few tell the story."""


def history(
    library: Annotated[str, typer.Argument(help="Name on the package index.")],
    api: Annotated[str, typer.Argument(help="Public path, as code would write it.")],
    json: Json = False,
) -> None:
    """Tell the life of an API over all final releases of its library.

    Example: driftline history flask flask.Markup
    """
    try:
        with progress(1, f"reading {library}") as bar:
            answer = history_from_index(
                library, api, lambda done, total: bar.update(bar.task_ids[0], completed=done, total=total)
            )
    except NoAnswerError as error:
        fail(str(error), BAD_USAGE)
    if json:
        print_json(_as_json(library, answer))
    else:
        _print(library, answer)
    raise typer.Exit(0 if answer.history.known else PROBLEM)


def _print(library: str, answer: Answer) -> None:
    first, last = answer.releases[0], answer.releases[-1]
    out.print(
        f"[bold]{escape(answer.history.path)}[/bold] in {len(answer.releases)} final releases of {escape(library)}, "
        f"{first['version']} ({first['release_time']:%Y-%m-%d}) to {last['version']} ({last['release_time']:%Y-%m-%d})"
    )
    for line in describe(answer.history):
        out.print(f"  {line}", markup=False)
    if not answer.history.known:
        near = get_close_matches(answer.history.path, answer.paths, n=3)
        meant = f"  did you mean {', '.join(near)}?" if near else f"  it offers {len(answer.paths)} other paths"
        out.print(meant, markup=False)
    for reject in answer.rejects[:SHOWN]:
        say(f"left out: {reject.key}: {reject.detail}")
    if len(answer.rejects) > SHOWN:
        say(f"left out: {len(answer.rejects) - SHOWN} more, which --json lists")


def _as_json(library: str, answer: Answer) -> dict[str, object]:
    return {
        "library": library,
        "path": answer.history.path,
        "releases": [row["version"] for row in answer.releases],
        "lives": answer.history.lives,
        "states": answer.history.states,
        "changes": answer.history.changes,
        "rejects": [asdict(reject) for reject in answer.rejects],
    }
