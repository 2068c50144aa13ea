"""Runs the cases of an environment as forks of one process that has imported the library: the fork server."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from pipeline.core.errors import CodedError
from pipeline.core.vocabularies.running import Outcome
from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.supervise import Limits
from pipeline.execution.validation import harness
from pipeline.execution.validation.cases import Attempt, Case, limits_of, specifications, together, variables
from pipeline.execution.validation.fresh import Fresh
from pipeline.execution.validation.judging import judge
from pipeline.execution.validation.leading_imports import leading_imports, named
from pipeline.execution.validation.rules import ValidationRules
from pipeline.execution.validation.server import Server

_log = logging.getLogger(__name__)

_TIME = "timed_out"  # of the limits that `inside.watch` holds, the one whose breaking does not depend on the process

_WORTH_A_SERVER = 6  # cases: fewer import a submodule in less time than a server takes to start, twice

Imports = tuple[str, ...] | None


class NotSafe(CodedError, RuntimeError):
    """The library cannot be imported beforehand, or not without threads: cases must not be forked."""

    code = "fork_unsafe"


@dataclass(frozen=True, slots=True)
class _Forked:
    """A case that was run as a fork; `is_certain`: a fresh process would have come to the same."""

    attempt: Attempt
    is_certain: bool


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A server, what of the library it has imported, and whether a case that begins with that could not tell."""

    server: Server
    imports: Imports
    is_unnoticed: bool


class ForkServer:
    """Runs cases one by one, as forks; a failure that a fresh process may not have is run again in one, which decides.

    A server loads what its cases import before anything else (`leading_imports`), which costs more than running most of
    them; a failure there is certain. For cases that begin otherwise it loads the top-level packages alone, since more
    would be noticed: their failures are confirmed, once, since a fresh process costs many forks.

    There is a server for each repeat, since each has a hash seed of its own. A server that a case has harmed in any way
    is ended, and the next case has a new one. Cases that load the same come best one after the other.
    """

    def __init__(self, fresh: Fresh, cases: Sequence[Case], imports: Sequence[Imports]) -> None:
        """Begin with no server; `imports` are those of the cases, see `imports_of`."""
        self.fresh = fresh
        self._cases = cases
        self._imports = imports
        self._imports_of = {id(case): modules for case, modules in zip(cases, imports, strict=True)}
        self._servers: dict[int, _Loaded] = {}
        self._not_safe: set[Imports] = set()
        self._confirmed: tuple[Case, Outcome] | None = None
        self._limits = _largest({limits_of(case, fresh.rules) for case in cases})

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        for repeat in list(self._servers):
            self._end(repeat)

    def attempt(self, case: Case, repeat: int) -> Attempt:
        """Run a case once, as the repeat of that number."""
        forked = None
        for imports in dict.fromkeys((self._imports_of[id(case)], None)):
            if imports not in self._not_safe:
                try:
                    forked = self._forked(case, repeat, imports)
                    break
                except NotSafe as error:
                    self._not_safe.add(imports)
                    _log.info("%s %s: not forked: %s", self.fresh.environment.lock_id[:12], imports, error)
        if forked and (forked.attempt.passed or forked.is_certain or self._is_confirmed(case, forked.attempt.outcome)):
            return forked.attempt
        fresh = self.fresh.attempt(case, repeat)
        self._confirmed = case, fresh.outcome
        return fresh

    def _is_confirmed(self, case: Case, outcome: Outcome) -> bool:
        """Say whether the repeat before, of the same case, came out so in a fresh process."""
        return self._confirmed is not None and self._confirmed[0] is case and self._confirmed[1] is outcome

    def _forked(self, case: Case, repeat: int, imports: Imports) -> _Forked | None:
        """Run a case as a fork; None where that fails.

        Errors: NotSafe.
        """
        attempts, is_certain = [], True
        try:
            for specification in specifications(case, self.fresh.rules, repeat):
                loaded = self._loaded(repeat, imports)
                observation = loaded.server.run(specification.sent, limits_of(case, self.fresh.rules))
                if not observation.clean:
                    self._end(repeat)
                attempts.append(judge(observation, specification.judge))
                is_certain &= loaded.is_unnoticed and (observation.report is not None or observation.broken == _TIME)
                if not attempts[-1].passed:
                    break
        except (harness.NoAnswer, OSError):
            self._end(repeat)
            return None
        return _Forked(together(attempts), is_certain)

    def _loaded(self, repeat: int, imports: Imports) -> _Loaded:
        """Return the server of a repeat that has loaded this, and nothing else of the library.

        Errors: NotSafe, if it does not get that far or would not be safe.
        """
        loaded = self._servers.get(repeat)
        if loaded is None or loaded.imports != imports:
            self._end(repeat)
            self._servers[repeat] = loaded = self._start(repeat, imports)
        return loaded

    def _start(self, repeat: int, imports: Imports) -> _Loaded:
        fresh, rules = self.fresh, self.fresh.rules
        todo = [
            each.sent
            for case, modules in zip(self._cases, self._imports, strict=True)
            if imports is None or modules == imports
            for each in specifications(case, rules, repeat)
        ]
        server = Server(fresh.environment, fresh.sandbox, self._limits, variables(rules, repeat))
        try:
            ready = server.start(harness.opening(todo, _beforehand(todo, imports), last=False))
            if ready.problem:
                raise NotSafe(ready.problem)
            if ready.threads > 1:
                raise NotSafe(f"{ready.threads} threads after the import")
        except (harness.NoAnswer, OSError) as error:
            server.end()
            raise NotSafe(str(error)) from error
        except NotSafe:
            server.end()
            raise
        return _Loaded(server, imports, imports is not None and not ready.printed)

    def _end(self, repeat: int) -> None:
        if loaded := self._servers.pop(repeat, None):
            loaded.server.end()


def imports_of(cases: Iterable[Case], environment: Environment, rules: ValidationRules) -> list[Imports]:
    """Return what of the library the server of each case loads; None: its top-level packages.

    Where few cases begin with the same, a server loads the first package of these alone: that is a part of it.
    """
    each = [specifications(case, rules, 0) for case in cases]
    own = [None if more else leading_imports(first.sent, environment.site_packages) for first, *more in each]
    same = Counter(own)
    return [
        modules if not modules or same[modules] >= _WORTH_A_SERVER else (re.split("[.:]", modules[0])[0],)
        for modules in own
    ]


def _beforehand(todo: Sequence[Mapping[str, Any]], imports: Imports) -> list[str]:
    """Return what to load before any case: the imports or, where None, the top-level packages that the cases name.

    A module under test may have the name of the library: then what is imported must be decided in each case.
    """
    tested = {
        specification["module"].split(".")[0]
        for specification in todo
        if specification["test_file"] is not None or (specification["tests"] is not None and specification["as_module"])
    }
    tops = {name for specification in todo for name in specification["import_names"]} - tested
    names = [name for name in sorted(tops) if any(named(name, specification) for specification in todo)]
    needed = (
        ("checks", any(specification["statements"] for specification in todo)),
        ("observe", any(specification["tests"] is not None for specification in todo)),
        ("script_tests", any(specification["test"] for specification in todo)),
    )
    inside = [harness.module(name) for name, is_needed in needed if is_needed]
    with_pytest = any(specification["test_file"] is not None for specification in todo)
    return [
        *(names if imports is None else imports),
        *inside,
        *(["pytest", harness.module("pytest_run")] if with_pytest else []),
    ]


def _largest(limits: Set[Limits]) -> Limits:
    """Return limits that no case can be held up by: each case has its own."""
    return Limits(**{name: max(getattr(limit, name) for limit in limits) for name in Limits.__dataclass_fields__})
