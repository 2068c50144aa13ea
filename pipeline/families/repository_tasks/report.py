"""What the program inside the sandbox tells of a run, read strictly: code of the project shares its process."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Collection
from typing import Annotated

import msgspec

from pipeline.core.vocabularies.projects import TestOutcome

_LONGEST = 1 << 27
"""Bytes of a report; what unpacks to more is none."""

Number = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]


class BadReport(ValueError):
    """It is not what the program inside says; the message is what is wrong."""


class TestTrace(msgspec.Struct, frozen=True):
    """What a test executed: lines by the number of their file, calls as (file, first line) of caller and callee."""

    __test__ = False  # for pytest

    lines: dict[str, list[Number]]
    calls: list[tuple[Number, Number, Number, Number]]


class RunReport(msgspec.Struct, frozen=True):
    """What became of a run; a `problem` stands alone. `begun`: code of the project had run before it."""

    problem: str | None = None
    begun: bool = False
    collected: Number = 0
    chosen: list[str] = []
    outcomes: dict[str, TestOutcome] = {}
    broken: list[str] = []
    said: dict[str, str] = {}
    trace: dict[str, TestTrace] | None = None


_DECODER = msgspec.json.Decoder(RunReport)
"""Made once: two threads that meet a type for the first time end the process (msgspec 0.22)."""


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
        report = _DECODER.decode(content)
    except (ValueError, zlib.error, RecursionError) as error:
        raise BadReport(f"the report is not what the harness says: {type(error).__name__}: {error}") from None
    numbers = {str(number) for number in range(sources)}
    for trace in (report.trace or {}).values():
        if not trace.lines.keys() <= numbers or any(max(call[0], call[2]) >= sources for call in trace.calls):
            raise BadReport("the report is not what the harness says: it names a source file that is not there")
    chosen = [test for test in dict.fromkeys(report.chosen) if test.split("::", 1)[0] in files]
    return msgspec.structs.replace(report, chosen=chosen[:quota])
