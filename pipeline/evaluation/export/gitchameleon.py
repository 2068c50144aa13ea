"""GitChameleon 2.0's files (2507.12367): problems as JSON lines, and a pytest module of hidden tests for each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.core.vocabularies.changes import GitChameleonCategory
from pipeline.evaluation.export.environments import environment_folder, environments
from pipeline.evaluation.export.format import Attached, Format, Further, Layout, Placed, Record, Result
from pipeline.lake.rows import AnyRow, PublishedProblemRow
from pipeline.snapshots.format.reader import Snapshot

PROBLEMS = "problems.jsonl"
HIDDEN_TESTS = "hidden_tests"

IDS = "ids.jsonl"
OTHER_PYTHONS = "problems_other_pythons.jsonl"
_PYTHONS = frozenset({"3.7", "3.9", "3.10"})
"""Versions of Python for which the benchmark makes environments."""

_LAYOUT = Layout(
    families=("problems",),
    configs=("problems",),
    added={"environment": "folder that prepare.py makes, with the release, its dependencies and pytest"},
    usage="sh evaluate.sh SCORER …",
    evaluate="""\
# SCORER is the script of the scorer; it reads problems.jsonl and the modules of hidden_tests.
exec python3 "$@"
""",
    notes=(
        f"`example_id` is an integer in a string; {IDS} has the id of the row of each",
        f"{OTHER_PYTHONS} has the problems for Pythons other than 3.7, 3.9 and 3.10, for which the published scorer"
        " makes no environments; prepare.py makes one for each problem of both files",
        f"the hidden tests of a problem are {HIDDEN_TESTS}/test_sample_<example_id>.py, which import"
        " sample_<example_id>; the program is starting_code + solution",
        "type_of_change has the names of the paper's table 7; it is empty where an API went and nothing replaces it",
        "references pass their visible and hidden tests, empty answers none",
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
    rows = snapshot.rows("problems")
    yield from environments(snapshot, rows)
    for number, row in enumerate(rows):
        record, tests = problem_record(row, number), renamed_tests(row, number)
        file = PROBLEMS if row["python"] in _PYTHONS else OTHER_PYTHONS
        yield Placed(file, record, "problems", row, problem_row(record, tests))
        yield Further(IDS, {"example_id": record["example_id"], "id": row["id"]})
        yield Attached(f"{HIDDEN_TESTS}/test_{module_of(number)}.py", tests.encode())


def module_of(example_id: object) -> str:
    """Return the name under which hidden tests import the program of a problem."""
    return f"sample_{example_id}"


def renamed_tests(row: PublishedProblemRow, number: int) -> str:
    """Return the hidden tests of a problem, which import the program by the name of its number."""
    module, name = row["module"], module_of(number)
    if module == name:
        return str(row["hidden_tests"])
    bare = re.compile(rf"^(\s*import\s+){re.escape(module)}(?=\s*$)", re.MULTILINE)
    named = re.compile(rf"^(\s*(?:from|import)\s+){re.escape(module)}(?=\s+(?:as|import)\b)", re.MULTILINE)
    return named.sub(rf"\g<1>{name}", bare.sub(rf"\g<1>{name} as {module}", row["hidden_tests"]))


def problem_record(row: PublishedProblemRow, number: int) -> Record:
    """Return a problem as GitChameleon has it."""
    return {
        "example_id": str(number),
        "python_version": row["python"],
        "library": row["library"],
        "version": row["version"],
        "problem": row["problem"],
        "starting_code": row["starting_code"],
        "solution": row["solution"],
        "test": row["test"],
        "type_of_change": _CHANGES.get(row["category"] or "", ""),
        "name_of_class_or_func": row["target_entity"],
        "additional_dependencies": " ".join(row["additional_dependencies"]),
        "functional": int(row["functional"]),
        "webdev": int(row["webdev"]),
        "solution_api_call": row["solution_api_call"],
        "api_calls": row["api_calls"],
        "release_date": f"{row['release_time']:%Y-%m}",
        "docs": row["docs"],
        "environment": environment_folder(row["lock_id"]),
    }


def problem_row(record: Record, hidden_tests: str | None) -> AnyRow:
    """Return the columns of `published_problems` that can be read from a record and its hidden tests."""
    return {
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
    }


def _flag(value: object) -> bool:
    """Read 0 and 1, which the files write as numbers or texts."""
    return str(value).lower() in {"1", "true"}


FORMAT = Format(
    layout=_LAYOUT,
    results=lambda snapshot, unpack: gitchameleon(snapshot),
    recognised_by=(frozenset({"example_id", "starting_code"}),),
    answers=("example_id", "answer"),
)
