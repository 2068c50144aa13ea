"""What the program inside the sandbox tells of a run, read strictly: code of the project shares its process."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pipeline.core.vocabularies.projects import TestOutcome

_LONGEST = 1 << 27
"""Bytes of a report; what unpacks to more is none."""
_NUMBERS = range(1 << 31)
_Value = TypeVar("_Value")


class BadReport(ValueError):
    """It is not what the program inside says; the message is what is wrong."""


@dataclass(frozen=True, slots=True)
class TestTrace:
    """What a test executed: lines by the number of their file, calls as (file, first line) of caller and callee."""

    __test__ = False  # for pytest

    lines: dict[str, list[int]]
    calls: list[tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class RunReport:
    """What became of a run; a `problem` stands alone. `begun`: code of the project had run before it."""

    problem: str | None = None
    begun: bool = False
    collected: int = 0
    chosen: list[str] = field(default_factory=list)
    outcomes: Mapping[str, TestOutcome] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    messages: Mapping[str, str] = field(default_factory=dict)
    trace: Mapping[str, TestTrace] | None = None


def read_report(message: str, files: Collection[str], sources: int, quota: int) -> RunReport:
    """Read a report of tests in `files`, at most `quota` of them, that followed so many source files.

    A test that stands in none of the files is left out: nobody could ask for it by its node id.

    Errors: BadReport.
    """
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(base64.b85decode(message), _LONGEST)
        if not unpacking.eof:
            raise BadReport(f"it is cut off, or longer than {_LONGEST} bytes")
        report = _read(json.loads(content.decode()), sources)
    except (ValueError, zlib.error, RecursionError) as error:
        raise BadReport(f"the report is not what the harness says: {type(error).__name__}: {error}") from None
    chosen = [test for test in dict.fromkeys(report.chosen) if test.split("::", 1)[0] in files]
    return replace(report, chosen=chosen[:quota])


def _read(content: Any, sources: int) -> RunReport:
    """Return the report of JSON, type by type. Errors: ValueError."""
    fields = _mapping(content, lambda value: value)
    problem, begun, trace = fields.get("problem"), fields.get("begun", False), fields.get("trace")
    if type(begun) is not bool:
        raise ValueError("`begun` is no boolean")
    return RunReport(
        problem if problem is None else _text(problem),
        begun,
        _number(fields.get("collected", 0)),
        _list(fields.get("chosen", []), _text),
        _mapping(fields.get("outcomes", {}), lambda value: TestOutcome(_text(value))),
        _list(fields.get("broken", []), _text),
        _mapping(fields.get("messages", {}), _text),
        None if trace is None else _mapping(trace, lambda value: _trace(value, sources)),
    )


def _trace(content: Any, sources: int) -> TestTrace:
    fields = _mapping(content, lambda value: value)
    lines = _mapping(fields.get("lines"), lambda value: _list(value, _number))
    calls: list[tuple[int, int, int, int]] = []
    for call in _list(fields.get("calls"), lambda value: _list(value, _number)):
        caller, caller_line, callee, callee_line = call
        calls.append((caller, caller_line, callee, callee_line))
    numbers = {str(number) for number in range(sources)}
    if not lines.keys() <= numbers or any(max(call[0], call[2]) >= sources for call in calls):
        raise ValueError("it names a source file that is not there")
    return TestTrace(lines, calls)


def _mapping(value: Any, read: Callable[[Any], _Value]) -> dict[str, _Value]:
    if type(value) is not dict:
        raise ValueError(f"a {type(value).__name__} where an object should be")
    return {_text(key): read(each) for key, each in value.items()}


def _list(value: Any, read: Callable[[Any], _Value]) -> list[_Value]:
    if type(value) is not list:
        raise ValueError(f"a {type(value).__name__} where a list should be")
    return [read(each) for each in value]


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError(f"a {type(value).__name__} where a text should be")
    value.encode()  # no table holds half a character
    return str(value)


def _number(value: Any) -> int:
    if type(value) is not int or value not in _NUMBERS:
        raise ValueError("it has a number that is no count")
    return int(value)
