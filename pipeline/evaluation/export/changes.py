"""Records that run in a project: the file they change, the change, and the tests that judge it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.core.vocabularies.exports import ExportFormat
from pipeline.evaluation.export.codevbench import below_sources
from pipeline.evaluation.export.format import Record
from pipeline.evaluation.export.programs import SCENE, TASK
from pipeline.evaluation.export.projects import node_id
from pipeline.evaluation.export.records import Fields, RecordError, answers_in, checked, numbered
from pipeline.evaluation.scores.filling import block_at

_ANSWER_OF_TASK: Fields = {"completion": (str, list), "indent": int}
_ANSWER_OF_SCENE: Fields = {"response": (str, list)}


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a file of a project, or its reference; `folder` is the project's."""

    name: str
    folder: str
    path: str
    tests: tuple[str, ...]
    rewrite: Callable[[str], str]


def changes_of(export_format: ExportFormat, record: Record) -> list[Change]:
    """Return the changes of a record of EvoCodeBench or Codev-Bench, one for each answer in it.

    Answers are in `completion` or `response`; a record without any stands for its reference.

    Errors: RecordError.
    """
    if export_format is ExportFormat.EVOCODEBENCH:
        checked(record, TASK, _ANSWER_OF_TASK)
        name, path, tests = record["namespace"], record["completion_path"], record["tests"]
        rewrites = [_with_body(record, answer) for answer in answers_in(record, "completion") or (None,)]
    else:
        checked(record, SCENE, _ANSWER_OF_SCENE)
        name, tests = record["block_key"], record["unit_test_ids"]
        path = below_sources(name).rpartition("#")[0]
        rewrites = [
            _with_middle(record, answer) for answer in answers_in(record, "response") or [record["test_middle"]]
        ]
    names = numbered(name, len(rewrites))
    return [_change(answer_name, path, tests, rewrite) for answer_name, rewrite in zip(names, rewrites, strict=True)]


def _change(name: str, path: str, tests: list[object], rewrite: Callable[[str], str]) -> Change:
    folder, _, inside = path.partition("/")
    if not folder or not inside:
        raise RecordError(
            f"{path!r:.80}: not below the folder of a project; give PROJECT/… as the benchmark does",
            code="record_path_invalid",
        )
    if not tests or not all(isinstance(test, str) for test in tests):
        raise RecordError(
            f"{name:.80}: no tests, or some that are no texts; give pytest node ids", code="record_tests_invalid"
        )
    return Change(name, folder, inside, tuple(node_id(str(test)) for test in tests), rewrite)


def _with_middle(record: Record, middle: str) -> Callable[[str], str]:
    """Return a function that gives the file with an answer; where code below is hidden, only the block of it counts."""
    if record.get("suffix", record["test_suffix"]) != record["test_suffix"]:
        middle = block_at(record["test_prefix"], middle, is_body=record.get("block_type") == "METHOD")
    text = record["test_prefix"] + middle + record["test_suffix"]
    return lambda _: text


def _with_body(record: Record, completion: str | None) -> Callable[[str], str]:
    """Return a function that replaces the body, whose lines count from 1, by a completion.

    A completion with another indentation than the record's is moved, as the benchmark's scorer moves all.
    """
    position = record["body_position"]
    if len(position) != 2 or not all(type(line) is int for line in position) or not 0 < position[0] <= position[1]:
        raise RecordError(
            f"body_position: {position!r:.60} does not fit; give the first and the last line, from 1",
            code="record_value_invalid",
        )
    first, last = position

    def rewrite(text: str) -> str:
        if completion is None:
            return text
        # str.splitlines would also split at form feeds, unlike Python's line numbers.
        lines = text.split("\n")
        body = _indented(completion, record.get("indent")).removesuffix("\n")
        return "\n".join([*lines[: first - 1], body, *lines[last:]])

    return rewrite


def _indented(body: str, indent: int | None) -> str:
    """Return a body whose first line of code is indented by some blanks."""
    line = next((line for line in body.split("\n") if line.strip()), "")
    if indent is None or len(line) - len(line.lstrip()) == indent:
        return body
    return textwrap.indent(textwrap.dedent(body), " " * indent)
