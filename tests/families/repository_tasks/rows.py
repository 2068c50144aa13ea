"""A repository task as the stage makes it of rows of a project, a function and the text of its file."""

from __future__ import annotations

from typing import Any

from pipeline.core.vocabularies.projects import RequirementBasis, TestOutcome
from pipeline.execution.mutation.score import MutationScore
from pipeline.lake.ids import content_id
from pipeline.lake.rows import ProjectRow

_OF_FUNCTION = (
    *("library", "project_id", "version", "namespace", "type", "class_name", "name", "path", "signature_first_line"),
    *("signature_last_line", "body_first_line", "body_last_line", "indent", "intra_class", "intra_file", "cross_file"),
)


def task(project: ProjectRow, function: Any, text: str, tests: list[str], **columns: object) -> Any:
    lines = text.splitlines(keepends=True)
    first, last = function["signature_first_line"] - 1, function["signature_last_line"]
    start, end = function["body_first_line"] - 1, function["body_last_line"]
    row = {
        **{column: function[column] for column in _OF_FUNCTION},
        "id": content_id(function["id"], "task"),
        "function_id": function["id"],
        "project": project["project"],
        "release_time": project["release_time"],
        "functionality": "Do what the tests ask for.",
        "arguments": ":param price: float. What it costs.",
        "requirement_basis": RequirementBasis.DOCSTRING,
        "tests": tests,
        "tests_reaching": len(tests),
        "coverage": 1.0,
        "input_code": "".join(lines[first:last]) + '    """\n    Do what the tests ask for.\n    """\n',
        "reference": "".join(lines[start:end]),
        "contexts_above": "".join(lines[:first]),
        "contexts_below": "".join(lines[end:]),
        "domain": project["domain"],
        "reference_outcome": TestOutcome.PASSED,
        "emptied_outcome": TestOutcome.FAILED,
        "python": project["python"],
        "lock_id": project["lock_id"],
        **MutationScore(4, 4).columns,
    }
    return row | columns
