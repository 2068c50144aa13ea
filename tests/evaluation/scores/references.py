"""What stood in place of each task of a snapshot, as predictions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from pipeline.core.vocabularies.families import Family
from pipeline.evaluation.scores.tasks import Task
from pipeline.families.all_families import FAMILIES
from pipeline.lake.rows import AnyRow


def predictions(snapshot: Path) -> Iterator[AnyRow]:
    """Yield a line with the reference of each row of each family."""
    for family in FAMILIES:
        path = snapshot / "data" / f"{family.table}.parquet"
        for row in pq.read_table(path).to_pylist() if path.exists() else ():
            task = Task(row[family.key], family.name, row, ())
            yield {"id": task.id, "family": family.name, "completions": [task.right_answer]}


def write_predictions(snapshot: Path, path: Path) -> dict[Family, int]:
    """Write them as JSON lines, and return how many there are of each family."""
    lines = list(predictions(snapshot))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {family: sum(line["family"] == family for line in lines) for family in Family}
