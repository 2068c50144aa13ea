"""A process of the harness that stays in a sandbox, and how it is talked to: it runs each case as a fork of itself."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.permissions import Permissions
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.session import Session
from pipeline.execution.sandbox.supervise import Limits
from pipeline.execution.validation import harness
from pipeline.execution.validation.cases import harness_limits

_START_S = 120.0  # to import what is imported beforehand
_ANSWER_S = 40.0  # more than a case has: to end what it left behind, and to empty its folders
_END_S = 0.5
_CHUNK = 1 << 16
_LONGEST = 1 << 26  # bytes of an answer; a report of the longest is a fraction of it


@dataclass
class Server:
    """A harness in a sandbox of its own; `files` lie in its scratch folder, and cases can read but not change them.

    `limits` bound the sandbox, so that no case may have more; files to `hide` are empty in it. Cases are another user
    than the server where the sandbox has two; where it has not, a server is good for one case only.
    """

    environment: Environment
    sandbox: Sandbox
    limits: Limits
    variables: Mapping[str, str]
    files: Mapping[str, bytes] = field(default_factory=dict)
    hide: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._session: Session | None = None

    def start(self, opening: bytes) -> harness.Ready:
        """Start the server, send it what `harness.opening` says, and wait until it is ready for cases.

        Errors: NoAnswer, if it does not get that far.
        """
        self._session = self._open.enter_context(
            self.sandbox.open(
                harness.command(self.environment.python),
                environment=self.environment,
                files=self.files,
                limits=replace(self.limits, processes=self.limits.processes + 1),
                variables=self.variables,
                grants=Permissions(hide=self.hide, second_uid=self.sandbox.two_users),
            )
        )
        self._send(opening, time.monotonic() + _START_S)
        return harness.read_ready(self._answer(time.monotonic() + _START_S))

    def run(self, specification: Mapping[str, Any], limits: Limits) -> harness.Observation:
        """Run one case.

        Errors: NoAnswer; OSError if the server is gone.
        """
        nonce = harness.new_nonce()
        deadline = time.monotonic() + limits.time_s + _ANSWER_S
        self._send(harness.asking(specification, harness_limits(limits), nonce), deadline)
        return harness.read_observation(self._answer(deadline), nonce)

    def end(self) -> None:
        """End the server and all its children; one that waits for a case ends by itself when there is no more."""
        if self._session is not None:
            with contextlib.suppress(OSError, harness.NoAnswer):
                self._session.stdin.close()
                self._take(1, time.monotonic() + _END_S)
        self._open.close()

    def _send(self, content: bytes, deadline: float) -> None:
        assert self._session is not None
        remaining, descriptor = memoryview(content), self._session.stdin.fileno()
        os.set_blocking(descriptor, False)
        while remaining:
            if not select.select([], [descriptor], [], max(0.0, deadline - time.monotonic()))[1]:
                raise harness.NoAnswer("it does not read on")
            remaining = remaining[os.write(descriptor, remaining[:_CHUNK]) :]

    def _answer(self, deadline: float) -> bytes:
        size = int.from_bytes(self._take(4, deadline), "big")
        if size > _LONGEST:
            raise harness.NoAnswer(f"an answer of {size} bytes, more than any has")
        return self._take(size, deadline)

    def _take(self, size: int, deadline: float) -> bytes:
        assert self._session is not None
        received, descriptor = bytearray(), self._session.stdout.fileno()
        while len(received) < size:
            if not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise harness.NoAnswer("no answer in time")
            chunk = os.read(descriptor, size - len(received))
            if not chunk:
                raise harness.NoAnswer("the server is gone")
            received += chunk
        return bytes(received)
