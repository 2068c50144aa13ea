"""Runs the cases of an environment as forks of one process that has imported the library: the fork server."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.environments import Limits
from pipeline.terms import Outcome
from pipeline.validation import harness
from pipeline.validation.cases import Attempt, Case, limits_of, specifications, together, variables
from pipeline.validation.fresh import Fresh
from pipeline.validation.judging import judge
from pipeline.validation.server import Server

_log = logging.getLogger(__name__)


class NotSafe(RuntimeError):
    """The library cannot be imported beforehand, or not without threads: cases must not be forked."""


class ForkServer:
    """Runs cases one by one, as forks; whatever does not pass is run again in a fresh process, which then decides.

    A fresh process costs many forks. A fork that fails a second time as the fresh process did needs no other one.

    There is a server for each repeat, since each has a hash seed of its own. A server that a case has harmed in any way
    is ended, and the next case has a new one.
    """

    def __init__(self, fresh: Fresh, cases: Sequence[Case]) -> None:
        self.fresh = fresh
        self._cases = cases
        self._servers: dict[int, Server] = {}
        self._is_safe = True
        self._confirmed: tuple[Case, Outcome] | None = None

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        for repeat in list(self._servers):
            self._end(repeat)

    def attempt(self, case: Case, repeat: int) -> Attempt:
        """Run a case once, as the repeat of that number."""
        forked = self._forked(case, repeat) if self._is_safe else None
        if forked is not None and (forked.passed or self._is_confirmed(case, forked.outcome)):
            return forked
        fresh = self.fresh.attempt(case, repeat)
        self._confirmed = case, fresh.outcome
        return fresh

    def _is_confirmed(self, case: Case, outcome: Outcome) -> bool:
        """Say whether the repeat before, of the same case, came out so in a fresh process."""
        return self._confirmed is not None and self._confirmed[0] is case and self._confirmed[1] is outcome

    def _forked(self, case: Case, repeat: int) -> Attempt | None:
        attempts: list[Attempt] = []
        try:
            for specification in specifications(case, self.fresh.rules, repeat):
                server = self._servers.get(repeat) or self._start(repeat)
                seen = server.run(specification.sent, limits_of(case, self.fresh.rules))
                if not seen.clean:
                    self._end(repeat)
                attempts.append(judge(seen, specification.judge))
                if not attempts[-1].passed:
                    break
        except (harness.NoAnswer, OSError):
            self._end(repeat)
            return None
        except NotSafe as error:
            self._end(repeat)
            self._is_safe = False
            _log.info("%s: not forked: %s", self.fresh.environment.lock_id[:12], error)
            return None
        return together(attempts)

    def _start(self, repeat: int) -> Server:
        """Start the server of a repeat, which imports what the cases will.

        Errors: NotSafe; NoAnswer, if it does not get that far.
        """
        fresh, rules = self.fresh, self.fresh.rules
        limits = _largest([limits_of(case, rules) for case in self._cases])
        self._servers[repeat] = server = Server(fresh.environment, fresh.sandbox, limits, variables(rules, repeat))
        todo = [each.sent for case in self._cases for each in specifications(case, rules, repeat)]
        ready = server.start(harness.opening(todo, _beforehand(todo), last=False))
        if ready.problem:
            raise NotSafe(ready.problem)
        if ready.threads > 1:
            raise NotSafe(f"{ready.threads} threads after the import")
        return server

    def _end(self, repeat: int) -> None:
        if server := self._servers.pop(repeat, None):
            server.end()


def _beforehand(todo: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what to import before any case: top-level packages only that they name, since more would be seen.

    A module under test may have the name of the library: then what is imported must be decided in each case.
    """
    tested = {
        specification["module"].split(".")[0]
        for specification in todo
        if specification["test_file"] is not None or (specification["tests"] is not None and specification["as_module"])
    }
    named = {name for specification in todo for name in specification["import_names"]} - tested
    parts = ("code", "test", "test_file", "tests", "statements")
    texts = [str(specification[part]) for specification in todo for part in parts]
    names = [name for name in sorted(named) if any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts)]
    needed = (
        ("checks", any(specification["statements"] for specification in todo)),
        ("observe", any(specification["tests"] is not None for specification in todo)),
        ("script_tests", any(specification["test"] for specification in todo)),
    )
    inside = [harness.module(name) for name, is_needed in needed if is_needed]
    with_pytest = any(specification["test_file"] is not None for specification in todo)
    return [*names, *inside, *(["pytest", harness.module("pytest_run")] if with_pytest else [])]


def _largest(limits: Sequence[Limits]) -> Limits:
    """Return limits that no case can be held up by: each case has its own."""
    return replace(
        limits[0],
        **{name: max(getattr(limit, name) for limit in limits) for name in Limits.__dataclass_fields__},
    )
