"""EvoCodeBench's files (2404.00599): repository tasks, the elements of their prompts, and the projects' sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.core.vocabularies.exports import Unsupported
from pipeline.evaluation.export.format import Format, Further, Layout, Placed, Record, Refused, Result, Unpack
from pipeline.evaluation.export.projects import PROJECTS, SOURCES, Masked, Sources, folder_of, node_id, shell_word
from pipeline.lake.rows import AnyRow, ProjectRow, PublishedRepositoryTaskRow
from pipeline.snapshots.format.reader import Snapshot

DATA = "data.jsonl"
ELEMENTS = "prompt/prompt_elements.jsonl"

_LAYOUT = Layout(
    families=("repository_tasks",),
    configs=("repository_tasks", "projects"),
    usage="sh evaluate.sh FOLDER-OF-THE-SCORER /path/to/completions.jsonl",
    evaluate="""\
python3 "$1/check_source_code.py" "$PWD/Source_Code"
exec python3 "$1/pass_k.py" --output_file "$2" --log_file "$2.results" --source_code_root "$PWD/Source_Code" \\
    --data_file "$PWD/data.jsonl" --n 1 --k 1
""",
    notes=(
        f"completion_path is below {SOURCES}, where each task has a copy of its project's source distribution;"
        f" {PROJECTS} has the lock of the environment in which the tests of each were run",
        "in a task's copy `raise NotImplementedError` and blank lines stand at body_position, and copies of the file,"
        " bytecode and archives are left out; copies for other tasks have the body, which their tests need",
        "positions are lines from 1, both ends included; a completion takes the place of the lines of body_position",
        "the benchmark's README counts body_position from 0; its scorer, and so these files, from 1",
        "prepare.py makes myenv in each folder: the project is imported from the folder, and is not installed there",
        "pytest.ini has the project's settings of pytest without addopts, so that plain pytest runs there",
        "a node id that is no plain word of a shell is in quotes",
        "references pass and empty bodies fail where the tests need no network; each test may take 20 s",
        "Recall@k needs analyzer_result.pkl, which the benchmark's own parser makes; `driftline score` has it without",
        "a namespace stands once: of several releases of a project that have it, the newest is taken",
        "Dependency_Data, a cache that the benchmark's own parser fills, is not written",
    ),
)


def evocodebench(snapshot: Snapshot, unpack: Unpack) -> Iterator[Result]:
    """Yield the repository tasks of a snapshot as records, with the sources of their projects.

    Errors: Unreachable where the index that has the sources does not answer.
    """
    rows = snapshot.rows("repository_tasks")
    newest = _newest(rows)
    sources = Sources(snapshot.rows("projects"), unpack)
    yield from sources.attached(_copy(row, sources.projects[row["project_id"]]) for row in newest.values())
    for row in rows:
        exported = newest[row["namespace"]]
        if exported is not row:
            detail = f"{row['namespace']} of {exported['project']} {exported['version']} is exported"
            yield Refused("repository_tasks", row["id"], Unsupported.SAME_NAME, detail)
            continue
        project = sources.projects[row["project_id"]]
        if refusal := sources.refusal("repository_tasks", row, _folder(row, project)):
            yield refusal
        else:
            yield from _records(row, project)


def _folder(row: PublishedRepositoryTaskRow, project: ProjectRow) -> str:
    return folder_of(project, row["namespace"])


def _copy(row: PublishedRepositoryTaskRow, project: ProjectRow) -> Masked:
    """Return the copy of a project without the body of a task."""
    body = row["body_first_line"], row["body_last_line"]
    return Masked(_folder(row, project), project["id"], row["path"], [body], "raise NotImplementedError")


def _newest(rows: list[PublishedRepositoryTaskRow]) -> Mapping[str, PublishedRepositoryTaskRow]:
    """Return the exported row of each namespace: that of the newest release."""
    return {row["namespace"]: row for row in sorted(rows, key=lambda row: (row["release_time"], row["id"]))}


def _records(row: PublishedRepositoryTaskRow, project: ProjectRow) -> Iterator[Result]:
    record = task_record(row, project)
    elements = prompt_elements(row, record)
    yield Placed(DATA, record, "repository_tasks", row, task_row(elements))
    yield Further(ELEMENTS, elements)


def task_record(row: PublishedRepositoryTaskRow, project: ProjectRow) -> Record:
    """Return a repository task as EvoCodeBench has it."""
    return {
        "namespace": row["namespace"],
        "type": str(row["type"]),
        "completion_path": f"{_folder(row, project)}/{row['path']}",
        "signature_position": [row["signature_first_line"], row["signature_last_line"]],
        "body_position": [row["body_first_line"], row["body_last_line"]],
        "dependency": {kind: row[kind] for kind in ("intra_class", "intra_file", "cross_file")},
        "indent": row["indent"],
        "tests": [shell_word(test) for test in row["tests"]],
        "requirement": {"Functionality": row["functionality"], "Arguments": row["arguments"]},
        "domain": row["domain"] or "",
    }


def prompt_elements(row: PublishedRepositoryTaskRow, record: Record) -> Record:
    """Return a repository task with the elements of its prompts."""
    return record | {
        "class_name": row["class_name"] or "",
        "function_name": row["name"],
        "input_code": row["input_code"],
        "contexts_above": row["contexts_above"],
        "contexts_below": row["contexts_below"],
    }


def task_row(record: Record) -> AnyRow:
    """Return the columns of `published_repository_tasks` that can be read from a record or its prompt elements."""
    first, last = record["signature_position"]
    body_first, body_last = record["body_position"]
    columns = {
        "namespace": record["namespace"],
        "type": record["type"],
        "path": path_of(record["completion_path"]),
        "signature_first_line": first,
        "signature_last_line": last,
        "body_first_line": body_first,
        "body_last_line": body_last,
        **{kind: record["dependency"][kind] for kind in ("intra_class", "intra_file", "cross_file")},
        "indent": record["indent"],
        "tests": [node_id(test) for test in record["tests"]],
        "functionality": record["requirement"]["Functionality"],
        "arguments": record["requirement"]["Arguments"],
        "domain": record.get("domain") or None,
    }
    elements = ("input_code", "contexts_above", "contexts_below")
    columns |= {column: record[column] for column in elements if column in record}
    if "function_name" in record:
        columns |= {"name": record["function_name"], "class_name": record["class_name"] or None}
    return columns


def path_of(completion_path: str) -> str:
    """Return the path of a file in its project from its path below the sources."""
    return completion_path.split("/", 1)[-1]


FORMAT = Format(
    layout=_LAYOUT,
    results=evocodebench,
    recognised_by=(frozenset({"namespace", "completion_path"}),),
    answers=("namespace", "completion"),
    in_projects=True,
)
