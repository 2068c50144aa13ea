"""EvoCodeBench's files (2404.00599): repository tasks, the elements of their prompts, and the projects' sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.export.projects import SOURCES, SourcesMissing, Unpack, attached_sources, folder_of
from pipeline.export.results import Further, Layout, Placed, Record, Refused, Result
from pipeline.export.snapshot import Snapshot
from pipeline.lake import Row
from pipeline.terms import NotHeld

DATA = "data.jsonl"
ELEMENTS = "prompt/prompt_elements.jsonl"

LAYOUT = Layout(
    families=("repository_tasks",),
    configs=("repository_tasks",),
    notes=(
        f"completion_path is below {SOURCES}, whose projects are as their source distributions have them; an"
        " environment for each is described in the table `projects` of the snapshot (lock)",
        "positions are lines from 1, both ends included; a completion takes the place of the lines of body_position",
        "a namespace stands once: of several releases of a project that have it, the newest is taken",
        "Dependency_Data, a cache that the benchmark's own parser fills, is not written",
    ),
)


def evocodebench(snapshot: Snapshot, unpack: Unpack) -> Iterator[Result]:
    """Yield the repository tasks of a snapshot as records, with the sources of their projects.

    Errors: Unreachable where the index that has the sources does not answer.
    """
    projects = {row["id"]: row for row in snapshot.rows("projects")}
    rows = snapshot.rows("repository_tasks")
    newest = _newest(rows)
    lacking: dict[str, str] = {}
    for project_id in sorted({row["project_id"] for row in newest.values()}):
        try:
            yield from attached_sources(projects[project_id], unpack(projects[project_id]))
        except SourcesMissing as error:
            lacking[project_id] = str(error)
    for row in rows:
        if newest[row["namespace"]] is not row:
            taken = newest[row["namespace"]]
            detail = f"{row['namespace']} of {taken['project']} {taken['version']} is taken"
            yield Refused("repository_tasks", row["id"], NotHeld.SAME_NAME, detail)
        elif row["project_id"] in lacking:
            yield Refused("repository_tasks", row["id"], NotHeld.SOURCES_MISSING, lacking[row["project_id"]])
        else:
            yield from _records(row, projects[row["project_id"]])


def _newest(rows: list[Row]) -> Mapping[str, Row]:
    """Return the row of each namespace that is taken, that of the newest release."""
    return {row["namespace"]: row for row in sorted(rows, key=lambda row: (row["release_time"], row["id"]))}


def _records(row: Row, project: Row) -> Iterator[Result]:
    record = task_record(row, project)
    elements = prompt_elements(row, record)
    yield Placed(DATA, record, "repository_tasks", row, task_row(elements))
    yield Further(ELEMENTS, elements)


def task_record(row: Row, project: Row) -> Record:
    """Return a repository task as EvoCodeBench has it."""
    return {
        "namespace": row["namespace"],
        "type": str(row["type"]),
        "completion_path": f"{folder_of(project)}/{row['path']}",
        "signature_position": [row["signature_first_line"], row["signature_last_line"]],
        "body_position": [row["body_first_line"], row["body_last_line"]],
        "dependency": {kind: row[kind] for kind in ("intra_class", "intra_file", "cross_file")},
        "indent": row["indent"],
        "tests": row["tests"],
        "requirement": {"Functionality": row["functionality"], "Arguments": row["arguments"]},
        "domain": row["domain"] or "",
    }


def prompt_elements(row: Row, record: Record) -> Record:
    """Return a repository task with what its prompts are made of."""
    return record | {
        "class_name": row["class_name"] or "",
        "function_name": row["name"],
        "input_code": row["input_code"],
        "contexts_above": row["contexts_above"],
        "contexts_below": row["contexts_below"],
    }


def task_row(record: Record) -> Row:
    """Return the columns of `published_repository_tasks` that a record, or its prompt elements, tell."""
    first, last = record["signature_position"]
    body_first, body_last = record["body_position"]
    told = {
        "namespace": record["namespace"],
        "type": record["type"],
        "path": path_of(record["completion_path"]),
        "signature_first_line": first,
        "signature_last_line": last,
        "body_first_line": body_first,
        "body_last_line": body_last,
        **{kind: record["dependency"][kind] for kind in ("intra_class", "intra_file", "cross_file")},
        "indent": record["indent"],
        "tests": record["tests"],
        "functionality": record["requirement"]["Functionality"],
        "arguments": record["requirement"]["Arguments"],
        "domain": record.get("domain") or None,
    }
    elements = {"input_code": "input_code", "contexts_above": "contexts_above", "contexts_below": "contexts_below"}
    told |= {column: record[name] for column, name in elements.items() if name in record}
    if "function_name" in record:
        told |= {"name": record["function_name"], "class_name": record["class_name"] or None}
    return told


def path_of(completion_path: str) -> str:
    """Return the path of a file in its project, of a path below the sources."""
    return completion_path.split("/", 2)[-1]
