"""What a server that was taken over could answer is bounded before it is read."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.execution.sandbox.environment import Environment
from pipeline.execution.sandbox.sandbox import Sandbox
from pipeline.execution.sandbox.supervise import Limits
from pipeline.execution.validation import harness
from pipeline.execution.validation.server import Server
from tests.errors import raises


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"\xff\xff\xff\xff" + b"x" * 99, "4294967295 bytes"),
        (b"\x00\x00\x00\x09half", "gone"),
        (b"\x00", "gone"),
    ],
    ids=["too long", "half", "no head"],
)
def test_an_answer_that_is_none_is_refused(installed: Environment, sandbox: Sandbox, said: bytes, why: str) -> None:
    server = Server(installed, sandbox, Limits(), {})
    reading, writing = os.pipe()
    os.write(writing, said)
    os.close(writing)
    with os.fdopen(reading, "rb") as stdout:
        session: Any = SimpleNamespace(stdout=stdout)
        server._session = session
        with raises(harness.NoAnswer, why, code="harness_no_answer"):
            server._answer(time.monotonic() + 5)
