"""What a user of a library must do about its changes: blocks of one API each, in groups, the most urgent first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from more_itertools import first

from pipeline.api.history.change_text import Phrase, phrases
from pipeline.core.vocabularies.changes import OF_TYPES, ChangeKind
from pipeline.lake.schema import Row

_MARKS = frozenset({ChangeKind.DEPRECATED, ChangeKind.PARAMETER_DEPRECATED})

GROUPS: tuple[tuple[str, Callable[[Row], bool]], ...] = (
    ("Code that uses these fails: rewrite", lambda c: c["kind"] == ChangeKind.REMOVED),
    ("Write the new path", lambda c: c["kind"] in {ChangeKind.RENAMED, ChangeKind.MOVED}),
    ("Check your calls", lambda c: c["breaking"]),
    ("Prepare: deprecated, and what to use", lambda c: c["kind"] in _MARKS),
    ("New", lambda c: c["kind"] == ChangeKind.INTRODUCED),
    ("Nothing to do", lambda c: c["kind"] not in OF_TYPES),
    ("Types: annotations alone", lambda c: True),
)
"""A change belongs to the first group that fits.

An API belongs to the first that any of its changes belongs to, but for changes of annotations, which stand apart.
"""

_SHAPE = frozenset(kind for kind in ChangeKind if kind.startswith("parameter_")) - {
    ChangeKind.PARAMETER_TYPE,
    ChangeKind.PARAMETER_DEPRECATED,
}


@dataclass(frozen=True, slots=True)
class Block:
    """Everything that changed about one API, but for its annotations, or all that changed in these."""

    path: str
    changes: tuple[Row, ...]

    @property
    def phrases(self) -> list[Phrase]:
        """Tell the changes, what breaks first."""
        return phrases(self.changes)

    @property
    def reshaped(self) -> bool:
        """Whether several parameters changed in more than type: then two signatures say more than their differences."""
        return len({c["parameter"] for c in self.changes if c["kind"] in _SHAPE}) > 1


def grouped(changes: Sequence[Row]) -> list[tuple[str, list[Block]]]:
    """Sort changes into the groups of a user's work, a block per API, by path; empty groups are left out."""
    together: dict[tuple[str, bool], list[Row]] = {}
    for change in changes:
        together.setdefault((change["path"], change["kind"] in OF_TYPES), []).append(change)
    groups: dict[str, list[Block]] = {title: [] for title, _ in GROUPS}
    for (path, _), of_one in sorted(together.items()):
        urgency = min(_urgency(change) for change in of_one)
        groups[GROUPS[urgency][0]].append(Block(path, tuple(of_one)))
    return [(title, blocks) for title, blocks in groups.items() if blocks]


def _urgency(change: Row) -> int:
    return first(at for at, (_, fits) in enumerate(GROUPS) if fits(change))


def only_breaking(changes: Sequence[Row]) -> list[Row]:
    """Return the changes after which code that was right can fail."""
    return [change for change in changes if change["breaking"]]
