"""What stood in place of each task of a snapshot, as predictions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow.parquet as pq

from pipeline.core.vocabularies.families import Family
from pipeline.families.all_families import BY_NAME
from pipeline.lake.rows import AnyRow


def after_hint(row: AnyRow) -> str:
    return str(row["reference_call"]).removeprefix(row["hint"])


REFERENCES: Mapping[Family, Callable[[AnyRow], str]] = {
    Family.COMPLETION: lambda row: row["answer"],
    Family.CONTEXT: after_hint,
    Family.CONTROLLED: after_hint,
    Family.BLOCK_COMPLETION: lambda row: row["answer"],
    Family.FUNCTION: lambda row: row["answer"],
    Family.MIGRATION: lambda row: row["target_code"],
    Family.COMPATIBILITY: lambda row: ", ".join(row["compatible"]),
    Family.PROBLEM: lambda row: row["solution"],
    Family.REPOSITORY_TASK: lambda row: row["reference"],
    Family.SCENE: lambda row: row["middle"],
}


def predictions(snapshot: Path) -> Iterator[AnyRow]:
    """Yield a line with the reference of each row of each family."""
    for family, reference in REFERENCES.items():
        path = snapshot / "data" / f"{family.table}.parquet"
        for row in pq.read_table(path).to_pylist() if path.exists() else ():
            yield {"id": row[BY_NAME[family].key], "family": family, "completions": [reference(row)]}


def write_predictions(snapshot: Path, path: Path) -> dict[Family, int]:
    """Write them as JSON lines, and return how many there are of each family."""
    lines = list(predictions(snapshot))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {family: sum(line["family"] == family for line in lines) for family in Family}
