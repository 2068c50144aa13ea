"""The rows that an export was made from, out of its records and unsupported_columns.jsonl alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pipeline.core.vocabularies.scenes import Scene
from pipeline.evaluation.export import codevbench, evocodebench, gitchameleon, libevolutioneval, versicode
from pipeline.lake.schema import table
from pipeline.snapshots.format.rows import TABLES

Restore = Callable[[str, dict[str, Any]], Any]


def records(folder: Path, file: str) -> list[dict[str, Any]]:
    """The records of a file of an export."""
    text = (folder / file).read_text()
    return json.loads(text)["data"] if file.endswith(".json") else [json.loads(line) for line in text.splitlines()]


def restored(folder: Path) -> dict[str, list[Any]]:
    """The rows of each configuration, in the order of their key."""
    rows: dict[str, list[Any]] = {}
    for line in (folder / "unsupported_columns.jsonl").read_text().splitlines():
        held = json.loads(line)
        if "file" not in held:
            continue
        record = records(folder, held["file"])[held["number"] - 1]
        told = _TOLD[held["table"]](folder, held["file"], record)
        rows.setdefault(held["table"], []).append(_typed(held["table"], told | held["columns"]))
    for config, found in rows.items():
        found.sort(key=lambda row: tuple(str(row[name]) for name in table(TABLES[config]).key))
    return rows


def _typed(config: str, row: Any) -> Any:
    """A row without what the record tells and the table has not, and with times as times."""
    columns = {column.name: column for column in table(TABLES[config]).columns if not column.volatile}
    whole = {name: row.get(name) for name in columns}
    for name, column in columns.items():
        value = whole[name]
        if column.type == "timestamp" and isinstance(value, str):
            whole[name] = datetime.fromisoformat(value)
    return whole


def _task(folder: Path, file: str, record: dict[str, Any]) -> Any:
    (elements,) = (one for one in records(folder, evocodebench.ELEMENTS) if one["namespace"] == record["namespace"])
    return evocodebench.task_row(elements)


def _problem(folder: Path, file: str, record: dict[str, Any]) -> Any:
    tests = folder / gitchameleon.HIDDEN_TESTS / f"test_sample_{record['example_id']}.py"
    return gitchameleon.problem_row(record, tests.read_text())


def _scene_of(file: str) -> str | None:
    """The scene that the name of a file tells, None for a file of foreign samples."""
    return next((scene for scene in Scene if codevbench.file_of(scene) == file), None)


_TOLD: Mapping[str, Callable[[Path, str, dict[str, Any]], Any]] = {
    "completions": lambda folder, file, record: versicode.completion_row(record),
    "migrations": lambda folder, file, record: versicode.migration_row(record),
    "block_completions": lambda folder, file, record: versicode.foreign_row(record),
    "compatibilities": lambda folder, file, record: versicode.compatibility_row(record),
    "functions": lambda folder, file, record: versicode.function_row(record),
    "contexts": lambda folder, file, record: libevolutioneval.context_row(record),
    "controlled_completions": lambda folder, file, record: libevolutioneval.controlled_row(record),
    "api_documents": lambda folder, file, record: {
        **libevolutioneval.document_row(record),
        "library": file.split("/")[2],
    },
    "problems": _problem,
    "repository_tasks": _task,
    "scenes": lambda folder, file, record: codevbench.scene_row(record, _scene_of(file)),
}
