"""Failures of stages: which library, release and stage, why, and what to do; kept with the run until it goes well."""

from __future__ import annotations

import errno
import functools
import logging
import os
import platform
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import pyarrow.compute as pc

from pipeline.core.credentials import cut_message
from pipeline.core.errors import CodedError
from pipeline.core.printable import printable
from pipeline.core.rules.load import RuleError
from pipeline.core.settings import SettingsError
from pipeline.core.vocabularies.review import RejectReason
from pipeline.lake.damage import read_state
from pipeline.lake.place import at, release_of
from pipeline.lake.run_records import now, read_record
from pipeline.lake.runner import Count, read_counts, write_json
from pipeline.lake.schema import SchemaError
from pipeline.lake.tables import Lake

log = logging.getLogger(__name__)
# Who runs a stage is told by the exception: without logs it is not to be told twice.
log.addHandler(logging.NullHandler())

_FULL = (errno.ENOSPC, errno.EDQUOT)
_BROKE_OFF = "it broke off without a word, as when it is killed"
KILLED = "see the end of the log of its task (memory, a signal), then refresh it again"
_OUTSIDE = "its task failed before or after its stages, which are all done or as they were"
_SEE_TASK = "see the end of the log of its task (the store of the lake), then refresh it again"
_ENDED = "it was ended from outside (a time limit, a signal): look at the end of its log, then refresh it again"
_OTHERS = "see the traceback in the log; if the input is in order it is a mistake in Driftline, to be reported with it"


@functools.cache
def _by_type() -> tuple[tuple[tuple[type[BaseException], ...], str], ...]:
    """Return what to do by types of exceptions, the first that fits; they are imported when something has failed."""
    import pyarrow as pa
    from sqlalchemy.exc import SQLAlchemyError

    from pipeline.execution.environments.resolution.failures import IndexUnreachable
    from pipeline.execution.sandbox.probe import SandboxUnavailable
    from pipeline.index.http import BadAnswer, Unreachable
    from pipeline.lake.damage import Damaged
    from pipeline.lake.delta import LakeError
    from pipeline.quality.annotation.store import StoreError

    return (
        (
            (Unreachable, IndexUnreachable, ConnectionError, TimeoutError),
            "`driftline doctor` says whether the index answers; then run the same refresh again, what was done is kept",
        ),
        ((BadAnswer,), "look at what the named address answers, and at DRIFTLINE_INDEX_URL; then refresh again"),
        ((SandboxUnavailable,), "`driftline doctor` says which sandbox works here and what is against the others"),
        ((RuleError, SettingsError), "correct what is named, then refresh again"),
        (
            (SQLAlchemyError, StoreError),
            "see that the review database at DRIFTLINE_REVIEWS answers, then refresh again",
        ),
        (
            (MemoryError, BrokenProcessPool),
            "memory ran out: set DRIFTLINE_WORKERS=1, or free memory; then refresh again",
        ),
        ((PermissionError,), "give the user of this process the file that is named, then refresh again"),
        (
            (pa.ArrowInvalid, NotADirectoryError, IsADirectoryError, FileExistsError),
            "something else wrote to the lake: move the file that is named away and refresh again; it is made anew",
        ),
        ((LakeError, Damaged), "do what it says; whatever else is damaged heals by itself"),
        ((SchemaError,), "rows do not fit schemas/: a mistake in this stage; report it with the log"),
    )


@dataclass(frozen=True, slots=True)
class Failure:
    """What broke a stage off for a library; `release` is the one that was at hand, if it was one."""

    library: str
    stage: str
    release: str | None
    error: str
    advice: str
    time: str
    trace: str

    def __str__(self) -> str:
        """Say it in a line."""
        where = f"{self.library} {self.release}" if self.release else self.library
        return f"{where}, stage {self.stage}: {self.error}. What to do: {self.advice}"


_FIELDS = frozenset(field.name for field in fields(Failure))


class StageFailed(CodedError, RuntimeError):
    """A stage broke off; the message names library, release and stage, and says what to do."""

    code = "stage_failed"


def advice_on(error: BaseException) -> str:
    """Return what a person can do about an exception."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return "the disk is full: `driftline clean` and `driftline env gc --gib 5` make room; then refresh again"
    if not isinstance(error, Exception):
        return _ENDED
    return next((advice for types, advice in _by_type() if isinstance(error, types)), _OTHERS)


@dataclass(frozen=True, slots=True)
class Began:
    """A stage that has begun, its time (ISO 8601 in UTC), and its process with that one's machine."""

    stage: str
    time: str
    process: int
    host: str


_RUNNING = "running"
"""Folder, in that of a run, with a mark for each library at work; of a killed process its mark stays."""
_BEGAN = frozenset(field.name for field in fields(Began))


def running_stages(folder: Path) -> dict[str, Began]:
    """Return the stages that have begun and not ended, by library."""
    marks = {path.stem: read_state(path, _BEGAN) for path in sorted((folder / _RUNNING).glob("*.json"))}
    return {library: Began(**mark) for library, mark in marks.items() if mark is not None}


def run_recorded(run: str, folder: Path, library: str, stage: str, work: Callable[[], Count]) -> Count:
    """Run one stage so that its log lines name where they come from, and a failure is kept in the folder of the run.

    Errors: StageFailed for whatever exception the stage ends with.
    """
    began = time.monotonic()
    mark = folder / _RUNNING / f"{library}.json"
    write_json(mark, asdict(Began(stage, now(), os.getpid(), platform.node())))
    with at(run=run, library=library, stage=stage):
        log.info("stage begins")
        try:
            with _failing(folder, library, stage):
                count = work()
            mark.unlink(missing_ok=True)
        except StageFailed as failed:
            mark.unlink(missing_ok=True)
            log.error("%s", failed)
            raise
        numbers = {"units_in": count.units_in, "units_out": count.units_out, "unchanged": count.unchanged}
        with at(**numbers, rejected=dict(count.rejected), seconds=round(time.monotonic() - began, 3)):
            log.info("stage done")
    return count


@contextmanager
def _failing(folder: Path, library: str, stage: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        failure = Failure(
            library=library,
            stage=stage,
            release=release_of(error),
            error=printable(cut_message(f"{type(error).__name__}: {error}".strip(": "))),
            advice=advice_on(error),
            time=now(),
            trace="".join(traceback.format_exception(error)),
        )
        write_json(_path(folder, library), asdict(failure))
        if not isinstance(error, Exception):
            raise
        raise StageFailed(str(failure)) from error


@dataclass(frozen=True, slots=True)
class InternalError:
    """An exception that units of a stage raised: the key of the first, its trace, and how many had the same."""

    library: str
    stage: str
    key: str
    trace: str
    number: int

    def __str__(self) -> str:
        """Say it in a line."""
        more = f" and {self.number - 1} more" if self.number > 1 else ""
        return f"{self.library}, stage {self.stage}, {self.key}{more}: {self.trace.partition(chr(10))[0]}"


REPORT_IT = "a mistake in Driftline: report it with its trace; whatever else the stage looked at is there"


def internal_errors(lake: Lake, libraries: Iterable[str]) -> list[InternalError]:
    """Return the exceptions that units of libraries raised when stages last looked at them, equal ones once."""
    where = pc.field("reason") == RejectReason.INTERNAL_ERROR
    errors: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for library in libraries:
        for row in lake.read("rejects", library, where):
            errors[library, row["stage"], row["detail"]].append(row["key"])
    return [
        InternalError(library, stage, min(keys), trace, len(keys)) for (library, stage, trace), keys in errors.items()
    ]


def forget_failure(folder: Path, library: str) -> None:
    """Take back the failure of a library: trying again went well."""
    _path(folder, library).unlink(missing_ok=True)


def failures_of(folder: Path) -> list[Failure]:
    """Return the failures of a run that stand, by library."""
    states = (read_state(path, _FIELDS) for path in sorted((folder / "failures").glob("*.json")))
    return [Failure(**failure) for failure in states if failure is not None]


def report_failures_of(folder: Path, states: Mapping[str, str | None]) -> str | None:
    """Return a line for each library that a run did not bring to the end, None where there is none.

    `states` are those of the tasks of libraries, whose names end in `_` and the library's place in the plan of the run.
    """
    failures = [*failures_of(folder), *_killed(folder)]
    return (
        "\n".join(map(str, [*failures, *_unreported(folder, states, {failure.library for failure in failures})]))
        or None
    )


def _unreported(folder: Path, states: Mapping[str, str | None], names: Collection[str]) -> list[Failure]:
    """Return the libraries whose tasks failed outside of any stage, as where the object store did not answer."""
    record = read_record(folder)
    places = {task.rpartition("_")[2] for task, state in states.items() if state == "failed"}
    red = {int(place) for place in places if place.isdecimal()}
    libraries = record.libraries if record else ()
    named = [libraries[place] if place < len(libraries) else f"library {place}" for place in sorted(red)]
    return [Failure(library, "none", None, _OUTSIDE, _SEE_TASK, now(), "") for library in named if library not in names]


def _killed(folder: Path) -> list[Failure]:
    """Return the libraries of a run that ended before their last stage and left no word: whoever is killed cannot."""
    record = read_record(folder)
    if record is None:
        return []
    done: dict[str, set[str]] = defaultdict(set)
    for count in read_counts(folder / "counts"):
        done[count.library].add(count.stage)
    failed = {failure.library for failure in failures_of(folder)}
    left = {
        library: missing[0]
        for library in record.libraries
        if library not in failed and (missing := [stage for stage in record.stages if stage not in done[library]])
    }
    return [Failure(library, stage, None, _BROKE_OFF, KILLED, now(), "") for library, stage in left.items()]


def _path(folder: Path, library: str) -> Path:
    return folder / "failures" / f"{library}.json"
