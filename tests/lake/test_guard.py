"""What one unit raises is its reject with a trace; what the machine or a service raises ends the stage."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool

import pytest

from pipeline.core.rules.load import RuleError
from pipeline.core.settings import PROJECT, SettingsError
from pipeline.core.vocabularies.review import RejectReason
from pipeline.execution.environments.resolution.failures import IndexUnreachable
from pipeline.execution.sandbox.probe import SandboxUnavailable
from pipeline.index.http import BadAnswer, Unreachable
from pipeline.lake.guard import attempt, guarded, parted, trace_of
from pipeline.lake.schema import SchemaError
from pipeline.lake.stage import Output, Reject
from pipeline.quality.annotation.store import StoreError


class Opaque:
    """Something that shows its address."""


def halves(number: int) -> Iterator[int | Reject]:
    """Yield two halves of an even number; an odd one raises when one half is out already."""
    yield number // 2
    if number == 8:
        yield Reject("8", RejectReason.TOO_LONG, "eight")
        return
    if number % 2:
        raise ValueError(f"{number} is odd, says {Opaque()!r}")
    yield number // 2


def test_a_unit_that_raises_is_one_reject_and_nothing_of_it_is_made() -> None:
    made, rejects = parted(guarded([2, 3, 4, 8], str, halves))
    assert made == [1, 1, 2, 2, 4]
    assert [(reject.key, reject.reason) for reject in rejects] == [("3", "internal_error"), ("8", "too_long")]
    output = Output({}, len(made) + len(rejects), len(made), rejects)
    assert output.reasons == {"internal_error": 1, "too_long": 1}


def test_the_trace_names_the_error_and_where_it_was_raised_and_no_folder_and_no_address() -> None:
    (reject,) = guarded([3], str, halves)
    assert isinstance(reject, Reject)
    assert reject.detail.startswith(f"ValueError: 3 is odd, says <{__name__}.Opaque object at 0x…>\n")
    assert reject.detail.splitlines()[-1].endswith(" halves")
    assert str(PROJECT) not in reject.detail


def test_of_a_deep_recursion_the_trace_has_both_ends() -> None:
    def deeper(depth: int) -> int:
        return deeper(depth + 1)

    found = attempt("deep", deeper, 0)
    assert isinstance(found, Reject)
    assert found.detail.startswith("RecursionError")
    assert len(found.detail.splitlines()) < 20


def test_what_an_error_came_of_is_told_too() -> None:
    try:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise TypeError("outer") from error
    except TypeError as error:
        told = trace_of(error)
    assert [line for line in told.splitlines() if not line.startswith("  ")] == [
        "TypeError: outer",
        "caused by KeyError: 'inner'",
    ]


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("x"),
        BadAnswer("x"),
        IndexUnreachable("x"),
        SandboxUnavailable("x"),
        RuleError("x"),
        SettingsError("x"),
        StoreError("x"),
        SchemaError("x"),
        OSError(errno.ENOSPC, "No space left on device"),
        ConnectionError("x"),
        MemoryError(),
        BrokenProcessPool(),
        sqlite3.OperationalError("database or disk is full"),
        KeyboardInterrupt(),
        SystemExit(1),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_no_unit_is_to_blame_for_passes_through(error: BaseException) -> None:
    def work(_: int) -> list[int]:
        raise error

    with pytest.raises(type(error)):
        list(guarded([1], str, work))
