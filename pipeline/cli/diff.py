"""`driftline diff`: changes between two releases, grouped by the work that users have with them."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from packaging.version import Version
from rich.text import Text

from pipeline.api.history.change_text import signature
from pipeline.api.history.upgrade_guide import (
    Block,
    Groups,
    HeldBack,
    Part,
    changes_in,
    grouped,
    of_part,
    shortened,
)
from pipeline.cli.options import Json
from pipeline.cli.output import BAD_USAGE, fail, notify, out, print_json, print_left_out, progress
from pipeline.core.progress import ReportProgress
from pipeline.lake.rows import AnyRow, BehaviourRow, ChangeRow, SymbolState
from pipeline.lake.stage import Reject
from pipeline.orchestration.adhoc import NoAnswerError, behaviours_of, diff_releases

PIPED = 120
"""Width of lines without a terminal."""

_PLACES = 5
"""Places of possible removals that are listed."""

States = Mapping[str, tuple[SymbolState, SymbolState]]
"""The states of an API in the old and in the new release, by path."""


def diff(
    library: Annotated[str, typer.Argument(help="Name on the package index.")],
    old: Annotated[str, typer.Argument(help="Version to come from.")],
    new: Annotated[str, typer.Argument(help="Version to go to.")],
    only: Annotated[Part | None, typer.Option(help="Only this part of the changes, all of it.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All changes, also those that need no work.")] = False,
    prove: Annotated[bool, typer.Option("--prove", help="Run what is shown in both releases.")] = False,
    json: Json = False,
) -> None:
    """Show the changes of a library's public API between two releases, grouped by the work that users have.

    The first changes of each group are shown, and the others are counted. Ends with status 0 whatever changed, 1 if the
    index does not answer, 2 if a release is not available or cannot run.

    Example: driftline diff flask 2.2.5 2.3.0 --only breaking
    """
    proof: Proof | None = None
    try:
        with progress(f"comparing {library} {old} and {new}") as report:
            result = diff_releases(library, old, new, report)
            groups: Groups = grouped([*result.changes, *_behaviours(library, old, new)])
            groups = of_part(groups, only) if only else groups
            displayed, held_back = (groups, []) if only or everything or json else shortened(groups)
            if prove:
                proof = _prove(library, [*changes_in(displayed)], report)
                displayed = grouped(proof.changes)
    except NoAnswerError as error:
        fail(error, BAD_USAGE)
    if json:
        content: dict[str, Any] = {
            "changes": sorted(map(as_json, changes_in(displayed)), key=lambda change: change["path"]),
            "held_back": [{"path": path, "why": why} for path, why in result.held_back.items()],
            "rejects": [asdict(reject) for reject in result.rejects],
        }
        refuted = {"refuted": [reject.detail for reject in proof.refuted]} if proof else {}
        print_json({"library": library, "old": old, "new": new, **content, **refuted})
        return
    reshaped = {block.path for _, blocks in displayed for block in blocks if block.reshaped}
    states = {path: states for path in reshaped if (states := result.states(path))}
    title, width = f"{library} {old} → {new}", out.width if out.is_terminal else PIPED
    none = "no change in the readable files" if result.rejects else "no change"
    for line in diff_lines(title, groups, displayed, states, width, none):
        out.print(line)
    for text in [*_proof_lines(proof), *_held_back_lines(held_back, result.held_back)]:
        out.print(Text(text))
    print_left_out(result.rejects)


def _behaviours(library: str, old: str, new: str) -> list[BehaviourRow]:
    """Return the changes of behaviour in the lake that came after one release and up to another."""
    return [
        row
        for row in behaviours_of(library, notify)
        if Version(old) <= Version(row["old_version"]) and Version(row["new_version"]) <= Version(new)
    ]


@dataclass(frozen=True, slots=True)
class Proof:
    """Changes after runs in both releases: confirmed and undecided ones, refuted ones, and why some are undecided."""

    changes: Sequence[ChangeRow]
    refuted: list[Reject]
    undecided: Counter[str]


def _prove(library: str, changes: Sequence[ChangeRow], report: ReportProgress) -> Proof:
    # only needed to run code
    from pipeline.core.settings import settings
    from pipeline.index.release_selection import Period
    from pipeline.orchestration.adhoc import profile_of
    from pipeline.orchestration.proving import run_changes
    from pipeline.orchestration.resources.resources import Resources
    from pipeline.quality.acceptance.changes import ChangeVerdict

    judged = run_changes(changes, Resources(settings(), profile_of(library), Period()), report)
    not_refuted = [each for each in judged if each.verdict != ChangeVerdict.REFUTED]
    rows = [each.change if isinstance(each.result, Reject) else each.result for each in not_refuted]
    refuted = [
        each.result for each in judged if each.verdict == ChangeVerdict.REFUTED and isinstance(each.result, Reject)
    ]
    return Proof(rows, refuted, Counter(each.undecided for each in not_refuted if each.undecided))


def _proof_lines(proof: Proof | None) -> Iterator[str]:
    """Yield the results of running the changes."""
    if proof is None:
        return
    undecided = proof.undecided.total()
    held = len(proof.changes) - undecided
    counts = f"{held} held, {len(proof.refuted)} refuted, {undecided} not decided"
    yield ""
    yield f"Run in both releases: {_count(held + len(proof.refuted), 'change')} could be judged; {counts}"
    yield from (f"  refuted: {reject.detail}" for reject in proof.refuted)
    yield from (f"  {number} not decided: {reason}" for reason, number in proof.undecided.most_common())


def _held_back_lines(groups: Sequence[HeldBack], unobservable: Mapping[str, str]) -> Iterator[str]:
    """Yield the numbers of changes that are not shown, reasons, and options to show them."""
    if not groups and not unobservable:
        return
    yield ""
    yield "Held back"
    for group in groups:
        option = f"--only {group.part}" if group.part else "--all"
        yield f"  {group.blocks:>5}  {group.work.value} ({group.why}): {option}"
    places = Counter((path.rpartition(".")[0] or path, why) for path, why in unobservable.items())
    for (place, why), number in sorted(places.items(), key=lambda item: (-item[1], item[0]))[:_PLACES]:
        yield f"  {number:>5}  possible removals below {place} ({why}): --json"
    if rest := sum(sorted(places.values(), reverse=True)[_PLACES:]):
        yield f"  {rest:>5}  more possible removals in {len(places) - _PLACES} other places: --json"


def diff_lines(
    title: str, groups: Groups, displayed: Groups, states: States, width: int, none: str = "no change"
) -> Iterator[Text]:
    """Yield the counts by group and the displayed changes; `states` has the APIs whose signatures are displayed."""
    apis = sum(len(blocks) for _, blocks in groups)
    changes = sum(1 for _ in changes_in(groups))
    counts = f": {_count(changes, 'change')} of {_count(apis, 'API')}" if changes else f": {none}"
    yield Text.assemble((title, "bold"), counts)
    yield from (Text(f"  {len(blocks):>5}  {work.value}") for work, blocks in groups)
    totals = {work: len(blocks) for work, blocks in groups}
    for work, blocks in displayed:
        yield Text()
        number = str(len(blocks)) if len(blocks) == totals.get(work) else f"{len(blocks)} of {totals.get(work, 0)}"
        yield Text(f"{work.value} ({number})", "bold")
        for block in blocks:
            yield from _block(block, states.get(block.path), width)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _block(block: Block, states: tuple[SymbolState, SymbolState] | None, width: int) -> Iterator[Text]:
    phrases = block.phrases
    alone = f"  {block.path}: {phrases[0].text}"
    if len(phrases) == 1 and len(alone) <= width:
        yield Text(alone)
        return
    yield Text(f"  {block.path}")
    for phrase in phrases:
        mark = "! " if phrase.breaking else "  "
        first, *more = textwrap.wrap(phrase.text, max(width - 8, 40), break_long_words=False, break_on_hyphens=False)
        yield Text(f"    {mark}{first}", "red" if phrase.breaking else "")
        yield from (Text(f"        {line}", "red" if phrase.breaking else "") for line in more)
    if states:
        yield from _signatures(states, width)


def _signatures(states: tuple[SymbolState, SymbolState], width: int) -> Iterator[Text]:
    for label, state in zip(("old", "new"), states, strict=True):
        first, *more = signature(state, width - 11)
        yield Text(f"      {label}: {first}", "dim")
        yield from (Text(f"           {line}", "dim") for line in more)


def as_json(change: ChangeRow) -> dict[str, Any]:
    """Return a change in the documented form of `driftline diff --json`."""
    columns = (
        "path",
        "canonical_path",
        "kind",
        "parameter",
        "old",
        "new",
        "breaking",
        "reach",
        "replacement",
        "evidence",
        "confidence",
    )
    row: AnyRow = change
    return {name: row[name] for name in columns} | {"tag": change["libevolutioneval_tag"]}
