"""What a user of a library must do about its changes: blocks of one API each, in groups, the most urgent first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.api.history.change_text import Phrase, phrases
from pipeline.core.vocabularies.changes import APART, OF_PARAMETERS, ChangeKind, Work, group_of
from pipeline.lake.rows import ChangeRow


@dataclass(frozen=True, slots=True)
class Block:
    """Everything that changed about one API, but for its annotations, or all that changed in these."""

    path: str
    changes: tuple[ChangeRow, ...]

    @property
    def phrases(self) -> list[Phrase]:
        """Tell the changes, what breaks first."""
        return phrases(self.changes)

    @property
    def reshaped(self) -> bool:
        """Whether several parameters changed in more than type: then two signatures say more than their differences."""
        return len({c["parameter"] for c in self.changes if c["kind"] in OF_PARAMETERS}) > 1


def grouped(changes: Sequence[ChangeRow]) -> list[tuple[str, list[Block]]]:
    """Sort changes into the groups of a user's work, a block per API, by path; empty groups are left out.

    An API belongs to the most urgent group of its changes; those of groups that stand apart have a block of their own.
    """
    together: dict[tuple[str, str], list[ChangeRow]] = {}
    for change in changes:
        work = ChangeKind(change["kind"]).behaviour.work
        together.setdefault((change["path"], work.value if work in APART else ""), []).append(change)
    groups: dict[Work, list[Block]] = {work: [] for work in Work}
    for (path, _), of_one in sorted(together.items()):
        groups[min(map(group_of, of_one), key=list(Work).index)].append(Block(path, tuple(of_one)))
    return [(work.value, blocks) for work, blocks in groups.items() if blocks]


def only_breaking(changes: Sequence[ChangeRow]) -> list[ChangeRow]:
    """Return the changes after which code that was right can fail."""
    return [change for change in changes if change["breaking"]]
