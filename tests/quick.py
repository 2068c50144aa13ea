"""`make quick`: a test that begins a process or opens a connection is skipped where it does, so that no list says which are quick."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any

import pytest

OUTSIDE = {"subprocess.Popen", "os.fork", "os.posix_spawn", "os.system", "socket.bind", "socket.connect"}
"""What environments, sandboxes, servers and Airflow cannot do without (the names of Python's audit events)."""

_running: list[bool] = []


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in OUTSIDE and _running:
        _running[-1] = True
        pytest.skip(f"not quick: {event}")


sys.addaudithook(_refuse)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    _running.append(False)
    try:
        return (yield)
    finally:
        _running.pop()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """A test whose thread was refused, or that handles the refusal as an error of its own, is skipped too."""
    report = yield
    if report.failed and _running and _running[-1]:
        report.outcome, report.longrepr = "skipped", (__file__, 1, "not quick")
    return report
