"""Comparison of two snapshots: added, removed and changed rows, columns and names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import duckdb

from pipeline.lake.rows import ErratumRow
from pipeline.snapshots.comparison.column_comparison import ColumnDiff
from pipeline.snapshots.comparison.table_comparison import NameDiff, Pair, RowDiff, name_diff
from pipeline.snapshots.format.manifest import Manifest
from pipeline.snapshots.format.reader import DATA, Snapshot, paths_of
from pipeline.snapshots.format.rows import TABLES


@dataclass(frozen=True, slots=True)
class Comparison:
    """Differences of two snapshots; `rows` and `columns` are by configuration, `facts` are fields of the manifests."""

    old: str
    new: str
    rows: Mapping[str, RowDiff]
    columns: Mapping[str, Mapping[str, ColumnDiff]]
    errata: Sequence[ErratumRow]
    libraries: NameDiff
    releases: NameDiff
    rules: NameDiff
    files: NameDiff
    facts: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """Whether both have the same bytes and rules."""
        return self.files.same and self.rules.same and not self.facts

    @property
    def errata_by_reason(self) -> dict[str, int]:
        """Count the new errata by reason; those of restored rows count as restored."""
        names = ("restored" if row["restored"] else str(row["reason"]) for row in self.errata)
        return dict(sorted(Counter(names).items()))


def compare_snapshots(old: Path, new: Path) -> Comparison:
    """Compare two snapshots, or a snapshot and a candidate.

    Rows are compared by their key, and added and removed ones again by their place: source and API. A table or column
    that one side lacks counts as empty there.

    Errors: SnapshotError; OSError, or pyarrow's or DuckDB's, where a file with the right hash is broken inside.
    """
    sides = Snapshot(old), Snapshot(new)
    manifests = sides[0].manifest, sides[1].manifest
    files = name_diff(*({entry.path: entry.sha256 for entry in manifest.files} for manifest in manifests))
    other = {*files.added, *files.removed, *files.changed}
    with duckdb.connect() as database:
        tables = {
            config: Pair(database, config, *sides, equal=other.isdisjoint(paths_of(config, DATA))) for config in TABLES
        }
        rows = {config: pair.rows() for config, pair in tables.items()}
        columns = {config: pair.columns() for config, pair in tables.items()}
        releases = tables["releases"].named()
        errata = cast("list[ErratumRow]", tables["errata"].new_rows()) if "errata" in tables else []
    return Comparison(
        old=old.name,
        new=new.name,
        rows=rows,
        columns=columns,
        errata=errata,
        libraries=name_diff(*(manifest.libraries for manifest in manifests)),
        releases=releases,
        rules=name_diff(*(_rules(manifest, manifests) for manifest in manifests)),
        files=files,
        facts=_facts(*manifests),
    )


def _rules(manifest: Manifest, both: Iterable[Manifest]) -> Mapping[str, str]:
    """Return hashes of rules by name, or the joint hash where a side has no other."""
    return manifest.rules if all(side.rules for side in both) else {"all rules": manifest.rules_sha256}


def _facts(old: Manifest, new: Manifest) -> dict[str, tuple[Any, Any]]:
    """Return the fields of the manifests that differ: format, build, profile, covered period."""
    names = ("format", "driftline", "profile")
    pairs = {name: (getattr(old, name), getattr(new, name)) for name in names}
    pairs |= {name: (getattr(old.period, name), getattr(new.period, name)) for name in ("since", "until")}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
