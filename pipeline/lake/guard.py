"""Guards: an exception that one unit raises is the reject of that unit, and the stage goes on with the others."""

from __future__ import annotations

import logging
import re
import sqlite3
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

from pipeline.core.errors import FatalError
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.stage import Reject

log = logging.getLogger(__name__)
# The reject says it too: without logs it is not to be printed.
log.addHandler(logging.NullHandler())

Unit = TypeVar("Unit")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

_FATAL = (FatalError, OSError, MemoryError, BrokenExecutor, sqlite3.Error)
"""What passes through: the machine's or a service's failure would hit every unit, and may pass by itself."""

_PROJECT = Path(__file__).resolve().parents[2]
_LIBRARIES = re.compile(r".*/(?:site-packages|dist-packages|python3\.\d+)/")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
_FRAMES = 12
"""Calls that a trace names: the first two, and the last of them where the error was raised."""


def attempt(
    key: str, work: Callable[Arguments, Result], *args: Arguments.args, **named: Arguments.kwargs
) -> Result | Reject:
    """Return what work on one unit gives, or its reject INTERNAL_ERROR with a trace, where it raises an exception.

    Errors: FatalError, OSError, MemoryError and their like pass through, and so does what is no Exception.
    """
    try:
        return work(*args, **named)
    except _FATAL:
        raise
    except Exception as error:
        log.exception("internal error at %s", key)
        return Reject(key, RejectReason.INTERNAL_ERROR, trace_of(error))


def guarded(
    units: Iterable[Unit], key: Callable[[Unit], str], work: Callable[[Unit], Iterable[Result]]
) -> Iterator[Result | Reject]:
    """Yield what work on each unit gives; of a unit that raises an exception its reject alone, see `attempt`."""
    for unit in units:
        outcome = attempt(key(unit), lambda each: list(work(each)), unit)
        if isinstance(outcome, Reject):
            yield outcome
        else:
            yield from outcome


def parted(results: Iterable[Result | Reject]) -> tuple[list[Result], list[Reject]]:
    """Part what was made from what was refused."""
    accepted: list[Result] = []
    refused: list[Reject] = []
    for result in results:
        if isinstance(result, Reject):
            refused.append(result)
        else:
            accepted.append(result)
    return accepted, refused


def trace_of(error: BaseException) -> str:
    """Return an exception with the calls that led to it, the same on every machine: no folder, no memory address."""
    chain = [error]
    while (before := chain[-1].__cause__ or (None if chain[-1].__suppress_context__ else chain[-1].__context__)) and (
        before not in chain
    ):
        chain.append(before)
    return "\ncaused by ".join(_described(cause) for cause in chain)


def _described(error: BaseException) -> str:
    calls = [
        f"  {_place(frame.filename)}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__
    ]
    if len(calls) > _FRAMES:
        calls = [*calls[:2], f"  ({len(calls) - _FRAMES} more)", *calls[2 - _FRAMES :]]
    message = _ADDRESS.sub("0x…", f"{type(error).__name__}: {error}".strip(": "))
    return "\n".join([message.replace(f"{_PROJECT}/", ""), *calls])


def _place(file: str) -> str:
    path = Path(file)
    if path.is_relative_to(_PROJECT / "pipeline"):
        return str(path.relative_to(_PROJECT))
    return _LIBRARIES.sub("", file) if _LIBRARIES.match(file) else path.name
