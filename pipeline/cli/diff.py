"""`driftline diff`: what changed between two releases, grouped by what a user must do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.markup import escape

from pipeline.cli.output import BAD_USAGE, fail, out, print_json
from pipeline.cli.refresh import Json
from pipeline.lake import Row
from pipeline.lifecycle import describe_change
from pipeline.ondemand import NoAnswerError, diff_releases
from pipeline.terms import ChangeKind

GROUPS: tuple[tuple[str, Callable[[Row], bool]], ...] = (
    ("Gone: code that uses these fails", lambda c: c["kind"] == ChangeKind.REMOVED),
    ("Renamed or moved: write the new path", lambda c: c["kind"] in (ChangeKind.RENAMED, ChangeKind.MOVED)),
    ("Changed so that calls can fail: check them", lambda c: c["breaking"]),
    ("Deprecated: prepare for the removal", lambda c: c["kind"] == ChangeKind.DEPRECATED),
    ("New", lambda c: c["kind"] == ChangeKind.INTRODUCED),
    ("Changed without harm", lambda c: True),
)


def diff(
    library: Annotated[str, typer.Argument(help="Name on the package index.")],
    old: Annotated[str, typer.Argument(help="Version to come from.")],
    new: Annotated[str, typer.Argument(help="Version to go to.")],
    json: Json = False,
) -> None:
    """Show what changed in a library's public API between two releases.

    Example: driftline diff flask 2.2.5 2.3.0
    """
    try:
        changes = diff_releases(library, old, new)
    except NoAnswerError as error:
        fail(str(error), BAD_USAGE)
    if json:
        print_json({"library": library, "old": old, "new": new, "changes": [as_json(change) for change in changes]})
        return
    out.print(f"[bold]{escape(f'{library} {old} to {new}')}[/bold]: {len(changes)} changes")
    for title, group in grouped(changes):
        out.print(f"\n[bold]{title}[/bold] ({len(group)})")
        for change in group:
            out.print(f"  {describe_change(change)}", markup=False)


def grouped(changes: list[Row]) -> list[tuple[str, list[Row]]]:
    """Sort changes into the groups of a user's work; each stands in the first that fits, empty ones are left out."""
    groups: dict[str, list[Row]] = {title: [] for title, _ in GROUPS}
    for change in changes:
        groups[next(title for title, fits in GROUPS if fits(change))].append(change)
    return [(title, group) for title, group in groups.items() if group]


def as_json(change: Row) -> dict[str, Any]:
    """Return a change in the form that `driftline diff --json` promises."""
    kept = ("path", "canonical_path", "kind", "parameter", "old", "new", "breaking", "replacement", "evidence")
    return {name: change[name] for name in kept} | {"tag": change["libevolutioneval_tag"]}
