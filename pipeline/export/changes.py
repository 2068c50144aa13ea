"""Records that run in a project: which file they change, how, and the tests that judge it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.export.evocodebench import path_of
from pipeline.export.programs import SCENE, TASK
from pipeline.export.records import Fields, RecordError, checked
from pipeline.export.results import Record
from pipeline.terms import ExportFormat

_ANSWER_OF_TASK: Fields = {"completion": str}
_ANSWER_OF_SCENE: Fields = {"response": str}


@dataclass(frozen=True, slots=True)
class Change:
    """A file of a project with what a model wrote in it, or as it is; `folder` is DOMAIN/PROJECT."""

    name: str
    folder: str
    path: str
    tests: tuple[str, ...]
    rewrite: Callable[[str], str]


def change_of(wanted: ExportFormat, record: Record) -> Change:
    """Return the change that a record of EvoCodeBench or Codev-Bench asks for.

    A record that carries no answer (`completion`, `response`) is its reference.

    Errors: RecordError.
    """
    if wanted is ExportFormat.EVOCODEBENCH:
        checked(record, TASK, _ANSWER_OF_TASK)
        return _change(record["namespace"], record["completion_path"], record["tests"], _with_body(record))
    checked(record, SCENE, _ANSWER_OF_SCENE)
    middle = record["test_middle"] if record.get("response") is None else record["response"]
    text = record["test_prefix"] + middle + record["test_suffix"]
    path = record["block_key"].rpartition("#")[0]
    return _change(record["block_key"], path, record["unit_test_ids"], lambda _: text)


def _change(name: str, path: str, tests: list[object], rewrite: Callable[[str], str]) -> Change:
    parts = path.split("/")
    if len(parts) < 3:
        raise RecordError(
            f"{path!r:.80}: not below the folder of a project; give DOMAIN/PROJECT/… as the benchmark does"
        )
    if not tests or not all(isinstance(test, str) for test in tests):
        raise RecordError(f"{name:.80}: no tests, or some that are no texts; give pytest node ids")
    return Change(name, "/".join(parts[:2]), path_of(path), tuple(map(str, tests)), rewrite)


def _with_body(record: Record) -> Callable[[str], str]:
    """Return what puts a completion in the place of the body, whose lines count from 1."""
    completion, position = record.get("completion"), record["body_position"]
    if len(position) != 2 or not all(type(line) is int for line in position) or not 0 < position[0] <= position[1]:
        raise RecordError(f"body_position: {position!r:.60} does not fit; give the first and the last line, from 1")
    first, last = position

    def rewrite(text: str) -> str:
        if completion is None:
            return text
        lines = text.splitlines(keepends=True)
        body = completion if completion.endswith("\n") else f"{completion}\n"
        return "".join([*lines[: first - 1], body, *lines[last:]])

    return rewrite
