"""Where a row stands: its source and its API. Rows with other content at the same place are one row that changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from pipeline.families.all_families import INSTANCES
from pipeline.lake.schema import Row

PLACES: dict[str, tuple[str, ...]] = {
    **{family.table: family.place for family in INSTANCES},
    "changes": ("library", "path", "kind", "parameter", "old_version", "new_version"),
}
"""The columns of a configuration that say where a row stands; what is in no line here has no ids of its own."""

LINES = ("source_line", "body_first_line", "middle_start")


def place_of(config: str, row: Row) -> Hashable:
    """Return where a row stands; a column that an older snapshot lacks counts as unknown."""
    return tuple(row.get(column) for column in PLACES[config])


def pairs_at_places(config: str, went: Iterable[Row], came: Iterable[Row]) -> list[tuple[Row, Row]]:
    """Pair rows that went with rows that came at the same place, in the order of their lines."""
    left, right = _at_places(config, went), _at_places(config, came)
    return [pair for place in left if place in right for pair in zip(left[place], right[place], strict=False)]


def _at_places(config: str, rows: Iterable[Row]) -> dict[Hashable, Sequence[Row]]:
    grouped: dict[Hashable, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[place_of(config, row)].append(row)
    return {place: sorted(at, key=_order) for place, at in grouped.items()}


def _order(row: Row) -> tuple[int, str]:
    line = next((row[name] for name in LINES if row.get(name) is not None), 0)
    return int(line), str(row["id"])
