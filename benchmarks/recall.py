"""How many of the changes that release notes state are in the catalogue of changes.

    python -m benchmarks.recall pillow scipy --json recall.json

`benchmarks/recall.toml` has the changes that notes state, which were taken from them before anything was compared.
Each pair of releases is compared as `driftline diff` does. A statement is found if a change of its path, or of the
definition that its path names, is of a kind that it allows (`KINDS`), and names the parameter that it is about. One of
the parameters of a class may be at its `__init__`. Found in the group Internal counts apart: `diff` shows only how
many these are. Each miss has its reason: the release before has no such API, a possible removal was held back, other
changes were found, or none.

Sources stay in the cache under DRIFTLINE_DATA. Nothing is run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pipeline.core.vocabularies.changes import APART, RELOCATED, ChangeKind, Work, group_of
from pipeline.lake.rows import ChangeRow
from pipeline.orchestration.adhoc import Diff, NoAnswerError, diff_releases

NOTES = Path(__file__).with_name("recall.toml")

KINDS: Mapping[str, frozenset[ChangeKind]] = {
    "removed": frozenset(
        {
            ChangeKind.REMOVED,
            ChangeKind.RENAMED,
            ChangeKind.MOVED,
            ChangeKind.PARAMETER_REMOVED,
            ChangeKind.PARAMETER_RENAMED,
        }
    ),
    "deprecated": frozenset({ChangeKind.DEPRECATED, ChangeKind.USE_DEPRECATED, ChangeKind.PARAMETER_DEPRECATED}),
    "added": frozenset(
        {
            ChangeKind.INTRODUCED,
            ChangeKind.PARAMETER_ADDED_OPTIONAL,
            ChangeKind.PARAMETER_ADDED_REQUIRED,
            ChangeKind.PARAMETER_RENAMED,
        }
    ),
    "changed": frozenset(kind for kind in ChangeKind if kind.behaviour.work is not Work.TYPES),
}
"""The kinds of change that a statement of each list of the notes allows."""

FOUND, INTERNAL, MISSED = "found", "internal", "missed"


@dataclass(frozen=True, slots=True)
class Statement:
    """What notes state of an API or of one of its parameters, and what became of it."""

    library: str
    claim: str
    path: str
    parameter: str | None
    outcome: str = ""
    reason: str = ""


def statements(notes: Mapping[str, Any]) -> Iterator[Statement]:
    """Yield what the notes of one pair of releases state."""
    for claim in KINDS:
        for text in notes.get(claim, ()):
            path, _, parameter = text.rstrip(")").partition("(")
            yield Statement(notes["library"], claim, path, parameter or None)


def judge(statement: Statement, diff: Diff) -> Statement:
    """Return a statement with whether the changes between two releases have it, and why not."""
    rows = [index.find(statement.path) for index in (diff.old, diff.new)]
    # its state may be at another path of the same definition
    names = {statement.path, *(row[name] for row in rows if row is not None for name in ("path", "canonical_path"))}
    if statement.parameter:
        names |= {f"{name}.__init__" for name in names}
    about = [change for change in diff.changes if _paths(change) & names]
    fitting = [change for change in about if _fits(change, statement)]
    outcome = MISSED
    if fitting:
        outcome = INTERNAL if all(group_of(change) in APART for change in fitting) else FOUND
    reason = "" if fitting else _reason(statement, diff, names, about)
    return Statement(statement.library, statement.claim, statement.path, statement.parameter, outcome, reason)


def _paths(change: ChangeRow) -> set[str]:
    """Return the paths that a change is about; what was renamed or moved came at its new one."""
    came = {str(change["new"])} if change["kind"] in RELOCATED else set()
    return {change["path"], change["canonical_path"], *came}


def _fits(change: ChangeRow, statement: Statement) -> bool:
    came = statement.claim == "added" and change["kind"] in RELOCATED and change["new"] == statement.path
    if change["kind"] not in KINDS[statement.claim] and not came:
        return False
    if statement.parameter is None:
        return change["parameter"] is None
    # a renamed parameter is a change of both names
    renamed = change["kind"] == ChangeKind.PARAMETER_RENAMED and statement.parameter in (change["old"], change["new"])
    return change["parameter"] == statement.parameter or renamed


def _reason(statement: Statement, diff: Diff, names: Set[str], about: Sequence[ChangeRow]) -> str:
    above = statement.path.rpartition(".")[0]
    for name in [*names, above]:
        if held_back := diff.held_back.get(name):
            return f"held back: {held_back}"
    if about:
        return "others: " + ", ".join(sorted({f"{c['kind']} {c['parameter'] or ''}".strip() for c in about})[:4])
    had, has = (index.find(statement.path) is not None for index in (diff.old, diff.new))
    return "no change found" if had or has else "neither release has such an API"


def show(judged: Sequence[Statement], console: Console) -> None:
    """Print a line for each library and list of the notes, and one for all."""
    table = Table(title="Changes that release notes state", title_justify="left", box=None)
    for column in ("notes", FOUND, INTERNAL, MISSED, "recall"):
        table.add_column(column, justify="left" if column == "notes" else "right")
    libraries = dict.fromkeys(statement.library for statement in judged)
    groups = {
        **{library: [statement for statement in judged if statement.library == library] for library in libraries},
        **{claim: [statement for statement in judged if statement.claim == claim] for claim in KINDS},
        "all": judged,
    }
    for name, of in groups.items():
        counted = Counter(statement.outcome for statement in of)
        share = f"{1 - counted[MISSED] / len(of):.1%}" if of else ""
        table.add_row(name, *(str(counted[outcome]) for outcome in (FOUND, INTERNAL, MISSED)), share)
    console.print(table)


def main() -> None:
    """Compare the pairs of releases of the libraries of the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    console, judged = Console(stderr=True), list[Statement]()
    for notes in tomllib.loads(NOTES.read_text())["notes"]:
        library, old, new = notes["library"], notes["old"], notes["new"]
        if asked.libraries and library not in asked.libraries:
            continue
        try:
            diff = diff_releases(library, old, new)
        except NoAnswerError as error:
            console.print(f"left out: {error}")
            continue
        judged += [judge(statement, diff) for statement in statements(notes)]
    show(judged, Console(width=120))
    for statement in judged:
        if statement.outcome == MISSED:
            named = f"{statement.path}({statement.parameter})" if statement.parameter else statement.path
            print(f"{statement.claim} {named}: {statement.reason}")  # noqa: T201
    if asked.json:
        asked.json.write_text(json.dumps([asdict(statement) for statement in judged], indent=1) + "\n")
    sys.exit(0 if judged else 1)


if __name__ == "__main__":
    main()
