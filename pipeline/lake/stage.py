"""What a stage is: a pure function over one library's rows, with its parameters, and what it hands back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pipeline.core.vocabularies.review import RejectReason

if TYPE_CHECKING:  # verifiers of exported tasks do not have it
    from pipeline.lake.rows import AnyRow, Tables


def as_tables(rows: Mapping[str, Sequence[AnyRow]]) -> Tables:
    """Return rows by the name of their table, where only running tells which tables they are."""
    return cast("Tables", rows)


_EARLIER_STAGES = {"gate": "acceptance", "review": "flags", "reviews": "decisions", "migrated_code": "model_migrations"}
"""The stages whose names were others before 2026-12-01: a refresh that ended before may be published after."""


def stage_of(name: str) -> str:
    """Return today's name of a stage, of which a state or a reject may have an earlier one."""
    return _EARLIER_STAGES.get(name, f"{name.removesuffix('_gate')}_acceptance" if name.endswith("_gate") else name)


@dataclass(frozen=True, slots=True)
class Reject:
    """One thing that a stage refused: its key, why, and what was found where."""

    key: str
    reason: RejectReason
    detail: str


@dataclass(frozen=True, slots=True)
class Update:
    """What a stage that goes on where it stopped does to a table: `added` rows, and columns that `changed`.

    `changed` maps the key of a row, without the library, to the columns that get another value.
    """

    added: Sequence[AnyRow]
    changed: Mapping[tuple[str, ...], AnyRow]


@dataclass(frozen=True, slots=True)
class Output:
    """What a stage made of one library.

    `units_in` counts the units that came in, `units_out` those that went out; the rest must be in `rejects`. `notes`
    are rejects of parts (a file that does not parse, an example of another kind) that are not units themselves.
    `tables` are whole; a stage that went on where it stopped before has `updates` of them instead, and one that can
    do so says in `progress`, as plain JSON values, how far it came.
    """

    tables: Tables
    units_in: int
    units_out: int
    rejects: Sequence[Reject] = ()
    notes: Sequence[Reject] = field(default=())
    updates: Mapping[str, Update] = field(default_factory=dict)
    progress: Any = None

    def __post_init__(self) -> None:
        if self.units_in != self.units_out + len(self.rejects):
            raise ValueError(
                f"counts do not add up: {self.units_in} in, {self.units_out} out, {len(self.rejects)} rejected"
            )

    @property
    def by_table(self) -> Mapping[str, Sequence[AnyRow]]:
        """The same tables, for what treats all tables alike."""
        return cast("Mapping[str, Sequence[AnyRow]]", self.tables)

    @property
    def reasons(self) -> dict[str, int]:
        """Count the rejected units by reason."""
        return dict(sorted(Counter(str(reject.reason) for reject in self.rejects).items()))
