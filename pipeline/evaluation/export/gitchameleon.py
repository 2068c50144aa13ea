"""GitChameleon 2.0's files (2507.12367): problems as JSON lines, and a pytest module of hidden tests for each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.core.vocabularies.changes import GitChameleonCategory
from pipeline.evaluation.export.format import Attached, Format, Layout, Placed, Record, Result
from pipeline.lake.rows import PublishedProblemRow
from pipeline.lake.schema import Row
from pipeline.snapshots.format.reader import Snapshot

PROBLEMS = "problems.jsonl"
HIDDEN_TESTS = "hidden_tests"

_LAYOUT = Layout(
    families=("problems",),
    configs=("problems",),
    notes=(
        f"the hidden tests of a problem are {HIDDEN_TESTS}/test_sample_<example_id>.py, which import"
        " sample_<example_id>; the program is starting_code + solution",
        "type_of_change has the names of the paper's table 7",
    ),
)

_CHANGES: dict[str, str] = {
    GitChameleonCategory.ARGUMENT_OR_ATTRIBUTE: "Argument or Attribute change",
    GitChameleonCategory.NAME: "Function Name change",
    GitChameleonCategory.SEMANTICS: "Semantics or Function Behavior change",
    GitChameleonCategory.NEW_FEATURE: "New feature or additional dependency-based change",
}
_CATEGORIES = {name.lower(): category for category, name in _CHANGES.items()}


def gitchameleon(snapshot: Snapshot) -> Iterator[Result]:
    """Yield the problems of a snapshot as records, each with its hidden tests."""
    for row in snapshot.rows("problems"):
        record = problem_record(row)
        yield Placed(PROBLEMS, record, "problems", row, problem_row(record, renamed_tests(row)))
        yield Attached(f"{HIDDEN_TESTS}/test_{module_of(row['id'])}.py", renamed_tests(row).encode())


def module_of(example_id: object) -> str:
    """Return the name under which hidden tests import the program of a problem."""
    return f"sample_{example_id}"


def renamed_tests(row: PublishedProblemRow) -> str:
    """Return the hidden tests of a problem, which import the program by the name of its id."""
    module, name = row["module"], module_of(row["id"])
    if module == name:
        return str(row["hidden_tests"])
    bare = re.compile(rf"^(\s*import\s+){re.escape(module)}(?=\s*$)", re.MULTILINE)
    named = re.compile(rf"^(\s*(?:from|import)\s+){re.escape(module)}(?=\s+(?:as|import)\b)", re.MULTILINE)
    return named.sub(rf"\g<1>{name}", bare.sub(rf"\g<1>{name} as {module}", row["hidden_tests"]))


def problem_record(row: PublishedProblemRow) -> Record:
    """Return a problem as GitChameleon has it."""
    return {
        "example_id": row["id"],
        "python_version": row["python"],
        "library": row["library"],
        "version": row["version"],
        "problem": row["problem"],
        "starting_code": row["starting_code"],
        "solution": row["solution"],
        "test": row["test"],
        "type_of_change": _CHANGES[row["category"]],
        "name_of_class_or_func": row["target_entity"],
        "additional_dependencies": " ".join(row["additional_dependencies"]),
        "functional": int(row["functional"]),
        "webdev": int(row["webdev"]),
        "solution_api_call": row["solution_api_call"],
        "api_calls": row["api_calls"],
        "release_date": f"{row['release_time']:%Y-%m}",
        "docs": row["docs"],
    }


def problem_row(record: Record, hidden_tests: str | None) -> Row:
    """Return the columns of `published_problems` that can be read from a record and its hidden tests."""
    return {
        "id": record["example_id"],
        "python": record["python_version"],
        "library": record["library"],
        "version": record["version"],
        "problem": record["problem"],
        "starting_code": record["starting_code"],
        "solution": record["solution"],
        "test": record["test"],
        "category": _CATEGORIES.get(str(record["type_of_change"]).lower()),
        "target_entity": record["name_of_class_or_func"],
        "additional_dependencies": str(record["additional_dependencies"] or "").split(),
        "functional": _flag(record["functional"]),
        "webdev": _flag(record["webdev"]),
        "solution_api_call": record["solution_api_call"],
        "api_calls": record["api_calls"],
        "docs": record["docs"],
        "hidden_tests": hidden_tests,
        "module": module_of(record["example_id"]),
    }


def _flag(value: object) -> bool:
    """Read 0 and 1, which the files write as numbers or texts."""
    return str(value).lower() in {"1", "true"}


FORMAT = Format(
    layout=_LAYOUT,
    results=lambda snapshot, unpack, unnoticed: gitchameleon(snapshot),
    recognised_by=(frozenset({"example_id", "starting_code"}),),
    answers=("example_id", "answer"),
)
