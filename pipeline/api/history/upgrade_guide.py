"""What a user of a library must do about its changes: blocks of one API each, in groups, the most urgent first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.api.history.change_text import Phrase, phrases
from pipeline.core.vocabularies.changes import APART, OF_PARAMETERS, Reach, Work, group_of
from pipeline.core.vocabularies.surface import SymbolKind
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


def grouped(changes: Iterable[ChangeRow]) -> list[tuple[Work, list[Block]]]:
    """Sort changes into the groups of a user's work, a block per API; empty groups are left out.

    In a group those of the farthest reach come first, of these those with a replacement, then what is called before
    constants, and short paths before long ones. An API belongs to the most urgent group of its changes; those of groups
    that stand apart have a block of their own.
    """
    together: dict[tuple[str, str], list[ChangeRow]] = {}
    for change in changes:
        work = group_of(change)
        together.setdefault((change["path"], work.value if work in APART else ""), []).append(change)
    groups: dict[Work, list[Block]] = {work: [] for work in Work}
    for (path, _), of_api in sorted(together.items()):
        groups[min(map(group_of, of_api), key=list(Work).index)].append(Block(path, tuple(of_api)))
    return [(work, sorted(blocks, key=_order)) for work, blocks in groups.items() if blocks]


def _order(block: Block) -> tuple[int, bool, bool, int, str]:
    reach = min(list(Reach).index(Reach(change["reach"])) for change in block.changes)
    without_advice = not any(change["replacement"] for change in block.changes)
    states = (change["old"] or change["new"] or "" for change in block.changes)
    return reach, without_advice, all(map(_is_constant, states)), block.path.count("."), block.path


def _is_constant(state: str) -> bool:
    """Return whether a described state is one of a constant: more code calls functions and classes."""
    return state.startswith((SymbolKind.ATTRIBUTE, SymbolKind.LAZY))


class Part(StrEnum):
    """A part of the changes that somebody may ask for alone."""

    BREAKING = "breaking"
    DEPRECATED = "deprecated"
    NEW = "new"
    TYPES = "types"
    UNLISTED = "unlisted"
    INTERNAL = "internal"


PARTS = {
    Part.BREAKING: (Work.REWRITE, Work.NEW_PATH, Work.CHECK),
    Part.DEPRECATED: (Work.PREPARE,),
    Part.NEW: (Work.NEW,),
    Part.TYPES: (Work.TYPES,),
    Part.UNLISTED: (Work.UNLISTED,),
    Part.INTERNAL: (Work.INTERNAL,),
}
"""The groups that each part has."""

Groups = Sequence[tuple[Work, Sequence[Block]]]


def of_part(groups: Groups, part: Part) -> Groups:
    """Return the groups of a part."""
    return [(work, blocks) for work, blocks in groups if work in PARTS[part]]


_AT_MOST = 20
"""Blocks of a group in a short list: a screen of them."""
_WHY_HELD_BACK = {
    Work.NOTHING: "no code has to change",
    Work.TYPES: "nothing runs otherwise",
    Work.UNLISTED: "the __all__ of their modules does not list them",
    Work.INTERNAL: "no __all__, import into a package, docstring or warning offers them",
}


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Blocks of a group that a short list leaves out, why, and the part that has them; None where only all has."""

    work: Work
    blocks: int
    why: str
    part: Part | None


def shortened(groups: Groups) -> tuple[Groups, list[HeldBack]]:
    """Return the first blocks of each group that asks for work, and what else there is."""
    short, held_back = [], list[HeldBack]()
    for work, blocks in groups:
        first = () if work in _WHY_HELD_BACK else blocks[:_AT_MOST]
        if first:
            short.append((work, first))
        if rest := len(blocks) - len(first):
            part = next((part for part, works in PARTS.items() if work in works), None)
            why = _WHY_HELD_BACK.get(work, f"after the first {_AT_MOST}")
            held_back.append(HeldBack(work, rest, why, part))
    return short, held_back


def changes_in(groups: Groups) -> Iterator[ChangeRow]:
    """Yield the changes of groups."""
    for _, blocks in groups:
        for block in blocks:
            yield from block.changes
