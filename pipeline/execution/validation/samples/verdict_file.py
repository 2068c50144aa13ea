"""Verdicts on disk: each is appended as soon as it is known, and at the end they stand in the order of the samples."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Self

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.running import Outcome
from pipeline.lake.tables import replacing

_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one sample came out in one release.

    `lock_id`, `rung`, `moved` and `attempts` tell of its environment, `added` which requirements were added to those of
    the sample, by a rule, and `build_s` how long it took to make in this call. `key` is a hash of the sample and of all
    that decides how it comes out: a verdict with the same key is not made again, unless a `transient` trouble, such as
    a silent index, was in the way. `apart`: all its tests were judged by another process than that of the code; None
    where it has none, or was not run.
    """

    id: str | int | None
    outcome: Outcome
    python: str | None = None
    lock_id: str | None = None
    duration_s: float | None = None
    detail: str | None = None
    library: str | None = None
    version: str | None = None
    line: int | None = None
    peak_memory_bytes: int | None = None
    repeats: int | None = None
    output: str | None = None
    coverage: Mapping[str, Any] | None = None
    rung: str | None = None
    moved: str | None = None
    attempts: Sequence[Mapping[str, Any]] = ()
    build_s: float | None = None
    added: Sequence[str] = ()
    key: str = ""
    transient: bool = False
    apart: bool | None = None


class NoVerdicts(CodedError, ValueError):
    """The file holds something else than verdicts, or another process writes it; the message says what to do."""


class VerdictFile:
    """The file of one run; `outcomes` are those of earlier runs by key."""

    def __init__(self, path: Path, *, forget: bool = False) -> None:
        """Open a file, or make it; `forget` drops what is in it.

        Errors: NoVerdicts.
        """
        self.path = path
        self.outcomes: dict[str, Outcome] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._writing = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise NoVerdicts(
                f"{path}: another process writes it; wait for that one, or name another file", code="verdicts_in_use"
            ) from None
        self._read(forget)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _read(self, forget: bool) -> None:
        """Find the verdicts that are there; a last line that a killed run left unfinished is cut off."""
        self._file.seek(0)
        end = 0
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n") and (self.outcomes or b'"outcome": ' in line):
                break
            key, outcome = self._verdict(number, line)
            if outcome is not None:
                self._places[key], self.outcomes[key] = (end, len(line)), outcome
            end += len(line)
        if forget:
            self._places, self.outcomes, end = {}, {}, 0
        self._file.truncate(end)

    def _verdict(self, number: int, line: bytes) -> tuple[str, Outcome | None]:
        try:
            fields = json.loads(line)
            return str(fields["key"]), None if fields["transient"] else _OUTCOMES[fields["outcome"]]
        except (ValueError, KeyError, TypeError):
            self._file.close()
            problem = f"{self.path}: line {number} is no verdict of `driftline validate`"
            raise NoVerdicts(f"{problem}; name another file, or remove this one", code="verdicts_unreadable") from None

    def append(self, verdict: Verdict) -> None:
        """Write a verdict so that it is there even if this process is killed next."""
        line = _as_line(asdict(verdict))
        with self._writing:
            self.outcomes[verdict.key] = verdict.outcome
            self._places[verdict.key] = (self._file.seek(0, os.SEEK_END), len(line))
            self._file.write(line)
            self._file.flush()

    def finish(self, order: Iterable[tuple[str, int]]) -> None:
        """Leave the verdicts with these keys in this order, as far as there are any, and no others.

        Beside each key stands the line of its sample, which may be another one than when the verdict was made.
        """
        with replacing(self.path) as temporary, temporary.open("wb") as file:
            for key, line in order:
                if key in self._places:
                    offset, length = self._places[key]
                    self._file.seek(offset)
                    fields = json.loads(self._file.read(length))
                    file.write(_as_line(fields | {"line": line}))


def _as_line(fields: Mapping[str, Any]) -> bytes:
    """Write a line of JSON; half of a surrogate pair, which UTF-8 does not have, is escaped."""
    try:
        return json.dumps(fields, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(fields).encode() + b"\n"


def read_verdicts(path: Path) -> Iterator[Verdict]:
    """Yield the verdicts of a file that is complete."""
    with path.open("rb") as file:
        for line in file:
            fields = json.loads(line)
            yield Verdict(**fields | {"outcome": _OUTCOMES[fields["outcome"]]})
