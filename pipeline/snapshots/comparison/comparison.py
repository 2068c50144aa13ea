"""Two snapshots held against each other: what came, went and changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from pipeline.lake.rows import ErratumRow
from pipeline.snapshots.comparison.column_comparison import ColumnDiff
from pipeline.snapshots.comparison.errata import errata_by_reason
from pipeline.snapshots.comparison.table_comparison import Moved, Pair, RowDiff, moved
from pipeline.snapshots.format.manifest import Manifest
from pipeline.snapshots.format.reader import Snapshot
from pipeline.snapshots.format.tables import TABLES


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two snapshots; `rows` and `columns` are by configuration, `facts` those of the manifests."""

    old: str
    new: str
    rows: Mapping[str, RowDiff]
    columns: Mapping[str, Mapping[str, ColumnDiff]]
    errata: Sequence[ErratumRow]
    libraries: Moved
    releases: Moved
    rules: Moved
    files: Moved
    facts: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """Whether the two hold the same, byte by byte, and were made from the same rules."""
        return self.files.same and self.rules.same and not self.facts

    @property
    def errata_by_reason(self) -> dict[str, int]:
        """Count the new errata by reason."""
        return errata_by_reason(self.errata)


def compare_snapshots(old: Path, new: Path) -> Comparison:
    """Say what came, went and changed from one snapshot to another; a draft of one will do.

    Rows are compared by their key, and those whose id went or came once more by their place: source and API. A table or
    column that one side lacks counts as empty there.

    Errors: SnapshotError; OSError, or pyarrow's or DuckDB's, where a file with the right hash is broken inside.
    """
    sides = Snapshot(old), Snapshot(new)
    manifests = sides[0].manifest, sides[1].manifest
    files = moved(*({entry.path: entry.sha256 for entry in manifest.files} for manifest in manifests))
    other = {*files.came, *files.went, *files.changed}
    with duckdb.connect() as database:
        tables = {
            config: Pair(database, config, *sides, equal=f"data/{config}.parquet" not in other) for config in TABLES
        }
        rows = {config: pair.rows() for config, pair in tables.items()}
        columns = {config: pair.columns() for config, pair in tables.items()}
        releases = tables["releases"].named()
        errata = tables["errata"].new_rows() if "errata" in tables else []
    return Comparison(
        old=old.name,
        new=new.name,
        rows=rows,
        columns=columns,
        errata=errata,
        libraries=moved(*(manifest.libraries for manifest in manifests)),
        releases=releases,
        rules=moved(*(_rules(manifest, manifests) for manifest in manifests)),
        files=files,
        facts=_facts(*manifests),
    )


def _rules(manifest: Manifest, both: Iterable[Manifest]) -> Mapping[str, str]:
    """Return hashes of rules by name; the one of all together where a side has no others."""
    return manifest.rules if all(one.rules for one in both) else {"all rules": manifest.rules_sha256}


def _facts(old: Manifest, new: Manifest) -> dict[str, tuple[Any, Any]]:
    """Return what the manifests say otherwise of what was covered, and by which driftline."""
    names = ("format", "driftline", "profile")
    pairs = {name: (getattr(old, name), getattr(new, name)) for name in names}
    pairs |= {name: (getattr(old.period, name), getattr(new.period, name)) for name in ("since", "until")}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
