"""Places of rows: source and API. Rows with other content at the same place are one changed row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from pipeline.families.all_families import INSTANCES
from pipeline.lake.rows import AnyRow

PLACES: dict[str, tuple[str, ...]] = {
    **{family.table: family.place for family in INSTANCES},
    "changes": ("library", "path", "kind", "parameter", "old_version", "new_version"),
}
"""The columns of the place by configuration; other configurations have no ids of their own."""

LINES = ("source_line", "body_first_line", "middle_start")


def place_of(config: str, row: AnyRow) -> Hashable:
    """Return the place of a row; a column that an older snapshot lacks is None."""
    return tuple(row.get(column) for column in PLACES[config])


def pairs_at_places(config: str, removed: Iterable[AnyRow], added: Iterable[AnyRow]) -> list[tuple[AnyRow, AnyRow]]:
    """Pair removed with added rows at the same place, in the order of their lines."""
    old, new = _at_places(config, removed), _at_places(config, added)
    return [pair for place in old if place in new for pair in zip(old[place], new[place], strict=False)]


def _at_places(config: str, rows: Iterable[AnyRow]) -> dict[Hashable, Sequence[AnyRow]]:
    grouped: dict[Hashable, list[AnyRow]] = defaultdict(list)
    for row in rows:
        grouped[place_of(config, row)].append(row)
    return {place: sorted(at, key=_order) for place, at in grouped.items()}


def _order(row: AnyRow) -> tuple[int, str]:
    line = next((row[name] for name in LINES if row.get(name) is not None), 0)
    return int(line), str(row["id"])
