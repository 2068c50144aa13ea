from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from tests.index_server import Index, serve

# A check that passed must pass again on the same code: fresh input is drawn by `make search`, not by whoever submits.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile("repeatable")


_WITH_AIRFLOW = (
    "tests/dags/",
    "tests/deploy/test_cluster.py",
    "tests/deploy/test_kubernetes.py",
    "tests/e2e/test_backfill.py",
)
_TOKENS = ("GITHUB_TOKEN", "STACKEXCHANGE_KEY", "READTHEDOCS_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_SERVICES = (
    "DRIFTLINE_GITHUB_URL",
    "DRIFTLINE_STACK_EXCHANGE_URL",
    "DRIFTLINE_READ_THE_DOCS_URL",
    "ANTHROPIC_BASE_URL",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes begins first: of two workers, neither is left with it when the other has nothing to do.

    It also may take longer, several times what it needs on a quiet machine.
    """
    items.sort(key=_minutes, reverse=True)
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(900 + 300 * _minutes(item)))


class _OneAirflowAtATime(LoadFileScheduling):  # type: ignore[misc]
    """Gives each file to one worker, and all that start an Airflow to the same one.

    An Airflow that waits takes a third of a core. Of three at once on two cores none came forward.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "airflow" if file.startswith(_WITH_AIRFLOW) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return _OneAirflowAtATime(config, log) if config.getoption("dist") == "loadfile" else None


class _Progress:
    """Prints at once what failed, and what took a minute: a run that is ended from outside has no summary."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or report.duration >= 60:
            self._terminal.write_line(f"\n{report.nodeid} {report.when} {report.outcome}, {report.duration:.0f} s")
        if report.failed:
            self._terminal.write_line(report.longreprtext[-3000:])


def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Progress(terminal))


def _minutes(item: pytest.Item) -> float:
    mark = item.get_closest_marker("slow")
    return float(mark.kwargs.get("minutes", 0)) if mark else 0


@pytest.fixture(scope="session", autouse=True)
def _services() -> Iterator[None]:
    """No test asks a real service, whatever the environment of whoever runs it says: nobody listens on port 1."""
    with pytest.MonkeyPatch.context() as environment:
        for name in _TOKENS:
            environment.delenv(name, raising=False)
        for name in _SERVICES:
            environment.setenv(name, "http://127.0.0.1:1")
        yield


@pytest.fixture
def index() -> Iterator[Index]:
    """An empty package index that really listens."""
    with serve(Index()) as served:
        yield served


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of its own for the code under test."""
    monkeypatch.setenv("DRIFTLINE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"
