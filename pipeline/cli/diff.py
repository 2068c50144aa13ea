"""`driftline diff`: what changed between two releases, grouped by what a user must do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.text import Text

from pipeline.api.history.change_text import signature
from pipeline.api.history.upgrade_guide import Block, grouped, only_breaking
from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, fail, out, print_json, progress, say_left_out
from pipeline.lake.schema import Row
from pipeline.orchestration.adhoc import NoAnswerError, diff_releases

PIPED = 120
"""Columns of a line that no terminal limits."""

States = Mapping[str, tuple[Row, Row]]
"""The states of an API in the old and in the new release, by path."""


def diff(
    library: Annotated[str, typer.Argument(help="Name on the package index.")],
    old: Annotated[str, typer.Argument(help="Version to come from.")],
    new: Annotated[str, typer.Argument(help="Version to go to.")],
    breaking: Annotated[bool, typer.Option("--breaking", help="Only what can break code that was right.")] = False,
    json: Json = False,
) -> None:
    """Show what changed in a library's public API between two releases, by what a user must do about it.

    Ends with status 0 whatever changed, 1 where the index does not answer, 2 where a release cannot be had.

    Example: driftline diff flask 2.2.5 2.3.0
    """
    try:
        with progress(f"comparing {library} {old} and {new}") as tell:
            found = diff_releases(library, old, new, tell)
    except NoAnswerError as error:
        fail(str(error), BAD_USAGE)
    changes = only_breaking(found.changes) if breaking else found.changes
    reshaped = {block.path for _, blocks in grouped(changes) for block in blocks if block.reshaped}
    states = {path: states for path in reshaped if (states := found.states(path))}
    if json:
        told = {"changes": [as_json(change) for change in changes], "rejects": [asdict(one) for one in found.rejects]}
        print_json({"library": library, "old": old, "new": new, **told})
        return
    title = f"{library} {old} → {new}"
    none = "no change in what could be read" if found.rejects else "no change"
    for line in diff_lines(title, changes, states, out.width if out.is_terminal else PIPED, none):
        out.print(line)
    say_left_out(found.rejects)


def diff_lines(
    title: str, changes: Sequence[Row], states: States, width: int, none: str = "no change"
) -> Iterator[Text]:
    """Write changes in their groups; `states` holds those of the APIs whose signatures are to be shown."""
    groups = grouped(changes)
    apis = sum(len(blocks) for _, blocks in groups)
    counts = f": {_count(len(changes), 'change')} of {_count(apis, 'API')}" if changes else f": {none}"
    yield Text.assemble((title, "bold"), counts)
    yield from (Text(f"  {len(blocks):>5}  {name}") for name, blocks in groups)
    for name, blocks in groups:
        yield Text()
        yield Text(f"{name} ({len(blocks)})", "bold")
        for block in blocks:
            yield from _block(block, states.get(block.path), width)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _block(block: Block, states: tuple[Row, Row] | None, width: int) -> Iterator[Text]:
    told = block.phrases
    alone = f"  {block.path}: {told[0].text}"
    if len(told) == 1 and len(alone) <= width:
        yield Text(alone)
        return
    yield Text(f"  {block.path}")
    for phrase in told:
        mark = "! " if phrase.breaking else "  "
        first, *more = textwrap.wrap(phrase.text, max(width - 8, 40), break_long_words=False, break_on_hyphens=False)
        yield Text(f"    {mark}{first}", "red" if phrase.breaking else "")
        yield from (Text(f"        {line}", "red" if phrase.breaking else "") for line in more)
    if states:
        yield from _signatures(states, width)


def _signatures(states: tuple[Row, Row], width: int) -> Iterator[Text]:
    for label, state in zip(("old", "new"), states, strict=True):
        first, *more = signature(state, width - 11)
        yield Text(f"      {label}: {first}", "dim")
        yield from (Text(f"           {line}", "dim") for line in more)


def as_json(change: Row) -> dict[str, Any]:
    """Return a change in the form that `driftline diff --json` promises."""
    kept = ("path", "canonical_path", "kind", "parameter", "old", "new", "breaking", "replacement", "evidence")
    return {name: change[name] for name in kept} | {"tag": change["libevolutioneval_tag"]}
