"""Pinned environments of releases: built once, shared by all who need them, rebuilt from the lock when gone."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, TypedDict

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pipeline.core.errors import InputError
from pipeline.core.rules.fingerprint import plain
from pipeline.core.settings import settings
from pipeline.core.vocabularies.running import EnvironmentOutcome
from pipeline.execution.environments.builds.build_rules import build_rules
from pipeline.execution.environments.builds.builds import Builder
from pipeline.execution.environments.environment_cache import EnvironmentCache
from pipeline.execution.environments.garbage_collection import Collection
from pipeline.execution.environments.installed import import_modules, installed_names, principal
from pipeline.execution.environments.permanent_failures import is_settled, lacked, system
from pipeline.execution.environments.records import Records
from pipeline.execution.environments.resolution.failures import StepFailed, failure_rules
from pipeline.execution.environments.resolution.index_facts import IndexFacts, ReleaseFacts
from pipeline.execution.environments.resolution.install_strategies import (
    Attempt,
    Move,
    attempts,
    farthest,
    later_wheels,
)
from pipeline.execution.environments.resolution.interpreters import Interpreter, discover, install
from pipeline.execution.environments.resolution.pinned import lock_id_of, read_lock
from pipeline.execution.environments.resolution.request import EnvironmentRequest
from pipeline.execution.environments.resolution.resolver import Resolver
from pipeline.execution.environments.resolution.rules import EnvironmentRules, names_of
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.probe import find_sandbox
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.lake.rows import EnvironmentAttempt, EnvironmentRow

_FINAL = frozenset({EnvironmentOutcome.BUILT, EnvironmentOutcome.NO_SPACE, EnvironmentOutcome.TIMED_OUT})


class Locked(TypedDict):
    """What a row of `environments` is opened by; other rows may have it too."""

    library: str
    version: str
    outcome: str
    python: str | None
    lock_id: str | None
    lock: str | None
    import_names: Sequence[str]


class _Tried(NamedTuple):
    """An attempt as a row, and the dependency that it failed on."""

    row: EnvironmentRow
    culprit: str | None = None


def _begun(request: EnvironmentRequest) -> EnvironmentRow:
    """Return the row of an attempt of which nothing is known yet."""
    return {
        "library": request.library,
        "version": request.version,
        "outcome": "",
        "python": None,
        "python_full": None,
        "cutoff": None,
        "rung": None,
        "moved": None,
        "lock_id": None,
        "lock": None,
        "import_names": list(request.import_names),
        "detail": None,
        "missing": None,
        "attempts": [],
        "build_s": None,
    }


def _attempt(row: EnvironmentRow) -> EnvironmentAttempt:
    python, rung, cutoff = row["python"], row["rung"], row["cutoff"]
    # every attempt has an interpreter, a rung and a date
    assert python is not None
    assert rung is not None
    assert cutoff is not None
    return {
        "python": python,
        "rung": rung,
        "cutoff": cutoff,
        "moved": row["moved"],
        "outcome": row["outcome"],
        "detail": row["detail"],
        "missing": row["missing"],
    }


class EnvironmentStore:
    """The environments under one folder, with uv's cache and what was built beside them."""

    def __init__(
        self,
        root: Path,
        *,
        index_url: str,
        rules: EnvironmentRules,
        workers: int = 1,
        sandbox: Sandbox | None = None,
    ) -> None:
        self.root = root.resolve()
        self.root.mkdir(parents=True, exist_ok=True)
        self.rules = rules
        self.workers = workers
        self.interpreters = discover()
        self.sandbox = sandbox or find_sandbox()
        self.facts = IndexFacts(index_url)
        self.collection = Collection(self.root)
        basis = [plain(rules), plain(build_rules()), [interpreter.full for interpreter in self.interpreters]]
        self._failures = failure_rules()
        surroundings = [plain(self._failures), index_url, self.sandbox.kind, system(), version("uv")]
        self.records = Records(self.root / "records", basis, surroundings)
        self._resolver = Resolver(self.facts, self.root / "uv", rules.step_timeout_s)
        self._builder = Builder(self.root / "wheels", facts=self.facts, sandbox=self.sandbox, rules=rules)
        self._cache = EnvironmentCache(self.root, self._resolver, self._builder.installable, workers)

    def build(self, request: EnvironmentRequest, report: Callable[[str], None] = lambda step: None) -> EnvironmentRow:
        """Build the environment that is wanted and return its `environments` row, built or why not.

        It tries the interpreters that fit, the best first, and on each the rungs of the ladder; the row tells of
        the attempt that worked, or of the one that came farthest, and lists them all. What was built before for the
        same wish, under the same rules, is not looked for again; neither is what could not be built and still could
        not (`is_settled`). `report` gets each attempt.

        Errors: IndexUnreachable, because what the index would have said is not known then.
        """
        recorded = self.records.find(request)
        if recorded and not any(map(self.facts.has, lacked(recorded))):
            return recorded
        started = time.monotonic()
        row = self._climb(request, report)
        row["build_s"] = round(time.monotonic() - started, 3)
        if row["outcome"] == EnvironmentOutcome.BUILT or is_settled(row, self.rules, datetime.now(UTC)):
            self.records.keep(request, row)
        return row

    def open(self, row: Locked) -> Environment:
        """Return the environment of a built `environments` row, rebuilt exactly from its lock if it is gone.

        It stays for as long as anybody has the object.

        The row may be a stranger's: its lock names nothing but pins, and its id must be the hash of it.

        Errors: ValueError for a row that was not built, or whose lock is not what its id says; StepFailed with
        NO_INTERPRETER where its interpreter is not on this machine (any more); StepFailed and IndexUnreachable where
        it cannot be rebuilt.
        """
        if row["outcome"] != EnvironmentOutcome.BUILT:
            raise InputError(
                f"{row['library']} {row['version']} has no environment: {row['outcome']}", code="environment_missing"
            )
        matching = (i for i in self.interpreters if i.python == row["python"] and i.path.exists())
        interpreter = next(matching, None)
        if interpreter is None:
            problem = f"{row['library']} {row['version']} needs Python {row['python']}, which is not installed"
            raise StepFailed(EnvironmentOutcome.NO_INTERPRETER, problem)
        lock = row["lock"] or ""
        if row["lock_id"] != (lock_id := lock_id_of(interpreter.python, lock)):
            raise InputError(
                f"{row['library']} {row['version']}: its lock has the hash {lock_id}, lock_id says {row['lock_id']!r};"
                " run `driftline verify` on the snapshot, and take a whole copy of it",
                code="lock_differs",
            )
        read_lock(lock)
        return self._take(lock, interpreter, tuple(row["import_names"]))

    def _climb(self, request: EnvironmentRequest, report: Callable[[str], None]) -> EnvironmentRow:
        """Try until one attempt works; return the row of the one that came farthest, with the list of all."""
        tried: list[_Tried] = []
        try:
            facts = self.facts.release(request)
            self._install_python(request.python)
            moves = partial(self._moves, request, tried)
            for attempt in attempts(request, facts, self.interpreters, self.rules, moves):
                how = f"Python {attempt.interpreter.python}, {attempt.rung}, as of {attempt.cutoff:%Y-%m-%d}"
                how += f", {attempt.moved}" if attempt.moved else ""
                report(f"{request.library} {request.version}: trying {how}")
                tried.append(self._try(request, facts, attempt))
                if tried[-1].row["outcome"] in _FINAL:
                    break
        except StepFailed as error:
            return {**_begun(request), "outcome": error.outcome, "detail": error.detail}
        rows = [result.row for result in tried]
        return {**farthest(rows), "attempts": [_attempt(row) for row in rows]}

    def _moves(
        self,
        request: EnvironmentRequest,
        tried: Sequence[_Tried],
        interpreter: Interpreter,
        cutoff: datetime,
        later: datetime,
    ) -> Iterator[Move]:
        """Yield later wheels of the dependency that failed last on an interpreter; what was asked for never moves."""
        here = [result.culprit for result in tried if result.row["python"] == interpreter.python and result.culprit]
        if not here:
            return
        spelled, _, before = here[-1].partition("==")
        name = canonicalize_name(spelled)
        requested = names_of([request.library, *request.pins, *request.undeclared, *request.tools])
        if name not in requested and self.facts.has(name):
            yield from later_wheels(self.facts.project(name), before, interpreter.python, cutoff, later)

    def _install_python(self, python: str | None) -> None:
        """Have uv install an interpreter that is asked for and not here, where the setting allows it."""
        here = {interpreter.python for interpreter in self.interpreters}
        if python and python not in here and python in self.rules.python_released and settings().install_python:
            install(python, self.rules.step_timeout_s)
            self.interpreters = discover()

    def _try(self, request: EnvironmentRequest, facts: ReleaseFacts, attempt: Attempt) -> _Tried:
        """Resolve, install and import once."""
        interpreter = attempt.interpreter
        row = _begun(request)
        row["python"], row["python_full"] = interpreter.python, interpreter.full
        row["rung"], row["cutoff"] = attempt.rung, attempt.cutoff
        row["moved"] = str(attempt.moved) if attempt.moved else None
        try:
            lock = self._lock(request, facts, attempt)
            row["lock"], row["lock_id"] = lock, lock_id_of(interpreter.python, lock)
            environment = self._take(lock, interpreter, ())
            names = request.import_names or installed_names(environment, request.library)
            row["import_names"] = list(principal(names, request.library))
            import_modules(environment, row["import_names"], self.sandbox, self._failures, self.rules.import_timeout_s)
        except StepFailed as error:
            row["outcome"], row["detail"], row["missing"] = error.outcome, error.detail, error.missing
            return _Tried(row, error.culprit)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            row["outcome"], row["detail"] = EnvironmentOutcome.NO_SPACE, os.strerror(errno.ENOSPC)
            return _Tried(row)
        row["outcome"] = EnvironmentOutcome.BUILT
        return _Tried(row)

    def _lock(self, request: EnvironmentRequest, facts: ReleaseFacts, attempt: Attempt) -> str:
        interpreter = attempt.interpreter
        gaps = self.rules.gap_pins(request, facts.release_time, interpreter.python)
        # An index that serves a few libraries alone may have nothing to fill a gap with.
        filled = [pin for pin in gaps if self.facts.has(Requirement(pin).name)]
        beside = [*request.pins, *request.undeclared, *request.tools, *filled]
        own = self.rules.own_cutoffs(request, facts.release_time, attempt.cutoff)
        if not attempt.is_later:
            day = min(self.rules.ready(facts.newest_upload, interpreter.python), attempt.cutoff)
            own |= {name: min(day, own.get(name, day)) for name in names_of(request.undeclared)}
        if attempt.moved:
            beside.append(attempt.moved.requirement)
            own[attempt.moved.name] = attempt.moved.uploaded + timedelta(seconds=1)
        resolver = self._builder if attempt.builds else self._resolver
        whole = self.rules.with_extras(request)
        if whole != request.requirement:
            try:
                return resolver.lock([whole, *beside], interpreter, attempt.cutoff, own)
            except StepFailed as error:
                # What an extra asks for may be missing from the index, or have no wheel: the library works without it.
                if error.outcome not in (EnvironmentOutcome.NO_FILES, EnvironmentOutcome.UNRESOLVABLE):
                    raise
        return resolver.lock([request.requirement, *beside], interpreter, attempt.cutoff, own)

    def _take(self, lock: str, interpreter: Interpreter, names: tuple[str, ...]) -> Environment:
        """Take an environment from the cache, which is kept under its size whenever one had to be made."""
        environment, is_new = self._cache.take(lock, interpreter, names)
        if is_new:
            self.collection.shrink(settings().environments_bytes)
        return environment
