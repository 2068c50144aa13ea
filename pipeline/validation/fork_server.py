"""Runs the cases of an environment as forks of one process that has imported the library: the fork server."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import select
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.environments import Grants, Limits
from pipeline.environments.session import Session
from pipeline.validation import harness
from pipeline.validation.cases import Attempt, Case, limits_of, specifications, together, told_limits, variables
from pipeline.validation.fresh import Fresh
from pipeline.validation.judging import judge

_log = logging.getLogger(__name__)

_START_S = 120.0  # to import the library
_ANSWER_S = 40.0  # more than a case has: to end what it left behind, and to empty its folders
_END_S = 0.5
_CHUNK = 1 << 16


class NotSafe(RuntimeError):
    """The library cannot be imported beforehand, or not without threads: cases must not be forked."""


class ForkServer:
    """Runs cases one by one, as forks; whatever does not pass is run again in a fresh process, which then decides.

    There is a server for each repeat, since each has a hash seed of its own. A server that a case has harmed in any way
    is ended, and the next case has a new one.
    """

    def __init__(self, fresh: Fresh, cases: Sequence[Case]) -> None:
        self.fresh = fresh
        self._cases = cases
        self._servers: dict[int, _Server] = {}
        self._is_safe = True

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        for repeat in list(self._servers):
            self._end(repeat)

    def attempt(self, case: Case, repeat: int) -> Attempt:
        """Run a case once, as the repeat of that number."""
        forked = self._forked(case, repeat) if self._is_safe else None
        return forked if forked is not None and forked.passed else self.fresh.attempt(case, repeat)

    def _forked(self, case: Case, repeat: int) -> Attempt | None:
        attempts: list[Attempt] = []
        try:
            for specification in specifications(case, self.fresh.rules, repeat):
                server = self._servers.get(repeat) or self._start(repeat)
                seen = server.run(specification, limits_of(case, self.fresh.rules))
                if not seen.clean:
                    self._end(repeat)
                attempts.append(judge(seen))
                if not attempts[-1].passed:
                    return None
        except (harness.NoAnswer, OSError):
            self._end(repeat)
            return None
        except NotSafe as error:
            self._end(repeat)
            self._is_safe = False
            _log.info("%s: not forked: %s", self.fresh.environment.lock_id[:12], error)
            return None
        return together(attempts)

    def _start(self, repeat: int) -> _Server:
        self._servers[repeat] = server = _Server(self.fresh, self._cases, repeat)
        server.start()
        return server

    def _end(self, repeat: int) -> None:
        if server := self._servers.pop(repeat, None):
            server.end()


@dataclass
class _Server:
    """One server process, in one sandbox."""

    fresh: Fresh
    cases: Sequence[Case]
    repeat: int

    def __post_init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._session: Session | None = None

    def start(self) -> None:
        """Start the server, and wait until it has imported what the cases will.

        Errors: NotSafe; NoAnswer, if it does not get that far.
        """
        fresh, rules = self.fresh, self.fresh.rules
        limits = _largest([limits_of(case, rules) for case in self.cases])
        self._session = self._open.enter_context(
            fresh.sandbox.open(
                harness.command(fresh.environment.python),
                environment=fresh.environment,
                files={},
                limits=replace(limits, processes=limits.processes + 1),
                variables=variables(rules, self.repeat),
                grants=Grants(second_uid=True),
            )
        )
        todo = [specification for case in self.cases for specification in specifications(case, rules, self.repeat)]
        self._send(harness.opening(todo, _beforehand(todo), last=False), time.monotonic() + _START_S)
        ready = harness.read_ready(self._answer(time.monotonic() + _START_S))
        if ready.problem:
            raise NotSafe(ready.problem)
        if ready.threads > 1:
            raise NotSafe(f"{ready.threads} threads after the import")

    def run(self, specification: Mapping[str, Any], limits: Limits) -> harness.Seen:
        """Run one case.

        Errors: NoAnswer; OSError if the server is gone.
        """
        nonce = harness.new_nonce()
        deadline = time.monotonic() + limits.time_s + _ANSWER_S
        self._send(harness.asking(specification, told_limits(limits), nonce), deadline)
        return harness.read_seen(self._answer(deadline), nonce)

    def end(self) -> None:
        """End the server and all its children; one that waits for a case ends by itself when there is no more."""
        if self._session is not None:
            with contextlib.suppress(OSError, harness.NoAnswer):
                self._session.stdin.close()
                self._take(1, time.monotonic() + _END_S)
        self._open.close()

    def _send(self, content: bytes, deadline: float) -> None:
        assert self._session is not None
        left, descriptor = memoryview(content), self._session.stdin.fileno()
        os.set_blocking(descriptor, False)
        while left:
            if not select.select([], [descriptor], [], max(0.0, deadline - time.monotonic()))[1]:
                raise harness.NoAnswer("it does not read on")
            left = left[os.write(descriptor, left[:_CHUNK]) :]

    def _answer(self, deadline: float) -> bytes:
        head = self._take(4, deadline)
        return self._take(int.from_bytes(head, "big"), deadline)

    def _take(self, size: int, deadline: float) -> bytes:
        assert self._session is not None
        taken, descriptor = bytearray(), self._session.stdout.fileno()
        while len(taken) < size:
            if not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise harness.NoAnswer("no answer in time")
            chunk = os.read(descriptor, size - len(taken))
            if not chunk:
                raise harness.NoAnswer("the server is gone")
            taken += chunk
        return bytes(taken)


def _beforehand(todo: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what to import before any case: top-level packages only that they name, since more would be seen.

    A module under test may have the name of the library: then what is imported must be decided in each case.
    """
    tested = {specification["module"].split(".")[0] for specification in todo if specification["test_file"] is not None}
    named = {name for specification in todo for name in specification["import_names"]} - tested
    texts = [str(specification[part]) for specification in todo for part in ("code", "test", "test_file", "checks")]
    names = [name for name in sorted(named) if any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts)]
    doctest = [harness.module("checks")] if any(specification["checks"] for specification in todo) else []
    pytest = ["pytest", harness.module("pytest_run")] if tested else []
    return [*names, *doctest, *pytest]


def _largest(limits: Sequence[Limits]) -> Limits:
    """Return limits that no case can be held up by: each case has its own."""
    return replace(
        limits[0],
        **{name: max(getattr(limit, name) for limit in limits) for name in Limits.__dataclass_fields__},
    )
